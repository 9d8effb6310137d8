#include "runtime/sort_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/sort_in_parts.h"

namespace parakeet::runtime {
namespace {

// Of so many bytes each value is there a few times.
constexpr int64_t kFewestToCount = 1024;

// A kernel of NumPy's, and how it is run on the parts of an array.
struct Routine {
  using Run = int64_t (*)(PkCall* call, const void* kernel, const uint64_t* operands);

  const char* name;
  Run run;
  const void* kernel = nullptr;
};

SortKernel AsSort(const void* kernel) {
  return reinterpret_cast<SortKernel>(const_cast<void*>(kernel));
}

ArgSortKernel AsArgSort(const void* kernel) {
  return reinterpret_cast<ArgSortKernel>(const_cast<void*>(kernel));
}

template <typename T>
T* ArrayAt(uint64_t operand) {
  return reinterpret_cast<T*>(operand);
}

// Among equal elements, which is what the zeros are to the kernels, any order may have come out.
template <typename T>
void PutNegativeZerosFirst(T* sorted, int64_t count) {
  const auto [begin, end] =
      std::equal_range(sorted, sorted + count, T(0), [](T a, T b) { return ComesBefore(a, b); });
  const int64_t negative = std::count_if(begin, end, [](T zero) { return std::signbit(zero); });
  std::fill(begin, begin + negative, T(-0.0));
  std::fill(begin + negative, end, T(0));
}

// Numbers of one byte are counted, which is twenty times as fast as NumPy's kernels.
template <typename T>
void SortBytes(T* data, int64_t count) {
  constexpr int kLeast = std::numeric_limits<T>::min();
  int64_t counts[256] = {};
  for (int64_t i = 0; i < count; ++i) ++counts[data[i] - kLeast];
  for (int value = 0; value < 256; ++value)
    data = std::fill_n(data, counts[value], T(value + kLeast));
}

template <typename T>
int64_t RunStableSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  T* data = ArrayAt<T>(operands[0]);
  const auto count = int64_t(operands[1]);
  if constexpr (sizeof(T) == 1) {
    if (count >= kFewestToCount) {
      SortBytes(data, count);
      return 0;
    }
  }
  return SortInParts(call, AsSort(kernel), data, count);
}

template <typename T>
int64_t RunSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  const int64_t status = RunStableSort<T>(call, kernel, operands);
  if constexpr (std::is_floating_point_v<T>) {
    if (status == 0) PutNegativeZerosFirst(ArrayAt<T>(operands[0]), int64_t(operands[1]));
  }
  return status;
}

template <typename T>
int64_t RunArgSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  return ArgSortInParts(call, AsArgSort(kernel), ArrayAt<T>(operands[0]),
                        ArrayAt<int64_t>(operands[2]), int64_t(operands[1]));
}

// Of elements that only the kernel can compare: one thread sorts them.
int64_t RunSortWhole(PkCall*, const void* kernel, const uint64_t* operands) {
  return AsSort(kernel)(ArrayAt<void>(operands[0]), int64_t(operands[1]), nullptr);
}

int64_t RunArgSortWhole(PkCall*, const void* kernel, const uint64_t* operands) {
  return AsArgSort(kernel)(ArrayAt<void>(operands[0]), ArrayAt<int64_t>(operands[2]),
                           int64_t(operands[1]), nullptr);
}

#define PARAKEET_IN_PARTS(name, T)                                       \
  {"sort_" name, RunSort<T>}, {"stable_sort_" name, RunStableSort<T>}, { \
    "argsort_" name, RunArgSort<T>                                       \
  }
#define PARAKEET_WHOLE(name)                                           \
  {"sort_" name, RunSortWhole}, {"stable_sort_" name, RunSortWhole}, { \
    "argsort_" name, RunArgSortWhole                                   \
  }

Routine routines[] = {
    PARAKEET_IN_PARTS("bool", uint8_t),
    PARAKEET_IN_PARTS("i8", int8_t),
    PARAKEET_IN_PARTS("u8", uint8_t),
    PARAKEET_IN_PARTS("i16", int16_t),
    PARAKEET_IN_PARTS("u16", uint16_t),
    PARAKEET_IN_PARTS("i32", int32_t),
    PARAKEET_IN_PARTS("u32", uint32_t),
    PARAKEET_IN_PARTS("i64", int64_t),
    PARAKEET_IN_PARTS("u64", uint64_t),
    PARAKEET_IN_PARTS("f32", float),
    PARAKEET_IN_PARTS("f64", double),
    PARAKEET_WHOLE("f16"),
    PARAKEET_WHOLE("c64"),
    PARAKEET_WHOLE("c128"),
};

}  // namespace

void SetSortKernels(SortKernelFinder find) {
  for (Routine& routine : routines) routine.kernel = find(routine.name);
}

const void* FindSortRoutine(const char* name, std::string* error) {
  for (const Routine& routine : routines) {
    if (routine.kernel != nullptr && std::string(name) == routine.name) return &routine;
  }
  *error = std::string("the installed NumPy has no kernel ") + name;
  return nullptr;
}

int64_t CallSortRoutine(PkCall* call, const void* routine, const uint64_t* operands) {
  const auto* found = static_cast<const Routine*>(routine);
  return found->run(call, found->kernel, operands);
}

}  // namespace parakeet::runtime
