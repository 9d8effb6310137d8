// Leaves a loop as soon as nothing that it carries will change any more.
//
// Before:
//   %z, %n = for %i in %lo to %hi step 1 (%z.1 = %c, %n.1 = 0) {
//     %a = abs %z.1  %go = lt %a, 2.0
//     %z.4, %n.4 = if %go { %z.2 = mul %z.1, %z.1  %z.3 = add %z.2, %c  %n.2 = add %n.1, 1
//       yield %z.3, %n.2 } else { yield %z.1, %n.1 }
//     yield %z.4, %n.4 }
// After:
//   %k, %z, %n = while (%i.1 = %lo, %z.5 = %c, %n.5 = 0) {
//     %more = lt %i.1, %hi  %a = abs %z.5  %go = lt %a, 2.0  %goes = and %more, %go
//     yield %goes } do (%i, %z.1, %n.1) {
//     ... the block, in which %go is true ...  %next = add %i, 1  yield %next, %z.4, %n.4 }
//
// A condition that follows from what the loop carries is the same in the next iteration where it
// has left all of that as it was, and so on. Elements of arrays that stay once they are somewhere,
// loops that were written without `break`. Lanes go on until all have settled.
//
// Assumes: index form, behind what puts loops inside elements.
// Refuses: conditions that read memory, or follow from nothing that is carried; what is stored or
// may fail in an iteration that changes nothing; loops that hold operators over arrays, or are
// known to be short.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/lowering/loop_counts.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kMostOfShort = 8;  // iterations

// A bool of a loop's block, and what it is where nothing changes.
struct Settled {
  const Var* condition;
  bool value;
};

class SettledLeaver : public ir::Mutator {
 public:
  SettledLeaver(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (MayLeave(*b)) {
      definitions_ = ir::Definitions(*b->blocks[0]);
      if (const std::optional<Settled> settled = FindSettled(*b)) return Write(*b, *settled);
    }
    Mutator::Visit(b);
  }

