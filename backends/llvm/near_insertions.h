// Registers made of one float stand where the conversion is that takes them, on x86.
#ifndef PARAKEET_BACKENDS_LLVM_NEAR_INSERTIONS_H_
#define PARAKEET_BACKENDS_LLVM_NEAR_INSERTIONS_H_

#include "llvm/IR/Function.h"

namespace parakeet::backends {

// LLVM's quick selection of instructions converts the float itself, in the place of the register
// that it was put into. If that was in another block, and the float goes nowhere else from there,
// what it then converts is a register that nothing was written to.
void InsertNear(llvm::Function& function);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_NEAR_INSERTIONS_H_
