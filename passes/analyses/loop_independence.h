#ifndef PARAKEET_PASSES_ANALYSES_LOOP_INDEPENDENCE_H_
#define PARAKEET_PASSES_ANALYSES_LOOP_INDEPENDENCE_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/linear_forms.h"
#include "passes/analyses/remainders.h"

namespace parakeet::passes {

// Which `for` loops of a function, as it stands, may run their iterations in any order. Reasons are
// for the user's report; an empty one is none.
class LoopIndependence {
 public:
  explicit LoopIndependence(const ir::Function& function);

  // Why two iterations may touch one element, where one of them stores to it.
  std::string WhyDependent(const ir::Binding& loop) const;
  // The array, known outside the loop, in which stores of iterations behind one that raises would
  // show; null for none.
  const ir::Var* ShownBehindErrors(const ir::Binding& loop) const;
  // True where the place of a check is less in a later iteration: of two errors the one with the
  // lesser place is told, which must be the earlier one.
  bool HasFallingPlaces(const ir::Binding& loop) const;
  // The array as the source names it, or by the line that makes it.
  std::string Named(const ir::Var* array) const;

  const Roots& roots() const { return roots_; }

 private:
  // Between which forms of values outside the loop the index of an access lies on an axis; none
  // where that is not known. Loops run upwards from their first index and never wrap around it.
  struct Bounds {
    std::optional<LinearForm> least, most;
  };
  using Extent = std::vector<Bounds>;
  using Accesses = std::vector<const ir::Binding*>;

  ir::VarSet WrittenBy(const ir::Block& body) const;
  std::string WhyShared(const ir::Binding& loop, const ir::Var* root) const;
  std::string WhyShared(const ir::Binding& loop, const ir::Var* root, const ir::Var* stored) const;
  bool AreApart(const Accesses& accesses, const ir::Binding& loop) const;
  bool AreMirrored(const ir::Binding& upper, const ir::Binding& lower, const ir::Binding& loop,
                   int axis) const;
  bool AreOfOtherParity(const ir::Binding& one, const ir::Binding& other,
                        const ir::Binding& loop) const;
  std::optional<LinearForm> ParityOf(LinearForm form, const ir::Binding& loop) const;
  std::optional<LinearForm> AsEvenAs(const ir::Var* value) const;
  Extent ExtentOf(const ir::Binding& access, const ir::Binding& loop) const;
  LinearForm CountOf(const ir::Operand& end) const;
  bool IsInside(const ir::Var* index, const ir::Var* other) const;
  static bool IsBelow(const Bounds& a, const Bounds& b);
  // What of a form stays that changes with the loop: products of what does, or its index.
  enum class Kept { kNothing, kProducts, kIndex };
  std::optional<LinearForm> OutsideOf(LinearForm form, const ir::Binding& loop, bool largest,
                                      Kept kept = Kept::kNothing) const;
  std::optional<LinearForm> OutsideOfExtreme(const LinearForm& form, const ir::Binding& extreme,
                                             const ir::Binding& loop, bool largest,
                                             Kept kept) const;
  bool AreInBlocks(const Accesses& accesses, const ir::Binding& loop, int axis) const;
  bool AreInSteps(const Accesses& accesses, const ir::Binding& loop, int axis) const;
  bool FollowsLoop(const Accesses& accesses, const ir::Binding& loop, int axis) const;
  bool TellIteration(std::vector<LinearForm> forms, const Accesses& accesses,
                     const ir::Binding& loop, int axis) const;
  bool AreWithin(const std::vector<LinearForm>& forms, const LinearForm& distance,
                 const ir::Binding& loop) const;
  int64_t CommonFactorOf(const std::vector<LinearForm>& forms, const ir::Binding& loop) const;
  LinearForm TakeQuotient(LinearForm& form, int64_t factor, const ir::Binding& loop) const;
  ir::Operand FactorOf(const LinearForm& form, const ir::Binding& loop) const;
  LinearForm TakeQuotient(LinearForm& form, const ir::Operand& factor) const;
  bool IsSameOnAxis(const Accesses& accesses, int axis) const;
  bool IsRotated(const Accesses& accesses, const ir::Binding& loop, int axis) const;
  bool IsOfLoop(const LinearForm& form, const Accesses& accesses, const ir::Binding& loop,
                int axis) const;

  // Iterations that touch one place on all axes but one; the arrays that they store to.
  struct Meeting {
    const Accesses& accesses;
    ir::VarSet inside;
    ir::VarSet written;
    int axis;
  };
  bool IsFixed(const ir::Operand& value, const Meeting& meeting, int depth = 0) const;
  void FindNear(const ir::Block& body);

  const Roots roots_;
  const WrappingForms forms_;
  const Remainders remainders_;
  ir::VarSet sizes_;  // of parameters
  // In order of definition, so that reasons do not depend on hashes.
  std::vector<const ir::Var*> arrays_;
  ir::DefinitionMap makers_;
  ir::DefinitionMap loops_;                                 // by index
  std::unordered_map<const ir::Var*, size_t> order_;        // of all indexes
  std::unordered_map<const ir::Var*, ir::Operand> spaces_;  // extents of operators, by index
  ir::VarSet overlapping_;  // Parameters of which two places may be one.
  ir::VarSet near_;         // Scalars that are checked first to lie between -2^48 and 2^48.
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_LOOP_INDEPENDENCE_H_
