#ifndef PARAKEET_PYLIB_COMPILER_DUMP_H_
#define PARAKEET_PYLIB_COMPILER_DUMP_H_

#include <string>

#include "pylib/compiler/compilation.h"

namespace parakeet::pylib {

// The text that people ask for, of a compilation whose program is built.
//   "ir"    at `stage`: "parallel" (or nothing), "indexed", "scheduled": as the last pass of that
//           stage leaves it; or after the pass of that name, as it last ran
//   "llvm"  after LLVM's passes
//   "asm"   assembly
//   "account"  what became of the source, as JSON (write_account.h)
// Throws a UserError (ValueError) for another `what` or a stage that there is not.
std::string Dump(Compilation* compilation, const std::string& what, const std::string& stage);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_DUMP_H_
