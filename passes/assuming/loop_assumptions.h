#ifndef PARAKEET_PASSES_ASSUMING_LOOP_ASSUMPTIONS_H_
#define PARAKEET_PASSES_ASSUMING_LOOP_ASSUMPTIONS_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "passes/assuming/assumptions.h"

namespace parakeet::passes {

// Assumes what every iteration of a loop or an operator checks, and what is checked behind a store.
class LoopAssumptions : public Assumptions {
 protected:
  using Assumptions::Assumptions;

  // In a branch that some iterations take, of indexes that its condition does not ask about.
  void AssumeInLoops(const ir::Block& block, bool repeats);
  // What is stored shows where a check behind it raises: only in front of all are the two nests
  // around the check next to each other.
  void AssumeBehindStores(const ir::Block& block);
  // Of loops over blocks, which begin at multiples of a given number that a size is divided by:
  // that the number is positive.
  void AssumeBlocks();

  // True where the value is computed from the other; what is loaded is data.
  bool IsMadeOf(const ir::Operand& value, const ir::Var* part, bool by_equality,
                ir::VarSet* seen) const;

  ir::VarSet seen_;  // arrays whose elements are taken to be near, last places taken to be some

 private:
  // A loop inside another that carries what it never reads has a first iteration: what it leaves
  // behind, as its counter, is then its own. So has one that stores at computed places of lines:
  // they are then known to be there.
  void AssumeRuns(const ir::Binding& loop);
  // A part of a `while` loop's condition the first time that it is asked, at entry.
  std::optional<ir::Operand> AtFirst(const ir::Operand& part, const ir::Binding& loop);
  // The indexes of loops that a value is made of, and of those that their bounds are made of.
  ir::VarSet LoopsBehind(const ir::Var* value) const;
  // True where a branch around asks about a loop that the index goes by. Where the index is the
  // loop's own, whether it equals something says nothing of where the array ends.
  bool IsGuarded(const LinearForm& index) const;
  static bool Stores(const ir::Binding& b);
  bool StoresAtComputedPlaces(const ir::Binding& loop) const;
  // Of a check that two sizes are equal.
  void AssumeChecked(const ir::Binding& check);
  // Of index < size, alone or beside 0 <= index.
  void AssumeInRange(const ir::Binding& check, const ir::Operand& condition);
  // Of min(x, size - 1), however x is found: the last place is one.
  void AssumeClipped(const ir::Binding& check, const ir::Operand& index);
  // Of table[x & 63], or of a remainder, that the table is as long as the mask says.
  void AssumeMasked(const ir::Binding& check, ir::Operand index, const ir::Operand& size);
  // Of a size less a number that it is not negative.
  void AssumeIsPlace(const ir::Binding& check, const ir::Operand& last);
  // True for an index of one loop, or a sum of several: differences may well count from the end.
  bool GoesOneWay(const LinearForm& form) const;
  // Of `if i >= w: x[i - w]` that w is not negative: the branch cares for one end, and the other is
  // in range where no scalar is less than 0.
  void AssumeGuarded(const ir::Binding& check, const LinearForm& index, const ir::Operand& size);
  // Of x[:n - i] that n - i is no index from the end, and not behind it.
  void AssumeInsideInLoops(const ir::Binding& slice);

  std::vector<ir::Operand> guards_;  // conditions of the branches around
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ASSUMING_LOOP_ASSUMPTIONS_H_
