// Where functions return that call nothing on some way through.
#ifndef PARAKEET_BACKENDS_LLVM_RETURN_APART_H_
#define PARAKEET_BACKENDS_LLVM_RETURN_APART_H_

#include "llvm/IR/Function.h"

namespace parakeet::backends {

// Of functions for which it pays.
inline constexpr const char* kReturnsApart = "parakeet-returns-apart";

// LLVM lets a function return at one place, which ways without and with calls come to: registers
// are then saved and restored on both. Ways on which nothing has been called return by themselves,
// and all others at one place behind them, so that only these need a frame.
void ReturnApart(llvm::Function& function);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_RETURN_APART_H_
