#ifndef PARAKEET_FRONTEND_MEMORY_ORDER_H_
#define PARAKEET_FRONTEND_MEMORY_ORDER_H_

#include <cstdint>
#include <vector>

#include "frontend/evaluator.h"
#include "frontend/value.h"
#include "ir/node.h"

// In which order the axes of new arrays lie in memory.
namespace parakeet::frontend {

// NumPy's order "K" of what an element-wise operation of `operands` makes in the shape `dims`:
// Fortran where every two axes lie so in some operand and otherwise in none. An axis of an operand
// that is known to have at most one element says nothing. NumPy also keeps orders that are neither
// C nor Fortran, of permuted arrays of rank 3 and more; they are C here.
Order KeptOrder(const Context& context, const std::vector<ir::Operand>& dims,
                const Values& operands);

// The order of the view of `array` whose axis k is its axis perm[k].
Order TransposedOrder(const Context& context, const ArrayValue& array,
                      const std::vector<int64_t>& perm);

// What the argument `order` of a function that makes an array of `rank` axes says. `like` is the
// array that the new one resembles, null where there is none: None is then "C" and not "K". An
// array of another rank has no order to keep.
Order StaticOrder(Evaluator* evaluator, const Value& order, size_t rank, const Value* like);

// What an operation says that makes an array of `rank` axes in that order.
ir::Attributes OrderAttributes(Order order, size_t rank);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_MEMORY_ORDER_H_
