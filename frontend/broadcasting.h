#ifndef PARAKEET_FRONTEND_BROADCASTING_H_
#define PARAKEET_FRONTEND_BROADCASTING_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/evaluator.h"
#include "frontend/value.h"
#include "ir/type.h"

// Shapes that meet, and the map over elements that every element-wise operation is.
namespace parakeet::frontend {

using Dims = std::vector<ir::Operand>;

// A shape as NumPy writes it in messages, "(3,4)" or "(3,)", with a hole for each size.
std::string ShapeHoles(const Dims& dims);

// The shape that NumPy's broadcasting gives; emits the checks that it needs.
Dims CommonDims(Context* context, const std::vector<Dims>& shapes);
// As above for arrays that index together, which raise IndexError.
Dims CommonIndexDims(Context* context, const std::vector<Dims>& shapes);

// Arrays of rank 0 become NumPy scalars, lists, tuples and ranges arrays: what element-wise
// operations take.
Value SettleOperand(Evaluator* evaluator, const Value& value);
// Refuses a list of which it is known that it stands for no array, where Python makes none of it.
void RefuseRaggedList(const Context& context, const Value& value);
// As above; what is no number then is a TypeError that says what `function` takes.
Value SettleNumber(Evaluator* evaluator, const Value& value, const std::string& function);

// What one element of the result is, from one element of each operand; appends to the open block.
// Nothing in it may raise.
using ElementBody = std::function<ir::Operand(const std::vector<ir::Operand>& elements)>;

// `body` on scalars (gives a NumPy scalar), or over broadcast arrays (gives a new array, in the
// order that NumPy's "K" takes from the operands unless another is given). Operands are settled.
Value MapElements(Evaluator* evaluator, const Values& operands, const ElementBody& body,
                  std::optional<Order> order = std::nullopt);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_BROADCASTING_H_
