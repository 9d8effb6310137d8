#ifndef PARAKEET_FRONTEND_ELEMENTWISE_H_
#define PARAKEET_FRONTEND_ELEMENTWISE_H_

#include <optional>
#include <string>

#include "frontend/evaluator.h"
#include "frontend/primitives.h"
#include "frontend/value.h"

// Primitives on values: NumPy's element-wise functions, and Python's operators on Python's scalars.
namespace parakeet::frontend {

// The primitive on scalars and arrays as NumPy applies it: broadcast, promoted, checked. Python's
// scalars are weak; the result of scalars is a NumPy scalar. `loop` forces the operands' dtype
// (NumPy's keyword dtype).
Value ApplyPrimitive(Evaluator* evaluator, const Primitive& primitive, const Values& operands,
                     std::optional<ir::DType> loop = std::nullopt);

// The name of the primitive behind an operator: "add" for +. Empty for @.
std::string PrimitiveName(BinaryOperator op);
std::string PrimitiveName(CompareOperator op);

// An operator on two Python scalars, with Python's result types and exceptions.
Value PythonBinary(Context* context, BinaryOperator op, const ScalarValue& left,
                   const ScalarValue& right);
Value PythonUnary(Context* context, UnaryOperator op, const ScalarValue& operand);
Value PythonCompare(Context* context, CompareOperator op, const ScalarValue& left,
                    const ScalarValue& right);

// "int", "numpy.float32", "tuple": how Python's messages name the type of a value.
std::string PythonTypeName(const Value& value);

// `c ? a : b` element by element, a and b promoted; the condition by its truth.
Value SelectElements(Evaluator* evaluator, const Value& condition, const Value& a, const Value& b);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_ELEMENTWISE_H_
