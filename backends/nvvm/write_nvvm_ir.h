// LLVM modules as text in the dialect of libNVVM: LLVM 7's, with pointers that have element types.
#ifndef PARAKEET_BACKENDS_NVVM_WRITE_NVVM_IR_H_
#define PARAKEET_BACKENDS_NVVM_WRITE_NVVM_IR_H_

#include <string>

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// The text of a module for GPUs, as LowerForNvvm leaves it. Kernels are the functions that the
// metadata nvvm.annotations calls so.
//
// Every pointer is written as a pointer to bytes, and cast where it is used: element types of ours
// would be guesses, and libNVVM's first pass undoes the casts. Metadata says what LLVM 7 reads:
// scopes of aliases, ranges, invariant loads, hints for loops. Other metadata, and attributes and
// flags that LLVM 7 does not know, only permit, so they are left out.
//
// Throws a Limitation that names the instruction, constant, type or intrinsic it cannot write.
std::string WriteNvvmIr(const llvm::Module& module);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_WRITE_NVVM_IR_H_
