#ifndef PARAKEET_PASSES_ANALYSES_FIRST_ITERATION_H_
#define PARAKEET_PASSES_ANALYSES_FIRST_ITERATION_H_

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// What values inside a loop are where it begins: its indexes at their first, what a `while` carries
// as it is given.
class FirstIteration {
 public:
  explicit FirstIteration(const ir::Binding& loop);

  // Scalar code that stays inside the loop.
  void Define(const ir::Binding& code) { scalars_[code.result()] = &code; }
  // The value has moved to before the loop.
  void Move(const ir::Var* value) { inside_.erase(value); }
  bool IsInside(const ir::Operand& value) const {
    return value.IsVar() && inside_.contains(value.var());
  }
  // True where no operand is a value of the loop's.
  bool IsInvariant(const ir::Binding& binding) const;
  // True where the value follows from what is known before the loop by scalar code alone.
  bool IsKnown(const ir::Operand& value) const;
  // Such a value, written where the builder stands.
  ir::Operand Write(ir::Builder& builder, const ir::Operand& value) const;

 private:
  ir::VarSet inside_;
  ir::Substitution start_;
  ir::DefinitionMap scalars_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIRST_ITERATION_H_
