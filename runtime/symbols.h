// Names that compiled code may import, and the table through which others ask for them (abi.h).
#ifndef PARAKEET_RUNTIME_SYMBOLS_H_
#define PARAKEET_RUNTIME_SYMBOLS_H_

#include <string>

#include "runtime/abi.h"

namespace parakeet::runtime {

// The address of a name, or null with the reason in `error`. The first name that needs the OpenMP
// library binds it (openmp_library.h).
const void* FindSymbol(const char* name, std::string* error);

// Constant; the same at every call.
const PkRuntime* Table();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SYMBOLS_H_
