// A module from a program.
#ifndef PARAKEET_BACKENDS_LLVM_EMIT_PROGRAM_H_
#define PARAKEET_BACKENDS_LLVM_EMIT_PROGRAM_H_

#include <string_view>

#include "backends/llvm/emission.h"
#include "ir/node.h"

namespace parakeet::backends {

// The symbol of the entry function in the module and its object.
inline constexpr const char* kEntrySymbol = "parakeet_entry";

// Writes the program's first function as kEntrySymbol and every function that a call names. Throws
// a Bug where the program is not of the scheduled stage after vectorize_loops.
void EmitProgram(Emission& emission, const ir::Program& program);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_EMIT_PROGRAM_H_
