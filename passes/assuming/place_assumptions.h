#ifndef PARAKEET_PASSES_ASSUMING_PLACE_ASSUMPTIONS_H_
#define PARAKEET_PASSES_ASSUMING_PLACE_ASSUMPTIONS_H_

#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "passes/assuming/loop_assumptions.h"

namespace parakeet::passes {

// Assumes that arrays which loops go to at one place are equally long.
class PlaceAssumptions : public LoopAssumptions {
 protected:
  using LoopAssumptions::LoopAssumptions;

  // Of places that elements say or that loops carry, as the nodes of a tree whose parts lie in
  // several arrays. A counter says nothing: it may well go through a part of a longer array. Nor
  // does a place behind a branch that asks how far it is, and an array that is looked at behind the
  // place too, as where the rows of a sparse matrix begin, is longer than others.
  void AssumeAlike();
  // Slices of two arrays from one element to another, `vals[rows[i]:rows[i + 1]]`, that are to be
  // of one size: the arrays are.
  void AssumeCutAlike();

 private:
  // A size that a place is held against.
  struct Bound {
    const ir::Binding* check;
    const ir::Var* size;
  };

  // Two arrays of which parts are cut at the same places.
  struct Cut {
    const ir::Var* of_one = nullptr;
    const ir::Var* of_other = nullptr;
    bool by_elements = false;
  };

  // True for two sizes that are made of sizes of two arrays in one way.
  bool IsCutAlike(const ir::Operand& one, const ir::Operand& other, Cut& cut) const;
  void FindPlaces(const ir::Block& block, bool repeats);
  void SeeBound(const ir::Binding& check, const ir::Operand& condition);
  // What a loop carries is one place from where it begins to what it leaves.
  void JoinCarried(const ir::Binding& loop);
  // The place that stands for all that are the same.
  const ir::Var* PlaceOf(const ir::Var* value);
  // True for what a number is added to, or nothing, from one iteration to the next.
  bool Counts(const ir::Operand& next, const ir::Var* param) const;
  bool IsAsked(const ir::Operand& condition, const ir::Var* place) const;

  std::unordered_map<const ir::Var*, const ir::Var*> joined_;  // to another of the same place
  std::vector<const ir::Var*> counters_;
  std::vector<ir::Operand> asked_;     // conditions of the branches around
  std::vector<const ir::Var*> order_;  // places as they were found
  std::unordered_map<const ir::Var*, std::vector<Bound>> bounds_;
  std::unordered_map<const ir::Var*, ir::VarSet> longer_;  // sizes of what is looked at behind them
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ASSUMING_PLACE_ASSUMPTIONS_H_
