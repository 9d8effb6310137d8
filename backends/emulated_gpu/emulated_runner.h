// Kernels that the runtime runs on the host, a thread of a block at a time.
#ifndef PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_RUNNER_H_
#define PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_RUNNER_H_

#include "backends/emulated_gpu/emulated_math.h"
#include "backends/llvm/kernel_runner.h"

namespace parakeet::backends {

class EmulatedRunner : public KernelRunner {
 public:
  // `host` outlives the runner.
  explicit EmulatedRunner(const MathLibrary* host) : math_(host) {}

  const MathLibrary& math() const override { return math_; }
  bool IsHost() const override { return true; }
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
  void Check(Emission& emission, llvm::Value* context, llvm::Value* address, int64_t bytes,
             int access) const override;
  void Fence(Emission& emission) const override;
  llvm::Constant* Describe(Emission& emission, llvm::Function* kernel,
                           const KernelTraits& traits) override;

 private:
  EmulatedMath math_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_RUNNER_H_
