#ifndef PARAKEET_FRONTEND_SELECTED_COMPREHENSIONS_H_
#define PARAKEET_FRONTEND_SELECTED_COMPREHENSIONS_H_

#include <optional>
#include <vector>

#include "frontend/evaluator.h"

namespace parakeet::frontend {

// A comprehension whose number of elements only the run knows: some generator has conditions, or
// goes over more for one value of an outer one than for another. Which elements there are is found
// first, generator by generator, as one row of positions each; then the elements are evaluated.
// What stands in the generators is evaluated more than once, so it may store nothing.
class SelectedComprehension {
 public:
  // From generator `first` on, over `sequence`; those before it are bound. `origin` is the
  // sequence's index (ScalarValue).
  SelectedComprehension(Evaluator* evaluator, const ComprehensionExpr& expr, size_t first,
                        const Sequence& sequence, int origin);
  Value Run();

  // Whether every element of generator `depth` finds as many elements inside it.
  static bool IsRectangular(Evaluator* evaluator, const ComprehensionExpr& expr, size_t depth,
                            const Sequence& sequence);

 private:
  ir::Builder& builder() { return evaluator_->builder(); }
  Context& context() { return evaluator_->context(); }

  // One row for each element of generator `depth`, in the place of the row that it stands in.
  void Expand(size_t depth);
  // Keeps the rows that pass the conditions of generator `depth`.
  void Select(size_t depth);
  void Reorder(const ir::Operand& count, const ir::Operand& rows);
  // Binds the targets of the generators up to `last` as of `row`, in the open block.
  void Bind(size_t last, const ir::Operand& row);
  void BindTarget(size_t last, const ir::Operand& row);
  void BindNamesOf(size_t depth);
  Sequence SequenceOf(size_t depth);
  ir::Operand Passes(size_t depth, size_t first);
  void RefuseStores(const std::vector<const ir::Binding*>& bindings);

  Evaluator* evaluator_;
  const ComprehensionExpr& expr_;
  size_t first_;
  const Sequence& sequence_;
  int origin_;
  ir::Operand count_;
  // For each generator up to the one in hand, where in its sequence each row stands: an array, or
  // none where row i stands at i.
  std::vector<std::optional<ir::Operand>> positions_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SELECTED_COMPREHENSIONS_H_
