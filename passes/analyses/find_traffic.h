#ifndef PARAKEET_PASSES_ANALYSES_FIND_TRAFFIC_H_
#define PARAKEET_PASSES_ANALYSES_FIND_TRAFFIC_H_

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// What running a nest of index form takes by its own account, as i64 values; -1 where the sizes
// before it do not say.
struct Traffic {
  // Of arrays from outside that are read, and that are written: each element of a place once,
  // however often it is touched, and no more of an array than there is.
  ir::Operand bytes;
  // Arithmetic on floats: a function counts as one, fma as two, complex arithmetic as what it is
  // made of. Both sides of a branch count; comparisons, selections and conversions do not.
  ir::Operand operations;
};

// Appends to `builder`, which stands before the nest, what computes the two.
Traffic TrafficOf(const ir::Binding& nest, ir::Builder& builder);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_TRAFFIC_H_
