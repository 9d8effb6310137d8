// The functions of the runtime that compiled code calls (runtime/abi.h), declared for LLVM.
#ifndef PARAKEET_BACKENDS_LLVM_RUNTIME_CALLS_H_
#define PARAKEET_BACKENDS_LLVM_RUNTIME_CALLS_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// None of them touches memory that compiled code reads, but for what it is handed: LLVM may move
// loads and stores of arrays across them.
llvm::Function* PkAlloc(Emission& emission);
llvm::Function* PkFree(Emission& emission);
llvm::Function* PkFail(Emission& emission);
llvm::Function* PkFork(Emission& emission);
llvm::Function* PkFindStack(Emission& emission);
llvm::Function* PkTooDeep(Emission& emission);
// Said to touch all memory, so that the work before it stays before it.
llvm::Function* PkMark(Emission& emission);
// Touches whatever its operands lead to.
llvm::Function* PkLibraryCall(Emission& emission);

// For memory of a device (runtime/device_abi.h), which host code does not touch itself.
llvm::Function* PkDeviceAlloc(Emission& emission);
llvm::Function* PkDeviceFree(Emission& emission);
llvm::Function* PkDeviceRead(Emission& emission);
llvm::Function* PkDeviceWrite(Emission& emission);
llvm::Function* PkDeviceLaunch(Emission& emission);
llvm::Function* PkDeviceCopyToHost(Emission& emission);
llvm::Function* PkDeviceEndCopies(Emission& emission);
llvm::Function* PkDeviceLibraryCall(Emission& emission);
llvm::Function* PkDeviceMatmul(Emission& emission);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_RUNTIME_CALLS_H_
