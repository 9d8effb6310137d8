#ifndef PARAKEET_PASSES_ANALYSES_FIND_DEMANDS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_DEMANDS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// Finds what a `while` would have to begin with for checks in it to hold in every iteration: that
// forms of what is known before it are not negative. What only falls, as the place of an insertion
// does, is below a size where it begins there; what rises as long as it is below the end of a row
// is, where that end is. Forms are taken modulo 2^64, so that this is likely, not sure.
class DemandFinder {
 public:
  explicit DemandFinder(const ir::Function& function);

  // None where no check would hold for sure.
  std::optional<std::vector<LinearForm>> Of(const ir::Binding& loop);

 private:
  // How what is carried moves from one iteration to the next, and between what the condition holds
  // it.
  struct Carried {
    LinearForm init;
    bool rises = true;  // Never falls,
    bool falls = true;  // or never rises.
    std::vector<LinearForm> least;
    std::vector<LinearForm> most;
  };
  using Demands = std::vector<LinearForm>;

  void SeeCarried(const ir::Binding& loop, const std::vector<const ir::Var*>& params);
  void SeeMoves(const ir::Operand& next, const ir::Var* param, Carried& carried) const;
  void SeeCondition(const ir::Binding& loop, const ir::Operand& condition);
  void SeeChecks(const ir::Block& block, Demands& all);

  // Adds what makes the condition true, or the form not negative. False where nothing is known to.
  bool Demand(const ir::Operand& condition, Demands& demands) const;
  bool DemandNotNegative(LinearForm form, Demands& demands) const;
  // The place that a select gives which counts it from the end where it is negative.
  const ir::Binding* WrapOf(const ir::Var* var) const;
  bool IsOutside(const LinearForm& form) const;

  const WrappingForms forms_;
  const ir::DefinitionMap definitions_;
  ir::VarSet inside_;
  std::unordered_map<const ir::Var*, Carried> carried_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_DEMANDS_H_
