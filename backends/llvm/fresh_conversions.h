// Conversions of integers to floats that wait for nothing that ran before, on x86.
#ifndef PARAKEET_BACKENDS_LLVM_FRESH_CONVERSIONS_H_
#define PARAKEET_BACKENDS_LLVM_FRESH_CONVERSIONS_H_

#include "llvm/Analysis/LoopInfo.h"

namespace parakeet::backends {

// A conversion keeps the upper half of a register, and so waits for whatever wrote that last. LLVM
// takes one that the function does not use; a function that is called, as log, may well have. Each
// call would then wait for the one before it. In loops that call, conversions take a register that
// has just been cleared. Needs AVX-512, whose instruction says which register that is.
void ConvertFresh(const llvm::LoopInfo& loops);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_FRESH_CONVERSIONS_H_
