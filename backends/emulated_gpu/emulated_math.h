// The emulated GPU's functions of mathematics: a GPU's own formulas, of the host's functions of
// real numbers.
#ifndef PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_MATH_H_
#define PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_MATH_H_

#include "backends/llvm/kernel_math.h"

namespace parakeet::backends {

class EmulatedMath : public KernelMath {
 public:
  // `host` outlives it.
  explicit EmulatedMath(const MathLibrary* host) : KernelMath(kArchitecture), host_(*host) {}

 private:
  // Of the GPU that it stands for.
  static constexpr int kArchitecture = 90;

  llvm::Value* CallReal(Emission& emission, std::string_view name,
                        llvm::ArrayRef<llvm::Value*> operands) const override {
    return host_.Call(emission, name, operands);
  }

  const MathLibrary& host_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_EMULATED_GPU_EMULATED_MATH_H_
