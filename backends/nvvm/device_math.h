// A GPU's functions of mathematics: libdevice's, and one of ours (device_functions.cc).
#ifndef PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_
#define PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Of scalars: kernels have no lanes.
class DeviceMath : public MathLibrary {
 public:
  explicit DeviceMath(int architecture) : architecture_(architecture) {}
  llvm::Value* Call(Emission& emission, std::string_view name,
                    llvm::ArrayRef<llvm::Value*> operands) const override;
  // Of floats, which newer devices have an instruction for; it takes 0 for more than -0.
  llvm::Value* Extreme(Emission& emission, bool is_least, llvm::Value* a,
                       llvm::Value* b) const override;
  // Made of functions of real numbers; throws a Limitation for the inverses of those of angles.
  Number CallComplex(Emission& emission, std::string_view name,
                     llvm::ArrayRef<Number> operands) const override;

 private:
  int architecture_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_NVVM_DEVICE_MATH_H_
