// How masks of more lanes than a register has bytes pass from block to block on x86.
#ifndef PARAKEET_BACKENDS_LLVM_WIDE_MASKS_H_
#define PARAKEET_BACKENDS_LLVM_WIDE_MASKS_H_

#include "llvm/IR/Function.h"

namespace parakeet::backends {

// A mask of up to as many lanes as a register has bytes is a register of bytes without mask
// registers. Of one of more lanes LLVM makes a scalar for each lane where the mask is used in
// another block than its own: 64 lanes that leave a loop one by one are taken apart and put
// together in every iteration. Such masks pass as vectors of bytes, which LLVM splits into
// registers.
void PassMasksAsBytes(llvm::Function& function, unsigned bytes_of_register);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_WIDE_MASKS_H_
