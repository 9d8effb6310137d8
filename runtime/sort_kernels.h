// Sorting: NumPy's kernels, which are vectorised for the machine, on parts of an array, a thread
// each; the sorted parts are then merged. The runtime knows no NumPy: whoever has imported it says
// where the kernels are.
//
// No bit of a result depends on the number of threads. What "sort" leaves open is settled: -0 comes
// before 0. "stable_sort" and "argsort" keep equal elements in order.
//
// "select", "argselect", "partition" and "argpartition" are our own (selections.h); NumPy's sort
// what is little.
#ifndef PARAKEET_RUNTIME_SORT_KERNELS_H_
#define PARAKEET_RUNTIME_SORT_KERNELS_H_

#include <cstdint>
#include <string>

#include "runtime/abi.h"

namespace parakeet::runtime {

// Where the kernel called "sort_f64", "stable_sort_f64" or "argsort_f64" is, or null. Set once,
// before any call.
using SortKernelFinder = const void* (*)(const char* name);
void SetSortKernels(SortKernelFinder find);

// The routine of that name, for CallSortRoutine; null, with the reason, where NumPy has no kernel.
const void* FindSortRoutine(const char* name, std::string* error);

// Calls it: see pk_library_call (abi.h).
int64_t CallSortRoutine(PkCall* call, const void* routine, const uint64_t* operands);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SORT_KERNELS_H_
