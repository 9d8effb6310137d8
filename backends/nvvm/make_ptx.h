// PTX from kernels as LLVM functions.
#ifndef PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
#define PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "llvm/IR/Module.h"

namespace parakeet::backends {

// A function (context, captures) of a module that holds host code too; it does not use its context.
struct KernelEntry {
  llvm::Function* function;
  int64_t capture_bytes;
  int64_t threads;  // of a block, at most
  int64_t blocks;   // that are to fit on a multiprocessor, whatever registers they would take
};

// The kernels in a module of their own, under their names and with their captures as one parameter
// by value, compiled for options.gpu_architecture with what they call of libdevice. By LLVM's code
// generator, in options.threads threads where there is enough code, or by libNVVM where
// options.libnvvm_files says so (libnvvm.h: what that throws). What either does not know yet runs
// code for the newest architecture that it knows.
std::string MakePtx(llvm::Module& module, const std::vector<KernelEntry>& kernels,
                    const CompileOptions& options);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
