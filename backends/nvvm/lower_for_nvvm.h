// A module for GPUs in terms that LLVM 7 knows, of which libNVVM is made.
#ifndef PARAKEET_BACKENDS_NVVM_LOWER_FOR_NVVM_H_
#define PARAKEET_BACKENDS_NVVM_LOWER_FOR_NVVM_H_

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// Rewrites intrinsics and instructions that are younger than LLVM 7, or that libNVVM does not take,
// as others: smallest and largest of integers as a comparison and a selection, functions of floats
// as libdevice's (which is not linked yet), `fneg` as a subtraction, `freeze` as an instruction of
// PTX that copies, halves as floats and back by intrinsics, atomic loads and stores as volatile
// ones, fences as barriers of memory. What is a hint is dropped. Leaves what it does not know,
// which WriteNvvmIr refuses.
void LowerForNvvm(llvm::Module& module);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_LOWER_FOR_NVVM_H_
