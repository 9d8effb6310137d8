// Lanes of i64 as doubles and back, by their bits: most processors have no instruction for it.
#ifndef PARAKEET_BACKENDS_LLVM_LANE_DOUBLES_H_
#define PARAKEET_BACKENDS_LLVM_LANE_DOUBLES_H_

#include "backends/llvm/emission.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace parakeet::backends {

// All below holds for whole numbers below 2 ** kExactBits, whatever their sign, that are vectors of
// i64 or doubles.
inline constexpr unsigned kExactBits = 50;

// Zero bits where the number is below.
llvm::Value* BitsBeyondExact(llvm::IRBuilder<>& builder, llvm::Value* words, bool is_signed);
// Whether all lanes of doubles, rounded to whole numbers, are below.
llvm::Value* AreBelowExact(llvm::IRBuilder<>& builder, llvm::Value* doubles);

llvm::Value* WordsToDoubles(llvm::IRBuilder<>& builder, llvm::Value* words);
llvm::Value* DoublesToWords(llvm::IRBuilder<>& builder, llvm::Value* doubles);

// What `quick` makes where the condition holds, and else `slow`.
llvm::Value* ChooseWay(Emission& emission, llvm::Value* condition,
                       llvm::function_ref<llvm::Value*()> quick,
                       llvm::function_ref<llvm::Value*()> slow);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_LANE_DOUBLES_H_
