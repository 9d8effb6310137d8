// Stores once, behind a branch, what both of its blocks store at one place where they end.
//
// Before:
//   if %p { %a = add %x, 1.0  store %y[%i], %a } else { store %y[%i], %x }
// After:
//   %s: f64 = if %p { %a = add %x, 1.0  yield %a } else { yield %x }  store %y[%i], %s
//
// So a loop has one store, which other passes look at, and lanes choose values, not places. What is
// stored in front of a branch that may store over it, `y[i] = x` before `if p: y[i] = x + 1.0`, is
// stored in the branch's other block first.
//
// Assumes: index form, behind eliminate-common-subexpressions: places that are equal are one value.
// Refuses: a place that a block computes itself; a store that other things than stores are behind;
// in front of a branch, one that something may see before what stores over it.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/holds_op.h"
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
  StoreJoiner(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    return Mutator::VisitBlock(WithStoresInBranches(block));
  }

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
    if (!StoresAtOnePlace(a, *other.bindings.back())) return false;
    const ir::VarSet inside = ir::DefinedVars(taken);
    return std::none_of(a.operands.begin(), a.operands.end() - 1,
                        [&](const Operand& o) { return o.IsVar() && inside.contains(o.var()); });
  }

  static bool StoresAtOnePlace(const Binding& a, const Binding& b) {
    return a.op == OpCode::kStore && b.op == OpCode::kStore && a.attrs == b.attrs &&
           a.operands.size() == b.operands.size() &&
           std::equal(a.operands.begin(), a.operands.end() - 1, b.operands.begin());
  }

  // The block with stores moved into branches behind them that store over them on one side.
  const Block* WithStoresInBranches(const Block* block) {
    Block moved = *block;
    std::vector<const Binding*>& all = moved.bindings;
    for (size_t at = all.size(); at-- > 0;) {
      if (all[at]->op != OpCode::kStore) continue;
      const size_t branch = BranchOver(all, at);
      if (branch == all.size()) continue;
      Binding copy = *all[branch];
      const size_t other = EndsWithStoreAt(*copy.blocks[0], *all[at]) ? 1 : 0;
      Block longer = *copy.blocks[other];
      longer.bindings.push_back(all[at]);
      copy.blocks[other] = arena()->New(std::move(longer));
      all[branch] = arena()->New(std::move(copy));
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
    }
    return all == block->bindings ? block : arena()->New(std::move(moved));
  }

  // Where the branch is that alone sees the store, and stores over it in one of its blocks; the end
  // where there is none.
  size_t BranchOver(const std::vector<const Binding*>& all, size_t store) const {
    const ir::VarSet& roots = roots_.Of(all[store]->operands[0].var());
    for (size_t at = store + 1; at < all.size(); ++at) {
      const Binding& b = *all[at];
      if (b.op == OpCode::kIf && MayTake(b, *all[store], roots)) return at;
      const Effects effects = EffectsOf(b, roots_);
      if (effects.may_fail || Intersects(effects.reads, roots) || Intersects(effects.writes, roots))
        return all.size();
    }
    return all.size();
  }

  bool MayTake(const Binding& branch, const Binding& store, const ir::VarSet& roots) const {
    const Effects effects = EffectsOf(branch, roots_);
    if (effects.may_fail || Intersects(effects.reads, roots)) return false;
    const bool ends[2] = {EndsWithStoreAt(*branch.blocks[0], store),
                          EndsWithStoreAt(*branch.blocks[1], store)};
    if (ends[0] == ends[1]) return false;
    // Only that store touches the array.
    int stores = 0;
    for (const Block* block : branch.blocks) {
      for (const Binding* b : block->bindings) stores += Intersects(WritesOf(*b), roots);
    }
    return stores == 1;
  }

  ir::VarSet WritesOf(const Binding& b) const { return EffectsOf(b, roots_).writes; }

  static bool EndsWithStoreAt(const Block& block, const Binding& store) {
    return !block.bindings.empty() && StoresAtOnePlace(*block.bindings.back(), store);
  }

  Roots roots_;
};

}  // namespace

ir::Program JoinStores(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HoldsOp(*function->body, OpCode::kIf)) return function;
    return StoreJoiner(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
