// Stores once, behind a branch, what both of its blocks store at one place where they end.
//
// Before:
//   if %p { %a = add %x, 1.0  store %y[%i], %a } else { store %y[%i], %x }
// After:
//   %s: f64 = if %p { %a = add %x, 1.0  yield %a } else { yield %x }  store %y[%i], %s
//
// So a loop has one store, which other passes look at, and lanes choose values, not places.
//
// Assumes: index form, behind eliminate-common-subexpressions: places that are equal are one value.
// Refuses: a place that a block computes itself; a store that other things than stores are behind.
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class StoreJoiner : public ir::Mutator {
 public:
  explicit StoreJoiner(ir::Arena* arena) : Mutator(arena) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kIf) return Mutator::Visit(b);
    Binding choice = *Rewrite(b);
    Block taken = *choice.blocks[0], other = *choice.blocks[1];
    std::vector<Binding> stores;  // the last first
    while (StoreAtOnePlace(taken, other)) {
      Binding store = *taken.bindings.back();
      taken.results.push_back(store.operands.back());
      other.results.push_back(other.bindings.back()->operands.back());
      choice.results.push_back(builder().NewVar(ir::TypeOf(store.operands.back()), "stored"));
      store.operands.back() = choice.results.back();
      stores.push_back(std::move(store));
      taken.bindings.pop_back();
      other.bindings.pop_back();
    }
    if (stores.empty()) return builder().Append(arena()->New(std::move(choice)));
    choice.blocks = {arena()->New(std::move(taken)), arena()->New(std::move(other))};
    builder().Append(arena()->New(std::move(choice)));
    for (; !stores.empty(); stores.pop_back()) builder().Append(arena()->New(stores.back()));
  }

 private:
  static bool StoreAtOnePlace(const Block& taken, const Block& other) {
    if (taken.bindings.empty() || other.bindings.empty()) return false;
    const Binding& a = *taken.bindings.back();
    const Binding& b = *other.bindings.back();
    if (a.op != OpCode::kStore || b.op != OpCode::kStore || a.attrs != b.attrs) return false;
    if (a.operands.size() != b.operands.size()) return false;
    const ir::VarSet inside = ir::DefinedVars(taken);
    for (size_t k = 0; k + 1 < a.operands.size(); ++k) {
      if (a.operands[k] != b.operands[k]) return false;
      if (a.operands[k].IsVar() && inside.contains(a.operands[k].var())) return false;
    }
    return true;
  }
};

}  // namespace

ir::Program JoinStores(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StoreJoiner(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
