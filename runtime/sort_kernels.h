// NumPy's sort kernels, which are vectorised for the machine. The runtime knows no NumPy: whoever
// has imported it says where they are.
#ifndef PARAKEET_RUNTIME_SORT_KERNELS_H_
#define PARAKEET_RUNTIME_SORT_KERNELS_H_

#include <cstdint>
#include <string>

namespace parakeet::runtime {

// Where the kernel called "sort_f64", "stable_sort_f64" or "argsort_f64" is, or null. Set once,
// before any call.
using SortKernelFinder = const void* (*)(const char* name);
void SetSortKernels(SortKernelFinder find);

const void* FindSortKernel(const char* name, std::string* error);

// Calls it: see pk_library_call (abi.h), `signature` without its first letter.
int64_t CallSortKernel(const void* kernel, const char* signature, const uint64_t* operands);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SORT_KERNELS_H_
