// Functions of complex numbers, made of those of real ones.
#ifndef PARAKEET_BACKENDS_LLVM_COMPLEX_MATH_H_
#define PARAKEET_BACKENDS_LLVM_COMPLEX_MATH_H_

#include <optional>

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// C's function of that name ("cexp"), with functions of real numbers from `math`, of scalars. What
// C says of nan and infinite parts holds where numbers have a limit there. Nothing for a function
// that is not known here.
std::optional<Number> CallByParts(Emission& emission, const MathLibrary& math,
                                  std::string_view name, llvm::ArrayRef<Number> operands);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_COMPLEX_MATH_H_
