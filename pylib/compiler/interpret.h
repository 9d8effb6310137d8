// target="interpreter": a program of the frontend, run as compiled code is.
#ifndef PARAKEET_PYLIB_COMPILER_INTERPRET_H_
#define PARAKEET_PYLIB_COMPILER_INTERPRET_H_

#include <cstdint>

#include "ir/node.h"
#include "runtime/abi.h"

namespace parakeet::pylib {

// As a PkEntry (runtime/abi.h); results are copied into buffers of the call. Throws ir::Failure of
// kind kBug. May be called without the GIL.
int32_t InterpretCall(const ir::Program& program, const PkRuntime& runtime, PkCall* call,
                      const uint64_t* args, uint64_t* results);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_INTERPRET_H_
