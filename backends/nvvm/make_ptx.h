// PTX from kernels as LLVM functions.
#ifndef PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
#define PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "backends/compile.h"
#include "backends/llvm/cut_module.h"
#include "llvm/IR/Module.h"

namespace parakeet::backends {

// A function (context, captures) of a module that holds host code too; it does not use its context.
struct KernelEntry {
  llvm::Function* function;
  int64_t capture_bytes;
  int64_t threads;  // of a block, at most
  int64_t blocks;   // that are to fit on a multiprocessor, whatever registers they would take
};

// PTX in the making: kernels in modules of their own, under their names and with their captures as
// one parameter by value, compiled for options.gpu_architecture with what they call of libdevice.
// By LLVM's code generator, in options.threads threads where there is enough code, while the caller
// goes on, or by libNVVM where options.libnvvm_files says so, when the text is asked for
// (libnvvm.h: what that throws). What either does not know yet runs code for the newest
// architecture that it knows.
class PtxInMaking {
 public:
  // Copies the kernels out of the module, which may change from then on. `options` outlive it.
  PtxInMaking(llvm::Module& module, const std::vector<KernelEntry>& kernels,
              const CompileOptions& options);

  // Waits for it. To be asked for once.
  std::string Take();

 private:
  std::future<std::string> Make(const Piece& piece, bool is_part) const;

  const CompileOptions& options_;
  std::vector<Piece> pieces_;  // which texts are made of
  std::vector<std::future<std::string>> texts_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_MAKE_PTX_H_
