// Kernels for NVIDIA's GPUs, a text of PTX for each.
#ifndef PARAKEET_BACKENDS_NVVM_CUDA_RUNNER_H_
#define PARAKEET_BACKENDS_NVVM_CUDA_RUNNER_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backends/llvm/kernel_runner.h"
#include "backends/llvm/merge_functions.h"
#include "backends/nvvm/device_math.h"
#include "backends/nvvm/make_ptx.h"

namespace parakeet::backends {

class CudaRunner : public KernelRunner {
 public:
  explicit CudaRunner(int architecture) : math_(architecture) {}

  const MathLibrary& math() const override { return math_; }
  bool IsHost() const override { return false; }
  llvm::Value* Context(Emission& emission, llvm::Function* kernel) const override;
  llvm::Value* BlockNumber(Emission& emission, llvm::Value* context) const override;
  llvm::Value* ThreadNumber(Emission& emission, llvm::Value* context) const override;
  void Barrier(Emission& emission, llvm::Value* context) const override;
  void WarpBarrier(Emission& emission, llvm::Value* context) const override;
  llvm::Value* Match(Emission& emission, llvm::Value* context, llvm::Value* number,
                     int bits) const override;
  llvm::Value* Shuffle(Emission& emission, llvm::Value* context, llvm::Value* number,
                       llvm::Value* lane) const override;
  llvm::Value* Shared(Emission& emission, llvm::Value* context, int64_t offset) const override;
  llvm::Function* Fail(Emission& emission) const override;
  llvm::Function* Allocate(Emission& emission) const override;
  llvm::Function* Free(Emission& emission) const override;
  void Check(Emission&, llvm::Value*, llvm::Value*, int64_t, int) const override {}
  void Fence(Emission& emission) const override;
  llvm::Constant* Describe(Emission& emission, llvm::Function* kernel,
                           const KernelTraits& traits) override;

  // Takes the kernels out of the module, behind all emission, and has PTX made of them by other
  // threads. `options` outlive that.
  void TakeKernels(Emission& emission, const CompileOptions& options);

  // Waits for the PTX and defines what host code knows of kernels, the text with it: in the host's
  // module, or in another that is linked with it. To be called once. Returns the text.
  std::string DefineKernels(llvm::Module& module);

  bool HasKernels() const { return !described_.empty(); }

 private:
  struct Described {
    llvm::Function* kernel;  // until it is taken
    llvm::GlobalVariable* constant;
    KernelTraits traits;
    bool is_new;  // None before, of another module, has this kernel.
    std::string name = {};
  };

  void Define(const Described& kernel, llvm::GlobalVariable* text, int64_t bytes,
              llvm::Module& module);

  DeviceMath math_;
  std::vector<Described> described_;
  std::unique_ptr<PtxInMaking> ptx_;
  // Of kernels that run alike, what says the same is one.
  std::map<KernelTraits, FunctionMerger> mergers_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_CUDA_RUNNER_H_
