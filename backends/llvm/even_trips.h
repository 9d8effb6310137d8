// Whether the trips of a parallel loop take much the same time.
#ifndef PARAKEET_BACKENDS_LLVM_EVEN_TRIPS_H_
#define PARAKEET_BACKENDS_LLVM_EVEN_TRIPS_H_

#include "ir/node.h"

namespace parakeet::backends {

// True where the loops inside run as often in each trip, but for the last. Not so for
// `for j in i + 1 to n`, for rows as long as elements say, and for `while` loops.
bool HasEvenTrips(const ir::Binding& loop);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EVEN_TRIPS_H_
