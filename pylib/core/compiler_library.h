// libparakeet_compiler, opened at the first miss, so that a process whose functions are all
// compiled already never loads LLVM.
#ifndef PARAKEET_PYLIB_CORE_COMPILER_LIBRARY_H_
#define PARAKEET_PYLIB_CORE_COMPILER_LIBRARY_H_

#include <string>

#include "pylib/compiler_interface.h"

namespace parakeet::pylib {

struct CompilerLibrary {
  PkCompilerCompile compile = nullptr;
  PkCompilerInterpret interpret = nullptr;
  PkCompilerFree free = nullptr;
  PkCompilerDump dump = nullptr;
  double open_ms = 0;
};

// Null with ImportError set where the library is missing or of another build. Called with the GIL
// held; gives it up while the library is loaded.
const CompilerLibrary* OpenCompiler();
bool IsCompilerOpen();

// For what only the library itself has made.
int32_t Interpret(void* program, PkCall* call, const uint64_t* args, uint64_t* results);
void FreeProgram(void* program);

// The folder that holds `_core`, without a slash at the end; empty where it cannot be told.
const std::string& PackageFolder();

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_COMPILER_LIBRARY_H_
