#ifndef PARAKEET_FRONTEND_ELEMENTWISE_H_
#define PARAKEET_FRONTEND_ELEMENTWISE_H_

#include <optional>
#include <string>

#include "frontend/evaluator.h"
#include "frontend/primitives.h"
#include "frontend/value.h"

// Primitives on values: NumPy's element-wise functions, and Python's operators on Python's scalars.
namespace parakeet::frontend {

// In which dtype an element-wise function runs (NumPy's keyword dtype; by the operands' where none
// is named), and which conversions to it NumPy's keyword casting allows.
struct Loop {
  std::optional<ir::DType> dtype;
  Casting casting = Casting::kSameKind;
};

// The primitive on scalars and arrays as NumPy applies it: broadcast, promoted, checked. Python's
// scalars are weak; the result of scalars is a NumPy scalar.
Value ApplyPrimitive(Evaluator* evaluator, const Primitive& primitive, const Values& operands,
                     const Loop& loop = {});

// Refuses a dtype that an element-wise function has no loop for.
[[noreturn]] void FailNoLoop(const Context& context, const std::string& name);
// Refuses a conversion that `casting` does not allow. `what`: "add' output".
void RequireCast(const Context& context, const std::string& what, ir::DType from, ir::DType to,
                 Casting casting);

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
