// The LAPACK that the process already has: the one that NumPy's linalg is linked to.
#ifndef PARAKEET_RUNTIME_LAPACK_LIBRARY_H_
#define PARAKEET_RUNTIME_LAPACK_LIBRARY_H_

#include <cstdint>
#include <string>

namespace parakeet::runtime {

// The address of a routine ("dgesv"), or null with the reason in `error`. NumPy must be imported.
const void* FindLapack(const char* name, std::string* error);

// True where the integers of what FindLapack found have 64 bits, not 32.
bool LapackHasWideIntegers();

// Calls a routine by Fortran's conventions: see pk_library_call (abi.h), `signature` without its
// first letter.
int64_t CallFortran(const void* routine, const char* signature, const uint64_t* operands,
                    bool has_wide_integers);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_LAPACK_LIBRARY_H_
