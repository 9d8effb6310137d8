// exp(x) - 1 and what is made like it, of floats or doubles, or of lanes of them, without a branch.
#ifndef PARAKEET_BACKENDS_LLVM_EXPM1_SERIES_H_
#define PARAKEET_BACKENDS_LLVM_EXPM1_SERIES_H_

#include "llvm/IR/IRBuilder.h"

namespace parakeet::backends {

// Each of any x, within 3 units in the last place. The host's vector library takes longer.
llvm::Value* EmitExpm1(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* EmitTanh(llvm::IRBuilder<>& builder, llvm::Value* x);
// The inverse hyperbolic cosine, of floats alone.
llvm::Value* EmitFloatAcosh(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EXPM1_SERIES_H_
