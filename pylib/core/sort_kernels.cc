#include "pylib/core/sort_kernels.h"

#include <cstring>
#include <string_view>

#include "pylib/core/numpy_access.h"
#include "runtime/sort_kernels.h"

namespace parakeet::pylib {
namespace {

// Places in NumPy's function table.
enum ApiIndex { kGetVersion = 0, kGetArrayFunctions = 365 };
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
enum FunctionIndex { kSort = 33, kStableSort = 35, kStableArgSort = 38 };

// How the IR calls the dtypes.
struct TypeName {
  const char* name;
  int type;
};
constexpr TypeName kTypes[] = {
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

const void* FindKernel(const char* name) {
  const std::string_view text = name;
  for (const KernelName& kernel : kKernels) {
    const size_t length = std::strlen(kernel.name);
    if (text.substr(0, length) != kernel.name) continue;
    for (const TypeName& type : kTypes) {
      if (text.substr(length) != type.name || functions_of[type.type] == nullptr) continue;
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
