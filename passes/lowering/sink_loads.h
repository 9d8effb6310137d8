#ifndef PARAKEET_PASSES_LOWERING_SINK_LOADS_H_
#define PARAKEET_PASSES_LOWERING_SINK_LOADS_H_

#include "ir/node.h"

namespace parakeet::passes {

// Lets threads read what the host would read from the device for kernels alone: the host
// would wait for all that was begun before.
//
// Before:
//   %s: f64 = load %source[%t]
//   block for %b in 0 to %n step 1 { thread for %i in 0 to 256 step 1 { ... store %e[%i], %s } }
// After:
//   block for %b in 0 to %n step 1 {
//     thread for %i in 0 to 256 step 1 { %s: f64 = load %source[%t]  ... store %e[%i], %s } }
//
// Refuses: what the host needs too, or a whole block; arrays that are stored to from there on to
// the last of the kernels, or by them.
const ir::Function* SinkLoads(ir::Arena* arena, const ir::Function* function);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SINK_LOADS_H_
