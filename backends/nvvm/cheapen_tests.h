#ifndef PARAKEET_BACKENDS_NVVM_CHEAPEN_TESTS_H_
#define PARAKEET_BACKENDS_NVVM_CHEAPEN_TESTS_H_

#include <string>

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// The conditions of loops, in the operations of which a GPU does most at a time. Meaning is kept to
// the bit, nan included. To be run last: LLVM's passes would undo it.
//
// A double that is nan or not below 0 is held against a positive constant as its bits, an integer:
// units for doubles are few. A 64-bit integer is held against a constant of 32 bits as
// (low ^ constant) | high, which is one operation and its test.
void CheapenTests(llvm::Module& module);

// PTX in which the lowest bit is tested against 0: of LLVM's test against 1 ptxas makes three
// operations instead of one.
std::string TestBitsAgainstZero(std::string ptx);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_CHEAPEN_TESTS_H_
