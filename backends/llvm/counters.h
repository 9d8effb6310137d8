#ifndef PARAKEET_BACKENDS_LLVM_COUNTERS_H_
#define PARAKEET_BACKENDS_LLVM_COUNTERS_H_

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::backends {

// Adds the counters of a `while`: i64s that it carries, which begin as small constants or as
// counters of a loop around it, and which each step moves by at most 1024, begins anew or leaves.
// No program runs long enough to have one wrap around. So are the sums that move them, and what
// branches choose of these.
void FindCounters(const ir::Binding& loop, ir::VarSet& counters);

// True for a sum or difference of a counter and a small constant.
bool IsCount(const ir::Binding& b, const ir::VarSet& counters);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_COUNTERS_H_
