// What a number that is asked for two bounds, `0 <= k < n`, costs.
#ifndef PARAKEET_BACKENDS_LLVM_UNSIGNED_BOUNDS_H_
#define PARAKEET_BACKENDS_LLVM_UNSIGNED_BOUNDS_H_

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace parakeet::backends {

// LLVM makes one comparison of `k >= 0 and k < n` where it knows that n is not negative, as sizes
// are, and four instructions more of it otherwise. Where n is made outside the loop, it is also
// compared with the greater of n and 0, which is made there: `k >= 0 and k < n` is then `k <
// max(n, 0)` of unsigned numbers, whatever n is. The same of `k < 0 or k >= n`.
void JoinBounds(llvm::Function& function, const llvm::LoopInfo& loops);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_UNSIGNED_BOUNDS_H_
