#ifndef PARAKEET_FRONTEND_STATIC_VALUES_H_
#define PARAKEET_FRONTEND_STATIC_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/evaluator.h"
#include "frontend/promotion.h"
#include "frontend/value.h"
#include "ir/dtype.h"

// What a value says at compile time: dtypes, axes, shapes.
namespace parakeet::frontend {

// A dtype as NumPy accepts it: np.float32, "float32", float, x.dtype. None and anything else is a
// TypeError.
ir::DType StaticDType(Evaluator* evaluator, const Value& value);

// A static axis of an array of `rank` axes, as 0 <= axis < rank; else AxisError in NumPy's words.
int StaticAxis(Evaluator* evaluator, const Value& axis, int rank);

// One axis or a tuple of different axes, normalised, in the order given. None: all axes.
std::vector<int> StaticAxes(Evaluator* evaluator, const Value& axes, int rank);

// A shape: an integer or a sequence of them, as i64 operands. Negative sizes are a ValueError.
std::vector<ir::Operand> ShapeOf(Evaluator* evaluator, const Value& shape);

// A string without holes, or a TypeError that names `what`.
std::string StaticString(Evaluator* evaluator, const Value& value, const std::string& what);

// NumPy's casting rule of that name.
Casting StaticCasting(Evaluator* evaluator, const Value& value);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_STATIC_VALUES_H_
