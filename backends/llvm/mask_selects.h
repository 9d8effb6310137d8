// Which instructions several scalar selects of floats by one comparison become on x86.
#ifndef PARAKEET_BACKENDS_LLVM_MASK_SELECTS_H_
#define PARAKEET_BACKENDS_LLVM_MASK_SELECTS_H_

#include "llvm/IR/Function.h"

namespace parakeet::backends {

// With mask registers, LLVM takes a comparison of two floats as a mask where one select alone reads
// it. Of several it makes flags, a byte of the flags, and a mask of the byte, which takes eight
// cycles in place of four: as much as a step of a loop that carries what it selects may take
// otherwise. Selects of such comparisons become those of the first lane of a register, the mask of
// which is one for all.
//
// Selects of the two numbers that are compared stay: they are min and max.
void SelectByMasks(llvm::Function& function);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_MASK_SELECTS_H_
