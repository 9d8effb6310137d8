#include "runtime/sort_kernels.h"

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "runtime/bit_packing.h"
#include "runtime/count_sort.h"
#include "runtime/selections.h"
#include "runtime/short_rows.h"
#include "runtime/sort_in_parts.h"

namespace parakeet::runtime {
namespace {

// A kernel of NumPy's, and how it is run on the parts of an array.
struct Routine {
  using Run = int64_t (*)(PkCall* call, const void* kernel, const uint64_t* operands);

  const char* name;
  Run run;
  const char* kernel_name;
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

template <typename T>
int64_t RunStableSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  T* data = ArrayAt<T>(operands[0]);
  const auto count = int64_t(operands[1]);
  if (count <= kShortestRow) {
    SortByRanks(data, count, data);
    return 0;
  }
  if constexpr (std::is_integral_v<T>) {
    if (SortByCounting(data, count)) return 0;
  }
  return SortInParts(call, AsSort(kernel), data, count);
}

template <typename T>
int64_t RunSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  const int64_t status = RunStableSort<T>(call, kernel, operands);
  if (status == 0) PutZerosInOrder(ArrayAt<T>(operands[0]), int64_t(operands[1]));
  return status;
}

template <typename T>
int64_t RunArgSort(PkCall* call, const void* kernel, const uint64_t* operands) {
  T* const data = ArrayAt<T>(operands[0]);
  int64_t* const places = ArrayAt<int64_t>(operands[2]);
  const auto count = int64_t(operands[1]);
  if (count <= kShortestRow) {
    ArgSortByRanks(data, places, count, places);
    return 0;
  }
  if constexpr (std::is_integral_v<T>) {
    if (ArgSortByCounting(data, places, count)) return 0;
  }
  return ArgSortInParts(call, AsArgSort(kernel), data, places, count);
}

// Of elements that only the kernel can compare: one thread sorts them.
int64_t RunSortWhole(PkCall*, const void* kernel, const uint64_t* operands) {
  if (operands[1] < 2) return 0;  // Of nothing there may be no address.
  return AsSort(kernel)(ArrayAt<void>(operands[0]), int64_t(operands[1]), nullptr);
}

int64_t RunArgSortWhole(PkCall*, const void* kernel, const uint64_t* operands) {
  if (operands[1] < 2) return 0;
  return AsArgSort(kernel)(ArrayAt<void>(operands[0]), ArrayAt<int64_t>(operands[2]),
                           int64_t(operands[1]), nullptr);
}

// Elements, places, and what is made of them, as the functions of selections.h take them.
template <typename T, typename Made,
          int64_t (*kRun)(PkCall*, SortKernel, const T*, int64_t, const int64_t*, int64_t, Made*)>
int64_t RunSelection(PkCall* call, const void* kernel, const uint64_t* operands) {
  return kRun(call, AsSort(kernel), ArrayAt<const T>(operands[0]), int64_t(operands[1]),
              ArrayAt<const int64_t>(operands[2]), int64_t(operands[3]),
              ArrayAt<Made>(operands[4]));
}

// The kernel of another routine; null where NumPy has none.
const void* KernelOf(Routine::Run run);

// Of most of the elements, all are sorted.
template <typename T>
int64_t RunArgSelection(PkCall* call, const void* kernel, const uint64_t* operands) {
  const uint64_t count = operands[1], size = operands[3];
  const void* const arg_sort = KernelOf(RunArgSort<T>);
  if (arg_sort == nullptr || !AreMost(int64_t(size), int64_t(count)))
    return RunSelection<T, int64_t, RunArgSelect<T>>(call, kernel, operands);
  const PooledArray<T> keys{int64_t(count)};
  const PooledArray<int64_t> order{int64_t(count)};
  if (keys.get() == nullptr || order.get() == nullptr) return -1;
  std::copy_n(ArrayAt<const T>(operands[0]), count, keys.get());
  std::iota(order.get(), order.get() + count, int64_t{0});
  const uint64_t sorted[] = {uint64_t(keys.get()), count, uint64_t(order.get()), count};
  if (RunArgSort<T>(call, arg_sort, sorted) != 0) return -1;
  for (uint64_t i = 0; i < size; ++i) {
    ArrayAt<int64_t>(operands[4])[i] = order.get()[ArrayAt<const int64_t>(operands[2])[i]];
  }
  return 0;
}

// Elements, whether the first of eight is the lowest bit, and what is made of them.
template <void (*kRun)(const uint8_t*, int64_t, bool, uint8_t*)>
int64_t RunBits(PkCall*, const void*, const uint64_t* operands) {
  kRun(ArrayAt<const uint8_t>(operands[0]), int64_t(operands[1]), operands[2] != 0,
       ArrayAt<uint8_t>(operands[3]));
  return 0;
}

#define PARAKEET_SORTS(name, sort, stable_sort, arg_sort)                                        \
  {"sort_" name, sort, "sort_" name}, {"stable_sort_" name, stable_sort, "stable_sort_" name}, { \
    "argsort_" name, arg_sort, "argsort_" name                                                   \
  }
#define PARAKEET_WHOLE(name) PARAKEET_SORTS(name, RunSortWhole, RunSortWhole, RunArgSortWhole)
#define PARAKEET_IN_PARTS(name, T)                                                   \
  PARAKEET_SORTS(name, RunSort<T>, RunStableSort<T>, RunArgSort<T>),                 \
      {"select_" name, RunSelection<T, T, RunSelect<T>>, "sort_" name},              \
      {"argselect_" name, RunArgSelection<T>, "sort_" name},                         \
      {"partition_" name, RunSelection<T, T, RunPartition<T>>, "sort_" name}, {      \
    "argpartition_" name, RunSelection<T, int64_t, RunArgPartition<T>>, "sort_" name \
  }

// Stands for a kernel where there is none of NumPy's to be found.
constexpr char own_kernel = 0;

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
    {"packbits_bool", RunBits<PackBits>, nullptr, &own_kernel},
    {"unpackbits_u8", RunBits<UnpackBits>, nullptr, &own_kernel},
};

const void* KernelOf(Routine::Run run) {
  for (const Routine& routine : routines) {
    if (routine.run == run) return routine.kernel;
  }
  return nullptr;
}

}  // namespace

void SetSortKernels(SortKernelFinder find) {
  for (Routine& routine : routines) {
    if (routine.kernel_name != nullptr) routine.kernel = find(routine.kernel_name);
  }
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
