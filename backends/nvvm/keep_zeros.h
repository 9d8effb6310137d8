#ifndef PARAKEET_BACKENDS_NVVM_KEEP_ZEROS_H_
#define PARAKEET_BACKENDS_NVVM_KEEP_ZEROS_H_

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// Selects of a number and a zero, by a comparison of the two. LLVM makes min and max of them, which
// take -0.0 to be less than 0.0 on a GPU: `x if x < 0.0 else 0.0` of -0.0 would be -0.0. Written as
// what is not so, `0.0 if not x < 0.0 else x`, they stay selects. Those of which min or max has the
// same bits stay as they are, as `x if x > 0.0 else 0.0`. To be run behind LLVM's passes.
void KeepZeros(llvm::Module& module);

// The same for libNVVM, whose own passes come later and would turn them back: the comparison and
// the choice as instructions of PTX, which no pass looks into.
void KeepZerosInPtx(llvm::Module& module);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_KEEP_ZEROS_H_
