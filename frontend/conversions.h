#ifndef PARAKEET_FRONTEND_CONVERSIONS_H_
#define PARAKEET_FRONTEND_CONVERSIONS_H_

#include "frontend/evaluator.h"
#include "frontend/promotion.h"
#include "frontend/value.h"

// Scalars and arrays from one type to another, with NumPy's and Python's refusals.
namespace parakeet::frontend {

// The type of a scalar or array as promotion sees it.
ScalarType PromotionType(const Value& value);

// The operand x != 0; a bool is itself. Works on elements inside a map too.
ir::Operand IsNonZero(ir::Builder* builder, const ir::Operand& scalar);

// `scalar` as `dtype`. A Python int that does not fit an integer dtype raises OverflowError.
ir::Operand ConvertScalar(Context* context, const ScalarValue& scalar, ir::DType dtype);

// True where a static Python int has no place in an integer dtype.
bool IsOutOfRange(const ir::Constant& integer, ir::DType dtype);
// How that is said of a Python integer, which stands for {}.
std::string OutOfBoundsMessage(ir::DType dtype);

// The Python scalar as Python's int(), float() and complex() make it.
ir::Operand ToPythonInt(Context* context, const ir::Operand& scalar);
ir::Operand ToPythonFloat(Context* context, const ir::Operand& scalar);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_CONVERSIONS_H_
