#include "runtime/abi.h"
#include "runtime/few_rows.h"
#include "runtime/lapack_library.h"
#include "runtime/sort_kernels.h"

extern "C" int64_t pk_library_call(PkCall* call, const void* routine, const char* signature,
                                   const uint64_t* operands) {
  namespace runtime = parakeet::runtime;
  if (signature[0] != 'L') return runtime::CallSortRoutine(call, routine, operands);
  if (const auto kernel = runtime::FewRowsKernelFor(routine)) {
    if (const auto status = kernel(operands)) return *status;
  }
  return runtime::CallFortran(routine, signature + 1, operands, runtime::LapackHasWideIntegers());
}