 private:
  static bool MayLeave(const Binding& loop) {
    if (loop.op != OpCode::kFor || !loop.attrs.Text(Attr::kKind).empty()) return false;
    if (loop.results.empty() || !loop.operands[2].IsInt(1)) return false;
    if (RunsAtMost(loop, kMostOfShort)) return false;
    for (const Var* result : loop.results) {
      if (!result->type.IsScalar()) return false;
    }
    bool is_plain = true;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      const bool is_control = b.op == OpCode::kIf || b.op == OpCode::kFor || b.op == OpCode::kWhile;
      is_plain &= b.blocks.empty() ? b.op != OpCode::kAlloc && b.op != OpCode::kCall &&
                                         b.op != OpCode::kLibraryCall
                                   : is_control;
    });
    return is_plain;
  }

  std::optional<Settled> FindSettled(const Binding& loop) const {
    for (const Binding* b : loop.blocks[0]->bindings) {
      if (b->op != OpCode::kIf && b->op != OpCode::kSelect) continue;
      for (const bool value : {false, true}) {
        if (const auto settled = FindIn(b->operands[0], value, loop)) return settled;
      }
    }
    return std::nullopt;
  }

  // The condition, or what it follows from where that has the value.
  std::optional<Settled> FindIn(const Operand& condition, bool value, const Binding& loop) const {
    const Binding* b = DefinitionOf(condition);
    if (b == nullptr) return std::nullopt;
    const Settled settled{condition.var(), value};
    if (FollowsFromCarried(*b, loop) && IsSettledBy(loop, settled)) return settled;
    if (b->op == OpCode::kNot) return FindIn(b->operands[0], !value, loop);
    if (b->op != (value ? OpCode::kOr : OpCode::kAnd)) return std::nullopt;
    const auto first = FindIn(b->operands[0], value, loop);
    return first ? first : FindIn(b->operands[1], value, loop);
  }

  const Binding* DefinitionOf(const Operand& value) const {
    const auto found = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
    return found == definitions_.end() ? nullptr : found->second;
  }

  // What makes it, in order, is arithmetic on what the loop carries and on what does not change.
  static std::vector<const Binding*> MakersOf(const Binding& condition, const Block& body) {
    ir::VarSet needed{condition.result()};
    std::vector<const Binding*> makers;
    for (auto it = body.bindings.rbegin(); it != body.bindings.rend(); ++it) {
      const Binding& b = **it;
      if (std::none_of(b.results.begin(), b.results.end(),
                       [&](const Var* result) { return needed.contains(result); }))
        continue;
      makers.push_back(&b);
      ir::ForEachUse(b, [&](const Var* var) { needed.insert(var); });
    }
    std::reverse(makers.begin(), makers.end());
    return makers;
  }

  static bool FollowsFromCarried(const Binding& condition, const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const ir::VarSet carried(body.params.begin() + 1, body.params.end());
    bool is_carried = false, is_plain = true;
    for (const Binding* b : MakersOf(condition, body)) {
      is_plain &= ir::IsScalarOp(b->op) && b->results.size() == 1;
      ir::ForEachUse(*b, [&](const Var* var) {
        is_carried |= carried.contains(var);
        is_plain &= var != body.params[0];
      });
    }
    return is_carried && is_plain;
  }

  // --- What an iteration does where the condition has its value. ---

  bool IsSettledBy(const Binding& loop, const Settled& settled) const {
    const Block& body = *loop.blocks[0];
    for (const Binding* b : body.bindings) {
      const std::optional<bool> side = b->op == OpCode::kIf ? Side(*b, settled) : std::nullopt;
      const Effects effects =
          side ? EffectsOf(*b->blocks[*side ? 0 : 1], roots_) : EffectsOf(*b, roots_);
      if (!effects.IsPure()) return false;
    }
    for (size_t k = 0; k < body.results.size(); ++k) {
      if (ValueOf(body.results[k], settled) != Operand(body.params[1 + k])) return false;
    }
    return true;
  }

  std::optional<bool> Side(const Binding& choice, const Settled& settled) const {
    return TruthOf(choice.operands[0], settled);
  }

  std::optional<bool> TruthOf(const Operand& condition, const Settled& settled) const {
    if (condition.IsConstant()) return condition.constant().integer != 0;
    if (condition == Operand(settled.condition)) return settled.value;
    const Binding* b = DefinitionOf(condition);
    if (b == nullptr) return std::nullopt;
    if (b->op == OpCode::kIf || b->op == OpCode::kSelect) {
      const Operand chosen = ValueOf(condition, settled);
      return chosen == condition ? std::nullopt : TruthOf(chosen, settled);
    }
    if (b->op == OpCode::kNot) {
      const std::optional<bool> negated = TruthOf(b->operands[0], settled);
      return negated ? std::optional(!*negated) : std::nullopt;
    }
    if (b->op != OpCode::kAnd && b->op != OpCode::kOr) return std::nullopt;
    // One operand decides.
    const bool deciding = b->op == OpCode::kOr;
    for (const Operand& operand : b->operands) {
      if (TruthOf(operand, settled) == deciding) return deciding;
    }
    return std::nullopt;
  }

  // What a value of the block is then, as far as choices say it.
  Operand ValueOf(const Operand& value, const Settled& settled) const {
    const Binding* b = DefinitionOf(value);
    if (b == nullptr || (b->op != OpCode::kIf && b->op != OpCode::kSelect)) return value;
    const std::optional<bool> side = Side(*b, settled);
    if (!side) return value;
    if (b->op == OpCode::kSelect) return ValueOf(b->operands[*side ? 1 : 2], settled);
    const size_t which =
        std::find(b->results.begin(), b->results.end(), value.var()) - b->results.begin();
    return ValueOf(b->blocks[*side ? 0 : 1]->results[which], settled);
  }

  // --- The loop that leaves. ---

  void Write(const Binding& loop, const Settled& settled) {
    const Block& body = *loop.blocks[0];
    std::vector<Operand> inits = {Apply(loop.operands[0])};
    for (size_t k = 3; k < loop.operands.size(); ++k) inits.push_back(Apply(loop.operands[k]));
    std::vector<const Var*> results = {builder().NewVar(ir::DType::kI64)};
    results.insert(results.end(), loop.results.begin(), loop.results.end());
    const Block* condition = WriteCondition(loop, settled);
    ir::Builder outside = std::exchange(builder(), builder().Nested());
    const Binding& maker = *definitions_.at(settled.condition);
    const Operand goes = Operand::Bool(!settled.value);
    for (const Binding* b : body.bindings) {
      if (b == &maker) Replace(b->result(), goes);
      else WriteChosen(*b);
    }
    std::vector<Operand> next = {builder().Add(Operand(body.params[0]), Operand::Int(1))};
    for (const Operand& result : body.results) next.push_back(Apply(result));
    const Block* step = builder().Finish(body.params, std::move(next));
    builder() = std::move(outside);
    builder().Emit(OpCode::kWhile, std::move(results), std::move(inits), {}, {condition, step});
  }

  // A binding of the block, or what it chooses where the condition is known.
  void WriteChosen(const Binding& b) {
    const Operand condition = b.operands.empty() ? Operand() : Apply(b.operands[0]);
    const bool is_known = condition.IsConstant() && condition.constant().dtype == ir::DType::kBool;
    if (is_known && b.op == OpCode::kSelect)
      return Replace(b.result(), b.operands[condition.constant().integer != 0 ? 1 : 2]);
    if (!is_known || b.op != OpCode::kIf) return Visit(&b);
    const Block& chosen = *b.blocks[condition.constant().integer != 0 ? 0 : 1];
    for (const Binding* inner : chosen.bindings) Visit(inner);
    for (size_t k = 0; k < b.results.size(); ++k) Replace(b.results[k], chosen.results[k]);
  }

  const Block* WriteCondition(const Binding& loop, const Settled& settled) {
    const Block& body = *loop.blocks[0];
    ir::Builder condition = builder().Nested();
    std::vector<const Var*> params;
    std::vector<Operand> arguments;
    for (const Var* param : body.params) {
      params.push_back(builder().NewVar(param->type, param->hint));
      arguments.emplace_back(params.back());
    }
    const Operand more = condition.Scalar(OpCode::kLt, {arguments[0], Apply(loop.operands[1])});
    Block makers{body.params, {}, {Operand(settled.condition)}};
    for (const Binding* b : MakersOf(*definitions_.at(settled.condition), body))
      makers.bindings.push_back(Rewrite(b));
    Operand goes = ir::InlineBlock(condition, makers, arguments)[0];
    if (settled.value) goes = condition.Scalar(OpCode::kNot, {goes});
    return condition.Finish(params, {condition.Scalar(OpCode::kAnd, {more, goes})});
  }

  const Roots roots_;
  ir::DefinitionMap definitions_;  // of the block of the loop that is looked at
};

}  // namespace

ir::Program LeaveSettled(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return SettledLeaver(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
