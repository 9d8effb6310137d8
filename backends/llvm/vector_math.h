// The host's functions of mathematics: libm for scalars, libmvec for lanes.
#ifndef PARAKEET_BACKENDS_LLVM_VECTOR_MATH_H_
#define PARAKEET_BACKENDS_LLVM_VECTOR_MATH_H_

#include <functional>
#include <utility>

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Lanes go to libmvec in registers of the given width, wider vectors in several and narrower ones
// padded with their first lane; what libmvec lacks goes to libm lane by lane. A lane's value does
// not depend on its place, nor on what is in the others.
class HostMath : public MathLibrary {
 public:
  // 128, 256 or 512; has_function as CompileOptions::has_vector_function.
  HostMath(int vector_bits, std::function<bool(const char*)> has_function)
      : vector_bits_(vector_bits), has_function_(std::move(has_function)) {}

  llvm::Value* Call(Emission& emission, std::string_view name,
                    llvm::ArrayRef<llvm::Value*> operands) const override;
  llvm::Value* FirstIfBeyond(Emission& emission, bool is_least, llvm::Value* a,
                             llvm::Value* b) const override;
  llvm::Value* LookUp(Emission& emission, llvm::Constant* table,
                      llvm::Value* indexes) const override;
  Number CallComplex(Emission& emission, std::string_view name,
                     llvm::ArrayRef<Number> operands) const override;

 private:
  int vector_bits_;
  std::function<bool(const char*)> has_function_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_VECTOR_MATH_H_
