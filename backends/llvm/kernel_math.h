// The mathematics of kernels, a GPU's and the emulated one's: what is the same on both, made of the
// functions of real numbers that each has.
#ifndef PARAKEET_BACKENDS_LLVM_KERNEL_MATH_H_
#define PARAKEET_BACKENDS_LLVM_KERNEL_MATH_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Of scalars: kernels have no lanes.
class KernelMath : public MathLibrary {
 public:
  // For GPUs of a compute capability: 90 for 9.0.
  explicit KernelMath(int architecture) : architecture_(architecture) {}

  // As CallReal, but tanh of doubles is ours.
  llvm::Value* Call(Emission& emission, std::string_view name,
                    llvm::ArrayRef<llvm::Value*> operands) const final;
  // Of floats, which newer devices have an instruction for; it takes 0 for more than -0.
  llvm::Value* Extreme(Emission& emission, bool is_least, llvm::Value* a,
                       llvm::Value* b) const final;
  // Made of functions of real numbers; throws a Limitation for the inverses of those of angles.
  Number CallComplex(Emission& emission, std::string_view name,
                     llvm::ArrayRef<Number> operands) const final;

 private:
  // As MathLibrary::Call.
  virtual llvm::Value* CallReal(Emission& emission, std::string_view name,
                                llvm::ArrayRef<llvm::Value*> operands) const = 0;

  int architecture_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_KERNEL_MATH_H_
