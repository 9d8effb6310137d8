// Linear equations and triangular factors of matrices of few rows: our own kernels in place of
// LAPACK's gesv and getrf, whose calls take several times as long as what they compute.
#ifndef PARAKEET_RUNTIME_FEW_ROWS_H_
#define PARAKEET_RUNTIME_FEW_ROWS_H_

#include <cstdint>
#include <optional>

namespace parakeet::runtime {

inline constexpr int64_t kFewRows = 8;

// A routine with the operands of pk_library_call (abi.h). Gives the status that LAPACK gives, or
// nothing, with nothing done, where the matrix has more rows than kFewRows, is not square, or holds
// what is not finite.
using FewRowsKernel = std::optional<int64_t> (*)(const uint64_t* operands);

// The kernel for a routine of LAPACK by name ("dgesv"); null for others.
FewRowsKernel FewRowsKernelNamed(const char* name);

// Says that a kernel stands in for the routine at that address, if there is one for its name.
void StandInForRoutine(const char* name, const void* routine);

// The kernel that stands in for the routine; null where none does. Thread-safe, as is the above.
FewRowsKernel FewRowsKernelFor(const void* routine);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_FEW_ROWS_H_
