// Which arrays lie on the stack.
#ifndef PARAKEET_BACKENDS_LLVM_STACK_ARRAYS_H_
#define PARAKEET_BACKENDS_LLVM_STACK_ARRAYS_H_

#include <cstdint>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::backends {

inline constexpr int64_t kStackAlignment = 64;
inline constexpr int64_t kThreadAlignment = 16;  // in a kernel

// Small arrays of fixed sizes, allocated in a loop, of which nothing but elements is used: a frame
// has room for them, and LLVM keeps in registers what it finds there.
ir::VarSet FindStackArrays(const ir::Function& function);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_STACK_ARRAYS_H_
