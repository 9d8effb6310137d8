// Which processor this is, as far as compiled code depends on it.
#ifndef PARAKEET_RUNTIME_CPU_IDENTITY_H_
#define PARAKEET_RUNTIME_CPU_IDENTITY_H_

#include <string>

namespace parakeet::runtime {

// Bytes that are equal on processors of one model with the same instructions, as the system enables
// them: all that LLVM chooses its host by. The same in every process and on every core; costs
// microseconds and asks no library.
std::string CpuIdentity();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CPU_IDENTITY_H_
