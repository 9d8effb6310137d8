// Names that compiled code may import, and the table through which others ask for them (abi.h).
#ifndef PARAKEET_RUNTIME_SYMBOLS_H_
#define PARAKEET_RUNTIME_SYMBOLS_H_

#include <string>

#include "runtime/abi.h"

namespace parakeet::runtime {

// The address of a name, or null with the reason in `error`. The first name that begins with
// __kmpc_, kmp_ or omp_ binds the OpenMP library (openmp_library.h).
const void* FindSymbol(const char* name, std::string* error);

// Whether FindSymbol looks for the name in the OpenMP library.
bool IsOpenMpName(const char* name);

// Constant; the same at every call.
const PkRuntime* Table();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SYMBOLS_H_
