// Stores once, behind a branch, what both of its blocks store at one place where they end.
//
// Before:
//   if %p { %a = add %x, 1.0  store %y[%i], %a } else { store %y[%i], %x }
// After:
//   %s: f64 = if %p { %a = add %x, 1.0  yield %a } else { yield %x }  store %y[%i], %s
//
// So a loop has one store, which other passes look at, and lanes choose values, not places. What is
// stored in front of a branch that may store over it, `y[i] = x` before `if p: y[i] = x + 1.0`, is
// stored in the branch's other block first; what the branch reads there is that value.
//
// A place that both blocks compute alike, of what is there in front of them (`y[i + 1]`), is
// computed in front of the branch.
//
// Assumes: index form, behind eliminate-common-subexpressions: places that are equal are one value.
// Refuses: a place that a block computes of what it reads; a store that other things than stores
// are behind; in front of a branch, one that something may see before what stores over it.
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

// How many operations one inside the other a place may be computed by, once more.
constexpr int kDeepestPlace = 3;

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
      const ir::DefinitionMap made = ir::Definitions(taken);
      for (size_t k = 1; k + 1 < store.operands.size(); ++k)
        store.operands[k] = InFront(store.operands[k], made);
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
    if (!AreStoresAlike(a, b) || a.operands[0] != b.operands[0]) return false;
    const Computed computed = {taken, other};
    for (size_t k = 1; k + 1 < a.operands.size(); ++k) {
      if (!computed.Alike(a.operands[k], b.operands[k], kDeepestPlace)) return false;
    }
    return !computed.inside.contains(a.operands[0].var());
  }

  // What two blocks compute.
  struct Computed {
    Computed(const Block& taken, const Block& other)
        : inside(ir::DefinedVars(taken)), made{ir::Definitions(taken), ir::Definitions(other)} {}

    // Whether both are one value from in front of the blocks, or made of such in the same way.
    bool Alike(const Operand& a, const Operand& b, int depth) const {
      if (a == b) return !a.IsVar() || !inside.contains(a.var());
      if (depth == 0 || !a.IsVar() || !b.IsVar()) return false;
      const auto first = made[0].find(a.var()), second = made[1].find(b.var());
      if (first == made[0].end() || second == made[1].end()) return false;
      const Binding &one = *first->second, &two = *second->second;
      if (one.op != two.op || !IsPlaceOp(one.op)) return false;
      return Alike(one.operands[0], two.operands[0], depth - 1) &&
             Alike(one.operands[1], two.operands[1], depth - 1);
    }

    ir::VarSet inside;
    ir::DefinitionMap made[2];
  };

  static bool IsPlaceOp(OpCode op) {
    return op == OpCode::kAdd || op == OpCode::kSub || op == OpCode::kMul;
  }

  // The place, computed in front of the branch where the block computes it.
  Operand InFront(const Operand& place, const ir::DefinitionMap& made) {
    const auto found = place.IsVar() ? made.find(place.var()) : made.end();
    if (found == made.end()) return place;
    const Binding& b = *found->second;
    return builder().Scalar(b.op, {InFront(b.operands[0], made), InFront(b.operands[1], made)});
  }

  static bool AreStoresAlike(const Binding& a, const Binding& b) {
    return a.op == OpCode::kStore && b.op == OpCode::kStore && a.attrs == b.attrs &&
           a.operands.size() == b.operands.size();
  }

  static bool StoresAtOnePlace(const Binding& a, const Binding& b) {
    return AreStoresAlike(a, b) &&
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
  // where there is none. Branches on the way read there what is stored.
  size_t BranchOver(std::vector<const Binding*>& all, size_t store) {
    const ir::VarSet& roots = roots_.Of(all[store]->operands[0].var());
    for (size_t at = store + 1; at < all.size(); ++at) {
      if (all[at]->op == OpCode::kIf) all[at] = WithoutLoadsOf(*all[store], *all[at], roots);
      const Binding& b = *all[at];
      if (b.op == OpCode::kIf && MayTake(b, *all[store], roots)) return at;
      const Effects effects = EffectsOf(b, roots_);
      if (effects.may_fail || Intersects(effects.reads, roots) || Intersects(effects.writes, roots))
        return all.size();
    }
    return all.size();
  }

  // The branch with what it loads of the store's place, before it stores to the array, as a value.
  const Binding* WithoutLoadsOf(const Binding& store, const Binding& branch,
                                const ir::VarSet& roots) {
    if (!Intersects(EffectsOf(branch, roots_).reads, roots)) return &branch;
    Binding copy = branch;
    for (const Block*& block : copy.blocks) {
      Block shorter = *block;
      shorter.bindings.clear();
      bool is_there = true;  // what the store has put there
      for (const Binding* b : block->bindings) {
        if (is_there && b->op == OpCode::kIf) b = WithoutLoadsOf(store, *b, roots);
        if (is_there && LoadsFrom(*b, store)) {
          Replace(b->result(), store.operands.back());
          continue;
        }
        is_there &= !Intersects(WritesOf(*b), roots);
        shorter.bindings.push_back(b);
      }
      block = arena()->New(std::move(shorter));
    }
    return arena()->New(std::move(copy));
  }

  static bool LoadsFrom(const Binding& load, const Binding& store) {
    return load.op == OpCode::kLoad && std::equal(load.operands.begin(), load.operands.end(),
                                                  store.operands.begin(), store.operands.end() - 1);
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
