#include "runtime/sort_kernels.h"

namespace parakeet::runtime {
namespace {

SortKernelFinder find_kernel = nullptr;

// PyArray_SortFunc and PyArray_ArgSortFunc: the last argument is an array of the dtype, which the
// kernels of numbers do not look at.
using Sort = int (*)(void* data, int64_t count, void* array);
using ArgSort = int (*)(void* data, int64_t* places, int64_t count, void* array);

}  // namespace

void SetSortKernels(SortKernelFinder find) { find_kernel = find; }

const void* FindSortKernel(const char* name, std::string* error) {
  const void* address = find_kernel == nullptr ? nullptr : find_kernel(name);
  if (address == nullptr) *error = std::string("the installed NumPy has no kernel ") + name;
  return address;
}

int64_t CallSortKernel(const void* kernel, const char* signature, const uint64_t* operands) {
  void* const function = const_cast<void*>(kernel);
  void* const data = reinterpret_cast<void*>(operands[0]);
  const auto count = int64_t(operands[1]);
  if (signature[1] == 0) return reinterpret_cast<Sort>(function)(data, count, nullptr);
  auto* const places = reinterpret_cast<int64_t*>(operands[2]);
  return reinterpret_cast<ArgSort>(function)(data, places, count, nullptr);
}

}  // namespace parakeet::runtime
