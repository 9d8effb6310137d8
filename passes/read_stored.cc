// Takes what a block has stored for what it reads back, and leaves out stores that it stores over,
// or to arrays that end with it.
//
// Before:
//   store %f[%i, 0], %a
//   check %p, site 0
//   %b = load %f[%i, 0]  %c = add %b, %d  store %f[%i, 0], %c
// After:
//   check %p, site 0
//   %c = add %a, %d  store %f[%i, 0], %c
//
// What is left is stored behind all checks, so that lanes may take it.
//
// Assumes: index form, where equal indexes are one value. Nobody sees behind an error what an array
// holds that the function has made.
// Refuses: places between which something is stored that may be the same; stores of an array that
// the function is given, where something between may raise; what is stored in a block and read
// behind it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What blocks store and read back.
class StoredValues {
 public:
  explicit StoredValues(const ir::Function& function) : roots_(function), forms_(function) {
    Walk(*function.body, {});
  }

  // The value that the load gives; null where that is not known.
  const Operand* ReadBy(const Binding& load) const {
    const auto found = read_.find(&load);
    return found == read_.end() ? nullptr : &found->second;
  }
  // True for a store of which nobody sees anything.
  bool IsLost(const Binding& store) const { return lost_.contains(&store); }
  bool IsEmpty() const { return read_.empty() && lost_.empty(); }

 private:
  // A store whose place holds what it stored. `is_seen` where something may have read it.
  struct Stored {
    const Binding* store;
    const ir::VarSet* roots;  // of its array
    bool is_fresh;            // its array
    bool is_seen = false;
  };

  // `stored` is what holds where the block begins.
  void Walk(const Block& block, std::vector<Stored> stored) {
    for (const Binding* b : block.bindings) {
      if (!b->blocks.empty()) WalkInside(*b, stored);
      if (b->op == OpCode::kLoad) SeeLoad(*b, stored);
      else if (b->op == OpCode::kStore) SeeStore(*b, stored);
      else SeeOther(*b, stored);
    }
    LoseWhatEnds(block, stored);
  }

  // Where arrays end with the block that makes them, what is stored last and not read is lost too.
  void LoseWhatEnds(const Block& block, const std::vector<Stored>& stored) {
    ir::VarSet ending;
    for (const Binding* b : block.bindings) ending.insert(b->results.begin(), b->results.end());
    for (const Operand& result : block.results) {
      if (!result.IsVar() || !result.var()->type.IsArray()) continue;
      for (const Var* root : roots_.Of(result.var())) ending.erase(root);
    }
    for (const Stored& last : stored) {
      const bool ends = std::all_of(last.roots->begin(), last.roots->end(),
                                    [&](const Var* root) { return ending.contains(root); });
      if (ends && !last.is_seen) lost_.insert(last.store);
    }
  }

  // What a branch stores itself comes behind where it begins; what a loop does, before it too.
  void WalkInside(const Binding& b, std::vector<Stored> stored) {
    if (b.op != OpCode::kIf) {
      const Effects effects = EffectsOf(b, roots_);
      std::erase_if(stored, [&](const Stored& earlier) {
        return Intersects(roots_.Of(ArrayOf(*earlier.store)), effects.writes);
      });
    }
    // What stores over it does so inside only, where it may not run.
    for (Stored& earlier : stored) earlier.is_seen = true;
    for (const Block* inner : b.blocks) Walk(*inner, stored);
  }

  void SeeLoad(const Binding& load, std::vector<Stored>& stored) {
    for (Stored& earlier : stored) {
      if (IsSamePlace(load, *earlier.store)) {
        read_.emplace(&load, earlier.store->operands.back());
        return;
      }
    }
    for (Stored& earlier : stored) earlier.is_seen |= MayBeSamePlace(load, *earlier.store);
  }

  void SeeStore(const Binding& store, std::vector<Stored>& stored) {
    for (const Stored& earlier : stored) {
      if (!earlier.is_seen && IsSamePlace(store, *earlier.store)) lost_.insert(earlier.store);
    }
    std::erase_if(stored,
                  [&](const Stored& earlier) { return MayBeSamePlace(store, *earlier.store); });
    const Var* array = ArrayOf(store);
    stored.push_back({&store, &roots_.Of(array), roots_.IsFresh(array)});
  }

  void SeeOther(const Binding& b, std::vector<Stored>& stored) {
    const Effects effects = EffectsOf(b, roots_);
    if (effects.IsPure() && effects.reads.empty()) return;
    if (!effects.writes.empty()) {
      std::erase_if(stored, [&](const Stored& earlier) {
        return Intersects(*earlier.roots, effects.writes);
      });
    }
    for (Stored& earlier : stored) {
      earlier.is_seen = earlier.is_seen || (effects.may_fail && !earlier.is_fresh) ||
                        Intersects(*earlier.roots, effects.reads);
    }
  }

  static const Var* ArrayOf(const Binding& access) { return access.operands[0].var(); }

  bool IsSamePlace(const Binding& a, const Binding& b) const {
    const int rank = ArrayOf(a)->type.rank();
    if (a.operands[0] != b.operands[0]) return false;
    for (int axis = 1; axis <= rank; ++axis) {
      if (!SameForm(forms_.Of(a.operands[axis]), forms_.Of(b.operands[axis]))) return false;
    }
    return true;
  }

  // Places of one array are apart where an index of them is, by a number.
  bool MayBeSamePlace(const Binding& a, const Binding& b) const {
    if (!roots_.MayShare(ArrayOf(a), ArrayOf(b))) return false;
    const int rank = ArrayOf(a)->type.rank();
    if (a.operands[0] != b.operands[0]) return true;
    for (int axis = 1; axis <= rank; ++axis) {
      const LinearForm gap = Difference(forms_.Of(a.operands[axis]), forms_.Of(b.operands[axis]));
      if (gap.IsConstant() && gap.constant != 0) return false;
    }
    return true;
  }

  const Roots roots_;
  const WrappingForms forms_;
  std::unordered_map<const Binding*, Operand> read_;
  std::unordered_set<const Binding*> lost_;
};

class Rewriter : public ir::Mutator {
 public:
  Rewriter(ir::Arena* arena, const StoredValues& stored) : Mutator(arena), stored_(stored) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kStore && stored_.IsLost(*b)) return;
    const Operand* value = b->op == OpCode::kLoad ? stored_.ReadBy(*b) : nullptr;
    value == nullptr ? Mutator::Visit(b) : Replace(b->result(), *value);
  }

 private:
  const StoredValues& stored_;
};

}  // namespace

ir::Program ReadStored(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const StoredValues stored(*function);
    return stored.IsEmpty() ? function : Rewriter(program.arena.get(), stored).Run(function);
  });
}

}  // namespace parakeet::passes
