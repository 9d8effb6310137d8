#ifndef PARAKEET_IR_EVALUATE_BY_KIND_H_
#define PARAKEET_IR_EVALUATE_BY_KIND_H_

#include <optional>
#include <span>

#include "ir/ops.h"
#include "ir/type.h"

namespace parakeet::ir {

// The parts of Evaluate, by the kind of the operands, which all have one dtype; there are as many
// as the operation takes. Cast, select and complex are not among the operations. nullopt where the
// operation has no meaning there.
std::optional<Constant> EvaluateInteger(OpCode op, std::span<const Constant> operands);
std::optional<Constant> EvaluateFloat(OpCode op, std::span<const Constant> operands);
std::optional<Constant> EvaluateComplex(OpCode op, std::span<const Constant> operands);

// `value` rounded to the float dtype.
double RoundTo(DType dtype, double value);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_EVALUATE_BY_KIND_H_
