#ifndef PARAKEET_IR_EVALUATE_H_
#define PARAKEET_IR_EVALUATE_H_

#include <optional>
#include <vector>

#include "ir/ops.h"
#include "ir/type.h"

namespace parakeet::ir {

// The value of a scalar operation (IsScalarOp) on constants, in the result's dtype: the meaning of
// the operation. Every float operation rounds to its dtype. nullopt where the operands' types do
// not fit the operation.
std::optional<Constant> Evaluate(OpCode op, const std::vector<Constant>& operands, DType result);

// One constant in another dtype, as the operation cast does it.
Constant EvaluateCast(const Constant& value, DType dtype);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_EVALUATE_H_
