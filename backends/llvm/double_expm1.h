// exp(x) - 1 and tanh(x) of doubles, or of lanes of them, without a branch.
#ifndef PARAKEET_BACKENDS_LLVM_DOUBLE_EXPM1_H_
#define PARAKEET_BACKENDS_LLVM_DOUBLE_EXPM1_H_

#include "llvm/IR/IRBuilder.h"

namespace parakeet::backends {

// Beyond, exp(x) may be more or less than what is a normal number.
inline constexpr double kMostOfExpm1 = 700;

// Both take code without fast-math flags, which would make nothing of what is shifted back and
// forth. exp(x) - 1 of what is no farther from 0 than kMostOfExpm1; 0 becomes 0.
llvm::Value* EmitDoubleExpm1(llvm::IRBuilder<>& builder, llvm::Value* x);

// Of any x. Within 2.6 units in the last place (of 7 million numbers).
llvm::Value* EmitDoubleTanh(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_DOUBLE_EXPM1_H_
