// Asks of indexes a known distance apart whether the last of them is there, once for all.
//
// Before:
//   in a loop: %0 = lt %p, %n  check %0, site 1 with (%p, %n)  store %out[%p], %a
//   %q = add %p, 1  %1 = lt %q, %n  check %1, site 2 with (%q, %n)  store %out[%q], %b
// After:
//   %m = sub %n, 1  %0 = lt %p, %m
//   if %0 { } else { the same two checks, one behind the other } {likely = 1}
//   store %out[%p], %a  %q = add %p, 1  store %out[%q], %b
//
// What a failure leaves in an array that the function has made nobody sees, so that a check may
// stand before such stores. Indexes of several arrays are asked about together.
//
// Assumes: loops over buffers; that an index is not negative has been proved or is asked elsewhere.
// Refuses: checks behind a store to what others see, behind another check, a call or a block;
// indexes that are made behind the first check; what runs once.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kFarthest = 1 << 20;

// A check of the index `base + offset` against a size.
struct IndexCheck {
  const Binding* check;
  Operand index;
  Operand base;  // 0 where the index is a constant
  int64_t offset;
  Operand size;
};

using Group = std::vector<IndexCheck>;

class CheckJoiner : public ir::Mutator {
 public:
  CheckJoiner(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function), definitions_(ir::Definitions(*function.body)) {
    for (const ir::Param& param : function.params) AddSizes(param.var);
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      for (const Var* result : b.results) AddSizes(result);
    });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (loops_ > 0) FindGroups(*block);
    return Mutator::VisitBlock(block);
  }

  void Visit(const Binding* b) override {
    if (joined_.contains(b)) return;
    if (const auto found = groups_.find(b); found != groups_.end()) return Join(found->second);
    const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
    loops_ += is_loop;
    Mutator::Visit(b);
    loops_ -= is_loop;
  }

 private:
  void FindGroups(const Block& block) {
    std::unordered_map<const Var*, size_t> made_at;
    for (size_t at = 0; at < block.bindings.size(); ++at)
      for (const Var* result : block.bindings[at]->results) made_at[result] = at;
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const auto is_there = [&](const Operand& operand) {
        const auto found = operand.IsVar() ? made_at.find(operand.var()) : made_at.end();
        return found == made_at.end() || found->second < at;
      };
      if (block.bindings[at]->op != OpCode::kCheck) continue;
      Group group = GroupFrom(block, at, is_there);
      if (group.size() <= FarthestOf(group).size()) continue;
      for (const IndexCheck& each : group) joined_.insert(each.check);
      const Binding* first = group[0].check;
      joined_.erase(first);
      at = std::find(block.bindings.begin(), block.bindings.end(), group.back().check) -
           block.bindings.begin();
      groups_.emplace(first, std::move(group));
    }
  }

  // The checks from `at` on that may be made there.
  template <typename IsThere>
  Group GroupFrom(const Block& block, size_t at, const IsThere& is_there) const {
    Group group;
    for (; at < block.bindings.size(); ++at) {
      const Binding& b = *block.bindings[at];
      if (b.op == OpCode::kCheck) {
        const auto check = Describe(b);
        if (!check || !is_there(check->base) || !is_there(check->size)) break;
        const bool is_known = std::all_of(
            b.operands.begin() + 1, b.operands.end(),
            [&](const Operand& operand) { return operand == check->index || is_there(operand); });
        if (!is_known) break;
        group.push_back(*check);
      } else if (b.op == OpCode::kStore) {
        if (!roots_.IsFresh(b.operands[0].var())) break;
      } else if (b.op != OpCode::kLoad && !ir::IsScalarOp(b.op)) {
        break;
      }
    }
    return group;
  }

  std::optional<IndexCheck> Describe(const Binding& b) const {
    const Binding* is_less = Made(b.operands[0], OpCode::kLt);
    if (is_less == nullptr || ir::DTypeOf(is_less->operands[0]) != ir::DType::kI64)
      return std::nullopt;
    const Operand& index = is_less->operands[0];
    IndexCheck check{&b, index, index, 0, is_less->operands[1]};
    if (check.size.IsVar() && !sizes_.contains(check.size.var())) return std::nullopt;
    if (const Binding* sum = Made(index, OpCode::kAdd)) {
      const int side = sum->operands[1].IsConstant() ? 1 : 0;
      if (sum->operands[side].IsConstant()) {
        check.base = sum->operands[1 - side];
        check.offset = sum->operands[side].constant().integer;
      }
    } else if (index.IsConstant()) {
      check.base = Operand::Int(0);
      check.offset = index.constant().integer;
    }
    if (check.offset < 0 || check.offset > kFarthest) return std::nullopt;
    return check;
  }

  // Of each index and size, the farthest check.
  static Group FarthestOf(const Group& group) {
    Group farthest;
    for (const IndexCheck& each : group) {
      const auto found =
          std::find_if(farthest.begin(), farthest.end(), [&](const IndexCheck& other) {
            return other.base == each.base && other.size == each.size;
          });
      if (found == farthest.end()) farthest.push_back(each);
      else if (found->offset < each.offset) *found = each;
    }
    return farthest;
  }

  // Sizes are no less than 0, so that what is taken away from them cannot wrap.
  void Join(const Group& group) {
    std::optional<Operand> all;
    for (const IndexCheck& last : FarthestOf(group)) {
      const Operand limit = builder().Sub(Apply(last.size), Operand::Int(last.offset));
      const Operand is_there = builder().Scalar(OpCode::kLt, {Apply(last.base), limit});
      all = all ? builder().Scalar(OpCode::kAnd, {*all, is_there}) : is_there;
    }
    Builder then = builder().Nested(), other = builder().Nested();
    for (const IndexCheck& each : group) {
      const Operand index = other.Add(Apply(each.base), Operand::Int(each.offset));
      const Binding& check = *each.check;
      std::vector<Operand> operands;
      for (const Operand& operand : check.operands)
        operands.push_back(operand == each.index ? index : Apply(operand));
      operands[0] = other.Scalar(OpCode::kLt, {index, Apply(each.size)});
      other.set_span(check.span);
      other.Emit(OpCode::kCheck, {}, std::move(operands), check.attrs);
    }
    builder().Emit(OpCode::kIf, {}, {*all}, ir::Attributes{{ir::Attr::kLikely, int64_t{1}}},
                   {then.Finish({}, {}), other.Finish({}, {})});
  }

  // The binding of a value, if it has the operation.
  const Binding* Made(const Operand& value, OpCode op) const {
    if (!value.IsVar()) return nullptr;
    const auto found = definitions_.find(value.var());
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  void AddSizes(const Var* value) {
    for (const Operand& size : value->type.dims()) {
      if (size.IsVar()) sizes_.insert(size.var());
    }
  }

  Roots roots_;
  ir::DefinitionMap definitions_;
  ir::VarSet sizes_;  // of arrays: what else is asked for may be less than any number
  std::unordered_map<const Binding*, Group> groups_;  // by the first check
  std::unordered_set<const Binding*> joined_;         // the others
  int loops_ = 0;
};

}  // namespace

ir::Program JoinChecks(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CheckJoiner(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
