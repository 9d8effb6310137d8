// PTX from kernels as LLVM functions.
#ifndef PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
#define PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"

namespace parakeet::backends {

// A function (context, captures) of a module that holds host code too; it does not use its context.
struct KernelEntry {
  llvm::Function* function;
  int64_t capture_bytes;
  int64_t threads;  // of a block, at most
};

// The kernels in a module of their own, under their names and with their captures as one parameter
// by value, compiled for an architecture (90: compute capability 9.0) with what they call of
// libdevice. What LLVM does not know yet runs the newest that it knows.
std::string MakePtx(const llvm::Module& module, const std::vector<KernelEntry>& kernels,
                    int architecture);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
