// A GPU's functions of mathematics: libdevice's, and what kernel_math.h makes of them.
#ifndef PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_
#define PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_

#include "backends/llvm/kernel_math.h"

namespace parakeet::backends {

class DeviceMath : public KernelMath {
 public:
  using KernelMath::KernelMath;

 private:
  llvm::Value* CallReal(Emission& emission, std::string_view name,
                        llvm::ArrayRef<llvm::Value*> operands) const override;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_
