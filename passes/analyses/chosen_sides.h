#ifndef PARAKEET_PASSES_ANALYSES_CHOSEN_SIDES_H_
#define PARAKEET_PASSES_ANALYSES_CHOSEN_SIDES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ir/node.h"

namespace parakeet::passes {

// By how much the iterations of a loop move on, and which sides branches take in those of them that
// do nothing else: the one that leaves an index be, or moves it by one, the one that does not
// store, loop or call.
class ChosenSides {
 public:
  // Without branches, what is carried moves only where every iteration moves it.
  explicit ChosenSides(bool of_branches = false) : of_branches_(of_branches) {}

  // Chooses sides where only one will do, so that branches that leave a choice follow them.
  void ChooseForced(const ir::Block& body);
  // A constant other than 0 that iterations add to what is carried `k`-th; null where there is
  // none, or it is very long.
  std::optional<int64_t> StepOf(const ir::Block& body, size_t k);
  // The side that has been chosen, or that has to be: the other one does what lanes do not.
  std::optional<size_t> SideOf(const ir::Binding& branch);
  bool IsChosen(const ir::Binding& branch) const { return sides_.contains(&branch); }

 private:
  std::optional<int64_t> StepIn(const ir::Block& block, const ir::Operand& next,
                                const ir::Var* own);
  std::optional<int64_t> StepOfSides(const ir::Binding& branch, size_t result, const ir::Var* own);

  bool of_branches_;
  bool may_choose_ = true;  // where either side will do
  std::unordered_map<const ir::Binding*, size_t> sides_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_CHOSEN_SIDES_H_
