#ifndef PARAKEET_FRONTEND_SEQUENTIAL_COMPREHENSIONS_H_
#define PARAKEET_FRONTEND_SEQUENTIAL_COMPREHENSIONS_H_

#include <functional>
#include <optional>
#include <vector>

#include "frontend/evaluator.h"

namespace parakeet::frontend {

// A comprehension that leaves what its `:=` binds, to the next element or to what follows: a loop
// that makes one element after the other. A first loop, which is thrown away, tells what the
// elements are; where only the run knows how many there are or of which size, another one counts
// them, so that they may then store nothing.
class SequentialComprehension {
 public:
  // The names that must be carried; none where the elements may be made in any order. `is_read` is
  // whether a generator expression is read to its end or, by any() and all(), to their answer.
  static std::vector<const Variable*> NamesCarried(Evaluator* evaluator,
                                                   const ComprehensionExpr& expr, bool is_read);

  // `stop`: the truth of an element after which no other is made.
  SequentialComprehension(Evaluator* evaluator, const ComprehensionExpr& expr,
                          std::vector<const Variable*> names, std::optional<bool> stop);
  Value Run(const Sequence& sequence);

 private:
  using Visit = std::function<void(const Value& element)>;

  Value RunAtCompileTime(const Values& values);
  // What the elements have in common, found in a block that is thrown away.
  void Try(const Sequence& sequence);
  // How many elements there are, and the sizes that have not been known.
  void Count(const Sequence& sequence);
  Value Fill(const Sequence& sequence);
  void Store(const ir::Operand& array, const ir::Operand& at, const Value& element);
  ir::Operand CheckedArray(const Value& element, const std::vector<ir::Operand>& dims);

  // Evaluates every element, in order.
  void Run(const Sequence& sequence, const Visit& visit);
  void RunGenerator(size_t depth, const Sequence& sequence, const Visit& visit);
  void RunUnrolled(size_t depth, const Values& values, const Visit& visit);
  void RunItem(size_t depth, const Value& item, const Visit& visit);
  void RunInside(size_t depth, size_t condition, const Visit& visit);
  Value Element();

  ir::Builder& builder() { return evaluator_->builder(); }
  Context& context() { return evaluator_->context(); }
  Environment& environment() { return evaluator_->frame().environment; }
  ir::Operand Counted() { return environment().Get(count_).value.op(); }
  void Restore(const Environment& before);

  Evaluator* evaluator_;
  const ComprehensionExpr& expr_;
  const std::vector<const Variable*> names_;
  const std::optional<bool> stop_;
  // Slots that the loops carry: how many elements there have been, the last one (in the first
  // loop), its sizes, and whether no more are made.
  const Variable* count_;
  const Variable* last_;
  const Variable* sizes_;
  const Variable* done_;
  Pattern pattern_;                               // Of all elements.
  std::vector<std::optional<ir::Operand>> dims_;  // None where only the run knows.
  std::optional<ir::Operand> length_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SEQUENTIAL_COMPREHENSIONS_H_
