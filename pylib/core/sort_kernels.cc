#include "pylib/core/sort_kernels.h"

#include <cstdint>
#include <cstring>
#include <string_view>

#include "pylib/core/numpy_access.h"
#include "runtime/sort_kernels.h"

namespace parakeet::pylib {
namespace {

// Places in NumPy's function table.
enum TablePlace { kGetVersion = 0, kGetArrayFunctions = 365 };
constexpr unsigned kVersion2 = 0x2000000;

// PyArray_Descr of NumPy 1 as far as its functions.
struct OldDescriptor {
  DescriptorFields fields;
  int item_size;
  int alignment;
  void* subarray;
  void* names[2];
  void** functions;
};

// Places in PyArray_ArrFuncs, in pointers: 21 casts and 12 others come before.
enum FunctionIndex { kSort = 33, kStableSort = 35, kArgSort = 36, kStableArgSort = 38 };

// How the IR calls the dtypes.
struct SortedType {
  const char* name;
  int type;
};
constexpr SortedType kTypes[] = {
    {"bool", kBool},     {"i8", kInt8},         {"u8", kUint8},    {"i16", kInt16},
    {"u16", kUint16},    {"i32", kInt32},       {"u32", kUint32},  {"i64", kInt64},
    {"u64", kUint64},    {"f16", kFloat16},     {"f32", kFloat32}, {"f64", kFloat64},
    {"c64", kComplex64}, {"c128", kComplex128},
};

struct KernelName {
  const char* name;
  FunctionIndex place;
};
constexpr KernelName kKernels[] = {
    {"stable_sort_", kStableSort}, {"argsort_", kStableArgSort}, {"sort_", kSort}};

void** functions_of[kTypeNumbers] = {};

using Sort = int (*)(void* elements, intptr_t count, void* array);
using ArgSort = int (*)(void* elements, intptr_t* order, intptr_t count, void* array);

ArgSort ArgSortOf(int type, FunctionIndex place) {
  return reinterpret_cast<ArgSort>(functions_of[type][place]);
}

// Runs of so few are sorted sooner than the kernel begins.
constexpr intptr_t kFew = 16;

int SortRun(intptr_t* order, intptr_t count, void* array) {
  if (count > kFew) return reinterpret_cast<Sort>(functions_of[kInt64][kSort])(order, count, array);
  for (intptr_t i = 1; i < count; ++i) {
    const intptr_t moved = order[i];
    intptr_t place = i;
    for (; place > 0 && order[place - 1] > moved; --place) order[place] = order[place - 1];
    order[place] = moved;
  }
  return 0;
}

// NumPy's vectorised kernel for numbers of 32 and 64 bits is not stable: equal elements, and nans,
// stand beside one another, and their indexes are sorted after it.
template <typename T, int type>
int SortIndexes(void* elements, intptr_t* order, intptr_t count, void* array) {
  if (count < 2) return 0;
  if (const int status = ArgSortOf(type, kArgSort)(elements, order, count, array)) return status;
  const T* values = static_cast<const T*>(elements);
  T above = values[order[0]];
  for (intptr_t i = 1; i < count; ++i) {
    const T value = values[order[i]];
    if (above < value) {
      above = value;
      continue;
    }
    const auto is_same = [above](T x) { return x == above || (x != x && above != above); };
    const intptr_t begin = i - 1;
    while (i < count && is_same(values[order[i]])) ++i;
    if (const int status = SortRun(order + begin, i - begin, array)) return status;
    if (i < count) above = values[order[i]];
  }
  return 0;
}

const void* IndexSorterOf(int type) {
  switch (type) {
    case kInt32: return reinterpret_cast<const void*>(&SortIndexes<int32_t, kInt32>);
    case kUint32: return reinterpret_cast<const void*>(&SortIndexes<uint32_t, kUint32>);
    case kInt64: return reinterpret_cast<const void*>(&SortIndexes<int64_t, kInt64>);
    case kUint64: return reinterpret_cast<const void*>(&SortIndexes<uint64_t, kUint64>);
    case kFloat32: return reinterpret_cast<const void*>(&SortIndexes<float, kFloat32>);
    case kFloat64: return reinterpret_cast<const void*>(&SortIndexes<double, kFloat64>);
    default: return functions_of[type][kStableArgSort];
  }
}

const void* FindKernel(const char* name) {
  const std::string_view text = name;
  for (const KernelName& kernel : kKernels) {
    const size_t length = std::strlen(kernel.name);
    if (text.substr(0, length) != kernel.name) continue;
    for (const SortedType& type : kTypes) {
      if (text.substr(length) != type.name || functions_of[type.type] == nullptr) continue;
      if (kernel.place == kStableArgSort) return IndexSorterOf(type.type);
      return functions_of[type.type][kernel.place];
    }
  }
  return nullptr;
}

void** FunctionsOf(void** table, PyObject* descriptor) {
  const auto get_version = reinterpret_cast<unsigned (*)()>(table[kGetVersion]);
  if (get_version() < kVersion2)
    return reinterpret_cast<const OldDescriptor*>(descriptor)->functions;
  return reinterpret_cast<void** (*)(PyObject*)>(table[kGetArrayFunctions])(descriptor);
}

}  // namespace

void LoadSortKernels(void** table) {
  for (int type = 0; type < kTypeNumbers; ++type) {
    PyObject* descriptor = numpy.descriptors[type];
    if (descriptor != nullptr) functions_of[type] = FunctionsOf(table, descriptor);
  }
  runtime::SetSortKernels(FindKernel);
}

}  // namespace parakeet::pylib
