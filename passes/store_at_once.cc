// Stores at once what separate_stores has had made first, where one thread goes through both in
// order: no iteration reads what one before it has stored, be it alone or in lanes, which all load
// before they store.
//
// Before:
//   %made: [n]f64 = imap (%i) in (%n) {vector = 0} {
//     %j = add %i, 1  %a = load %v[%j]  %b = exp %a  yield %b }
//   foreach (%i) in (%n) {vector = 0} { %c = load %made[%i]  store %v[%i], %c }
// After:
//   foreach (%i) in (%n) {vector = 0} {
//     %j = add %i, 1  %a = load %v[%j]  %b = exp %a  store %v[%i], %b }
//
// Trees of options, in place, are a step of a loop whose other one goes over the options.
//
// What threads may share is written once more so, for where there are none, or few elements: what
// a list moves up to put something in front is soon done in order.
//
// Assumes: index form, behind schedule, where nothing behind it changes the order of iterations.
// Refuses: what is made and read elsewhere, be it too or alone; several stores; loads of the array
// whose distance from the store is not one number, or of what is stored before.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/read_ahead.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Elements that one thread takes at a time in any case.
constexpr int64_t kFewElements = 4096;

class StoresAtOnce : public ir::Mutator {
 public:
  StoresAtOnce(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function), forms_(function), may_overlap_(function.may_overlap) {
    ir::ForEachUse(*function.body, [&](const Var* var) { ++uses_[var]; });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    if (kept_.contains(block)) return Mutator::VisitBlock(block);
    Block joined = *block;
    joined.bindings.clear();
    bool changed = false;
    for (const Binding* b : block->bindings) {
      const Binding* made = joined.bindings.empty() ? nullptr : joined.bindings.back();
      if (made == nullptr || !Fits(*made, *b)) {
        joined.bindings.push_back(b);
        continue;
      }
      changed = true;
      joined.bindings.pop_back();
      for (const Binding* written : AtOnce(*made, *b)) joined.bindings.push_back(written);
    }
    return Mutator::VisitBlock(changed ? arena()->New(std::move(joined)) : block);
  }

 private:
  static bool IsAlongOne(const Binding& nest, OpCode op) {
    return nest.op == op && nest.blocks[0]->params.size() == 1;
  }

  static ir::Attributes WithoutShort(const Binding& nest) {
    return nest.attrs.Without(Attr::kShort);
  }

  bool Fits(const Binding& making, const Binding& storing) const {
    if (may_overlap_ || !IsAlongOne(making, OpCode::kImap) ||
        !IsAlongOne(storing, OpCode::kForeach))
      return false;
    if (making.results.size() != 1 || making.operands != storing.operands ||
        !(WithoutShort(making) == WithoutShort(storing)))
      return false;
    const Var* made = making.result();
    const Binding* store = OnlyStore(storing, made);
    return store != nullptr && uses_.at(made) == 1 && ReadsAhead(making, storing, *store);
  }

  // The last binding of a nest that else reads what was made, at its index, and computes places.
  const Binding* OnlyStore(const Binding& storing, const Var* made) const {
    const Block& body = *storing.blocks[0];
    if (body.bindings.empty() || body.bindings.back()->op != OpCode::kStore) return nullptr;
    bool is_plain = true;
    bool is_read = false;
    for (const Binding* b : body.bindings) {
      if (b == body.bindings.back()) break;
      const bool is_own = IsOwnLoad(*b, made, body.params[0]);
      is_plain &= is_own || ir::IsScalarOp(b->op);
      is_read |= is_own;
    }
    const Binding* store = body.bindings.back();
    return is_plain && is_read && store->operands[0] != Operand(made) ? store : nullptr;
  }

  static bool IsOwnLoad(const Binding& b, const Var* made, const Var* index) {
    return b.op == OpCode::kLoad && b.operands == std::vector<Operand>{made, index};
  }

  bool ReadsAhead(const Binding& making, const Binding& storing, const Binding& store) const {
    const Effects effects = EffectsOf(*making.blocks[0], roots_);
    const ir::VarSet stored = roots_.Of(store.operands[0].var());
    if (effects.may_fail || !effects.writes.empty()) return false;
    bool is_ahead = true;
    ir::ForEachBinding(*making.blocks[0], [&](const Binding& b) {
      const bool touches =
          std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& operand) {
            return operand.IsVar() && operand.var()->type.IsArray() &&
                   Intersects(roots_.Of(operand.var()), stored);
          });
      if (!touches) return;
      const bool is_own = b.op == OpCode::kLoad && b.operands[0] == store.operands[0];
      const auto distance =
          is_own ? DistanceAhead(forms_, storing, store, making, b) : std::nullopt;
      is_ahead &= distance && *distance >= 0;
    });
    return is_ahead;
  }

  std::vector<const Binding*> AtOnce(const Binding& making, const Binding& storing) {
    const Binding* joined = Joined(making, storing);
    const Operand& count = making.operands[0];
    const bool is_few = count.IsConstant() && count.constant().integer <= kFewElements;
    if (is_few || making.attrs.Int(Attr::kParallel) == 0) return {joined};
    ir::Builder writer = builder().Nested();
    writer.set_span(storing.span);
    const Operand threads = writer.EmitOne(OpCode::kTeam, ir::DType::kI64, {}, {}, {}, "threads");
    const Operand alone = writer.Scalar(OpCode::kLe, {threads, Operand::Int(1)});
    const Operand few = writer.Scalar(OpCode::kLe, {count, Operand::Int(kFewElements)});
    const Operand at_once = writer.Scalar(OpCode::kOr, {alone, few});
    const Block* first = arena()->New(Block{{}, {&making, &storing}, {}});
    kept_.insert(first);
    writer.Emit(OpCode::kIf, {}, {at_once}, {},
                {ir::CloneBlock(arena(), Block{{}, {joined}, {}}), first});
    return writer.bindings();
  }

  // The making nest's body, and behind it the storing one's over the same index.
  const Binding* Joined(const Binding& making, const Binding& storing) {
    const Block& element = *making.blocks[0];
    const Block& body = *storing.blocks[0];
    Block both{element.params, element.bindings, {}};
    ir::Substitution as_made{{body.params[0], Operand(element.params[0])}};
    Block rest{{}, {}, {}};
    for (const Binding* b : body.bindings) {
      if (b->op == OpCode::kLoad) {
        as_made[b->result()] = element.results[0];
      } else {
        rest.bindings.push_back(b);
      }
    }
    const Block* copied = ir::CloneBlock(arena(), rest, std::move(as_made));
    both.bindings.insert(both.bindings.end(), copied->bindings.begin(), copied->bindings.end());
    Binding joined = storing;
    joined.attrs = WithoutShort(storing).Without(Attr::kParallel);
    const int64_t least = std::max(making.attrs.Int(Attr::kShort), storing.attrs.Int(Attr::kShort));
    if (least > 0) joined.attrs = joined.attrs.With(Attr::kShort, least);
    joined.blocks = {arena()->New(std::move(both))};
    return arena()->New(std::move(joined));
  }

  const Roots roots_;
  const WrappingForms forms_;
  const bool may_overlap_;
  std::unordered_map<const Var*, int> uses_;
  std::unordered_set<const Block*> kept_;  // for threads
};

}  // namespace

ir::Program StoreAtOnce(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StoresAtOnce(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
