#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/abi.h"
#include "runtime/call.h"
#include "runtime/lapack_library.h"
#include "runtime/sort_kernels.h"
#include "runtime/symbols.h"

namespace parakeet::runtime {
namespace {

// As NumPy's kernels of numbers: the array is not looked at.
int ReverseAll(void* data, int64_t count, void* array) {
  auto* numbers = static_cast<double*>(data);
  for (int64_t i = 0; i < count / 2; ++i) std::swap(numbers[i], numbers[count - 1 - i]);
  return array == nullptr ? 0 : -1;
}

int NumberBackwards(void*, int64_t* places, int64_t count, void*) {
  for (int64_t i = 0; i < count; ++i) places[i] = count - 1 - i;
  return 3;
}

const void* FindKernel(const char* name) {
  if (std::strcmp(name, "sort_f64") == 0) return reinterpret_cast<const void*>(&ReverseAll);
  if (std::strcmp(name, "argsort_f64") == 0) return reinterpret_cast<const void*>(&NumberBackwards);
  return nullptr;
}

uint64_t Address(void* data) { return reinterpret_cast<uint64_t>(data); }

TEST(LibraryCall, SortsByTheKernelsThatAreSet) {
  SetSortKernels(FindKernel);
  constexpr int64_t kCount = 16;  // fewer are sorted without a kernel
  double numbers[kCount];
  std::iota(numbers, numbers + kCount, 1.0);
  int64_t places[kCount] = {};
  const uint64_t operands[] = {Address(numbers), kCount, Address(places), kCount};
  Call call(1);
  EXPECT_EQ(pk_library_call(&call, Table()->symbol("pk_numpy_sort_f64"), "ST", operands), 0);
  EXPECT_EQ(numbers[0], kCount);
  EXPECT_EQ(pk_library_call(&call, Table()->symbol("pk_numpy_argsort_f64"), "StK", operands), 3);
  EXPECT_EQ(places[0], kCount - 1);
  EXPECT_EQ(Table()->symbol("pk_numpy_sort_i8"), nullptr);
  EXPECT_EQ(Table()->why_missing("pk_numpy_sort_i8"),
            std::string("the installed NumPy has no kernel sort_i8"));
}

// A routine with a letter, a size, numbers, integers and the status, as a compiler of Fortran makes
// it where integers have 32 bits.
void Narrow(const char* letter, const int32_t* n, double* numbers, int32_t* integers,
            int32_t* status) {
  for (int32_t i = 0; i < *n; ++i) {
    numbers[i] += integers[i];
    integers[i] = -integers[i];
  }
  *status = *letter == 'U' ? -*n : 0;
}

void Wide(const char* letter, const int64_t* n, double* numbers, int64_t* integers,
          int64_t* status) {
  for (int64_t i = 0; i < *n; ++i) {
    numbers[i] += double(integers[i]);
    integers[i] = -integers[i];
  }
  *status = *letter == 'U' ? -*n : 0;
}

TEST(LibraryCall, PassesByReferenceInTheWidthOfTheLibrary) {
  for (const bool is_wide : {true, false}) {
    double numbers[3] = {1, 2, 3};
    int64_t integers[3] = {10, -20, 30};
    const uint64_t operands[] = {'U', 3, Address(numbers), 3, Address(integers), 3};
    const void* routine =
        is_wide ? reinterpret_cast<const void*>(&Wide) : reinterpret_cast<const void*>(&Narrow);
    EXPECT_EQ(CallFortran(routine, "unTK", operands, is_wide), -3);
    EXPECT_EQ(numbers[1], -18);
    EXPECT_EQ(integers[0], -10);
    EXPECT_EQ(integers[1], 20);
    EXPECT_EQ(integers[2], -30);
  }
}

TEST(LibraryCall, SaysThatThereIsNoLapack) {
  EXPECT_EQ(Table()->symbol("pk_lapack_dgesv"), nullptr);
  EXPECT_EQ(Table()->why_missing("pk_lapack_dgesv"),
            std::string("the installed NumPy carries no LAPACK that can be called from outside"));
}

}  // namespace
}  // namespace parakeet::runtime
