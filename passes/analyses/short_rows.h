#ifndef PARAKEET_PASSES_ANALYSES_SHORT_ROWS_H_
#define PARAKEET_PASSES_ANALYSES_SHORT_ROWS_H_

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// What loops do with rows of a few elements: the coordinates of a point, the state of a small
// system. Says which operators become scalar code, and which arrays are elements by themselves from
// then on, as they are read nowhere but at places that are known.
class ShortRows {
 public:
  // `supposed`: sizes that are looked at as if they were short.
  ShortRows(const ir::Function& function, ir::VarSet supposed);

  // Where it is worth it: something reads a row's elements, and does more than go along rows.
  bool IsWorthIt() const { return !written_out_.empty() || !elements_.empty(); }
  // True for an imap, an ireduce or a foreach that is written out.
  bool IsWrittenOut(const ir::Binding* b) const { return written_out_.contains(b); }
  // True for an array that is its elements.
  bool IsElements(const ir::Var* array) const { return elements_.contains(array); }
  // True where something needs such an array as a whole too: the result of a loop or a branch.
  bool IsMadeToo(const ir::Var* array) const { return made_too_.contains(array); }
  // The sizes among `supposed` that something is written out for.
  const ir::VarSet& lengths() const { return lengths_; }

 private:
  void See(const ir::Block& block, const ir::Binding* around);
  void Suppose(const ir::Binding& b);
  void SupposeLiteral(const ir::Block& block, size_t at);
  void FindStored();

  bool IsShort(const ir::Operand& extent, int64_t most) const;
  bool AreShort(const std::vector<ir::Operand>& extents, int64_t most) const;
  bool IsShortArray(const ir::Var* array) const;
  bool IsShortOperator(const ir::Binding& b) const;
  int64_t CostWrittenOut(const ir::Block& block) const;
  bool StandsInLoop(const ir::Binding& b) const;
  bool IsPlain(const ir::Block& block, bool may_store) const;
  bool IsKnown(const ir::Operand& index, int depth = 0) const;

  // Each takes back what turns out not to be so; true where something did.
  bool Narrow();
  bool NarrowOperator(const ir::Binding& b);
  bool NarrowOperands(const ir::Binding& b);
  bool NarrowYields(const ir::Binding& b);
  bool NarrowSlots(const ir::Binding& b);
  bool NeedWhole(const ir::Operand& array);
  bool Drop(const ir::Var* array) { return elements_.erase(array) > 0; }

  bool IsReason(const ir::Binding& b) const;

  const ir::Function& function_;
  const ir::VarSet supposed_;
  const Roots roots_;
  const ir::DefinitionMap definitions_;
  std::vector<const ir::Binding*> bindings_;  // outer before inner
  std::unordered_map<const ir::Binding*, const ir::Binding*> around_;
  std::unordered_map<const ir::Var*, const ir::Binding*> operator_of_;  // by index
  std::unordered_set<const ir::Binding*> initial_stores_;               // of literals
  std::unordered_set<const ir::Binding*> written_out_;
  std::unordered_set<const ir::Var*> elements_;
  std::unordered_set<const ir::Var*> made_too_;
  ir::VarSet joined_;  // results of loops and branches
  ir::VarSet lengths_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SHORT_ROWS_H_
