#ifndef PARAKEET_PASSES_ANALYSES_EXTENT_BOUNDS_H_
#define PARAKEET_PASSES_ANALYSES_EXTENT_BOUNDS_H_

#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// The most that extents inside a nest are for any index of it: of max(n, i + 1) - (i + 1) with i in
// (n), n - 1; of min(n, i + w) - max(i - w, 0), min(n, 2 * w) and more. Sums, differences, products
// with constants, minima and maxima of linear forms are seen through, remainders, and quotients of
// those.
class ExtentBounds {
 public:
  ExtentBounds(const ir::Function& function, const ir::Binding& nest);

  // The bound, appended in front of the nest; nothing where there is none.
  std::optional<ir::Operand> Write(ir::Builder& builder, const ir::Operand& extent);
  // Whether an extent written so far is a window's, bounded by more than one form.
  bool HasWindow() const { return has_window_; }
  // What the bounds written so far rest on: that no form of them has wrapped around.
  ir::Operand Holds(ir::Builder& builder) const;

 private:
  // Forms, of which one is at least the value, or at most; and all such lists that are known.
  using Forms = std::vector<LinearForm>;
  using Bounds = std::vector<Forms>;

  const ir::Binding* MakerOf(const ir::Operand& value) const;
  Bounds Of(const ir::Operand& value, bool upper) const;
  Bounds OfDifference(const ir::Binding& difference, bool upper) const;
  std::optional<ir::Operand> WriteForms(ir::Builder& builder, const Forms& forms);
  std::optional<LinearForm> AtMost(const LinearForm& form) const;

  const std::vector<const ir::Var*>& index_;
  const std::vector<ir::Operand> extents_;
  ir::DefinitionMap makers_;
  ir::VarSet lengths_;                 // of arguments, and of the nest
  std::vector<const ir::Var*> asked_;  // What may be anything, of the bounds that were written.
  bool has_window_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_EXTENT_BOUNDS_H_
