// In which order an extreme of several integers, of which one is a constant, is found in loops.
#ifndef PARAKEET_BACKENDS_LLVM_CONSTANT_EXTREMES_H_
#define PARAKEET_BACKENDS_LLVM_CONSTANT_EXTREMES_H_

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Function.h"

namespace parakeet::backends {

// LLVM takes the constant of max(max(a, 0), b) last, as max(max(a, b), 0). Where b follows from
// what a loop carries, and a does not, that is one step more for each iteration to wait for, as in
// the scores of an alignment. The constant joins a there, by a comparison and a select: of extremes
// the code generator would change the order again.
void JoinConstantsFirst(llvm::Function& function, const llvm::LoopInfo& loops);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CONSTANT_EXTREMES_H_
