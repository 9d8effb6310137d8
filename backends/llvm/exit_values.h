// What loops leave behind, for passes that make counters of other loops' starts.
#ifndef PARAKEET_BACKENDS_LLVM_EXIT_VALUES_H_
#define PARAKEET_BACKENDS_LLVM_EXIT_VALUES_H_

#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/ValueHandle.h"

namespace parakeet::backends {

// Where a loop begins with what the one before it has come to, as a copy does behind a search,
// LLVM's strength reduction sees through to that loop, and has it count each place that the next
// one begins at. While the values that loops leave are hidden, these are made of them in between.
std::vector<llvm::WeakTrackingVH> HideExitValues(llvm::LoopInfo& loops, llvm::DominatorTree& tree);

// Takes away what hides them, as far as it is still there.
void ShowExitValues(llvm::ArrayRef<llvm::WeakTrackingVH> hidden);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EXIT_VALUES_H_
