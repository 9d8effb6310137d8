#include "pylib/core/numpy_access.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "pylib/core/sort_kernels.h"
#include "runtime/buffers.h"

namespace parakeet::pylib {

NumpyApi numpy;

namespace {

// NumPy's PyDataMem_Handler, version 1.
struct MemoryHandler {
  char name[127];
  uint8_t version;
  struct {
    void* context;
    void* (*malloc)(void*, size_t);
    void* (*calloc)(void*, size_t, size_t);
    void* (*realloc)(void*, void*, size_t);
    void (*free)(void*, void*, size_t);
  } allocator;
};

MemoryHandler handler = {
    "parakeet",
    1,
    {nullptr, runtime::NumpyMalloc, runtime::NumpyCalloc, runtime::NumpyRealloc,
     runtime::NumpyFree},
};

// Places in NumPy's function table; the table only grows.
enum ApiIndex {
  kArrayType = 2,
  kDescrFromType = 45,
  kScalar = 60,
  kNewFromDescr = 94,
  kSetBase = 282
};

bool FailImport(const char* why) {
  PyErr_Format(PyExc_ImportError, "parakeet cannot work with this NumPy: %s", why);
  return false;
}

void** ImportTable() {
  Ref module = Ref::Steal(PyImport_ImportModule("numpy._core._multiarray_umath"));
  if (!module) {
    // NumPy 1 has it under another name.
    PyErr_Clear();
    module = Ref::Steal(PyImport_ImportModule("numpy.core._multiarray_umath"));
  }
  if (!module) return nullptr;
  Ref capsule = Ref::Steal(PyObject_GetAttrString(module.get(), "_ARRAY_API"));
  if (!capsule) return nullptr;
  return static_cast<void**>(PyCapsule_GetPointer(capsule.get(), nullptr));
}

bool LoadTypes(void** table) {
  const auto from_type = reinterpret_cast<PyObject* (*)(int)>(table[kDescrFromType]);
  for (int type = 0; type < kTypeNumbers; ++type) {
    if (CanonicalType(type) < 0) continue;
    numpy.descriptors[type] = from_type(type);
    if (numpy.descriptors[type] == nullptr) return false;
    const auto* fields = reinterpret_cast<const DescriptorFields*>(numpy.descriptors[type]);
    if (fields->type != type) return FailImport("descriptors are laid out differently");
    numpy.scalar_types[type] = fields->scalar_type;
    void* allocator = PyType_GetSlot(fields->scalar_type, Py_tp_alloc);
    if (allocator == nullptr) return FailImport("scalars have no allocator");
    numpy.scalar_allocators[type] = reinterpret_cast<allocfunc>(allocator);
  }
  return true;
}

// The integer attribute `name`, or -1.
int64_t IntegerOf(PyObject* object, const char* name) {
  Ref value = Ref::Steal(PyObject_GetAttrString(object, name));
  return value ? PyLong_AsLongLong(value.get()) : -1;
}

bool HasSizes(PyObject* array, const char* name, const Py_ssize_t* fields, int rank) {
  Ref tuple = Ref::Steal(PyObject_GetAttrString(array, name));
  if (!tuple || PyTuple_Size(tuple.get()) != rank) return false;
  for (int k = 0; k < rank; ++k) {
    if (PyLong_AsSsize_t(PyTuple_GetItem(tuple.get(), k)) != fields[k]) return false;
  }
  return true;
}

// A strided view that does not start where its base does: each field has a value of its own.
bool CheckArray(PyObject* base, PyObject* array) {
  const ArrayFields* fields = FieldsOf(array);
  Ref flags = Ref::Steal(PyObject_GetAttrString(array, "flags"));
  Ref dtype = Ref::Steal(PyObject_GetAttrString(array, "dtype"));
  Ref ctypes = Ref::Steal(PyObject_GetAttrString(array, "ctypes"));
  if (!flags || !dtype || !ctypes) return false;
  if (IntegerOf(ctypes.get(), "data") != reinterpret_cast<int64_t>(fields->data)) return false;
  if (fields->rank != 2 || IntegerOf(flags.get(), "num") != fields->flags) return false;
  if (!HasSizes(array, "shape", fields->sizes, 2)) return false;
  if (!HasSizes(array, "strides", fields->strides, 2)) return false;
  if (fields->base != base) return false;
  if (reinterpret_cast<PyObject*>(fields->descriptor) != dtype.get()) return false;
  return PyCapsule_IsValid(FieldsOf(base)->memory_handler, "mem_handler") != 0;
}

bool CheckLayout() {
  const char* different = "arrays are laid out differently";
  Ref type = Ref::Borrow(reinterpret_cast<PyObject*>(numpy.array_type));
  if (IntegerOf(type.get(), "__basicsize__") < int64_t(sizeof(ArrayFields))) {
    return FailImport(different);
  }
  const Py_ssize_t base_sizes[] = {3, 4}, sizes[] = {2, 2};
  Py_INCREF(numpy.descriptors[kInt32]);
  Ref base = Ref::Steal(numpy.new_from_descr(numpy.array_type, numpy.descriptors[kInt32], 2,
                                             base_sizes, nullptr, nullptr, 0, nullptr));
  if (!base) return false;
  const Py_ssize_t strides[] = {16, -8};
  Py_INCREF(numpy.descriptors[kInt32]);
  Ref view = Ref::Steal(numpy.new_from_descr(numpy.array_type, numpy.descriptors[kInt32], 2, sizes,
                                             strides, FieldsOf(base.get())->data + 12, 0, nullptr));
  if (!view) return false;
  Py_INCREF(base.get());
  if (numpy.set_base(view.get(), base.get()) != 0) return false;
  const bool is_same = CheckArray(base.get(), view.get());
  PyErr_Clear();
  return is_same || FailImport(different);
}

bool CheckScalars() {
  const double value = 1.5;
  uint64_t slot = 0;
  std::memcpy(&slot, &value, sizeof(value));
  Ref theirs = Ref::Steal(numpy.scalar(&value, numpy.descriptors[kFloat64], nullptr));
  Ref ours = Ref::Steal(MakeScalar(kFloat64, &slot));
  Ref python = Ref::Steal(PyFloat_FromDouble(value));
  if (!theirs || !ours || !python) return false;
  // What float64 derives from; ExpectedCall reads it in place.
  bool is_same = std::memcmp(ScalarData(python.get()), &value, sizeof(value)) == 0;
  for (const Ref& scalar : {theirs, ours}) {
    is_same &= ScalarTypeOf(scalar.get()) == kFloat64 &&
               std::memcmp(ScalarData(scalar.get()), &value, sizeof(value)) == 0;
  }
  return is_same || FailImport("scalars are laid out differently");
}

// Whether each axis has a longer stride than those before it, but for axes of length 1.
bool StridesGrow(const ArrayFields* array) {
  int64_t before = 0;
  for (int axis = 0; axis < array->rank; ++axis) {
    const int64_t stride = std::llabs(array->strides[axis]);
    if (array->sizes[axis] == 1) continue;
    if (stride <= before) return false;
    before = stride;
  }
  return array->rank > 1;
}

template <typename T>
uint64_t Load(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return uint64_t(int64_t(value));  // sign-extended where T is signed
}

}  // namespace

bool LoadNumpy() {
  void** table = ImportTable();
  if (table == nullptr) return false;
  numpy.array_type = static_cast<PyTypeObject*>(table[kArrayType]);
  std::memcpy(&numpy.new_from_descr, &table[kNewFromDescr], sizeof(void*));
  std::memcpy(&numpy.scalar, &table[kScalar], sizeof(void*));
  std::memcpy(&numpy.set_base, &table[kSetBase], sizeof(void*));
  numpy.memory_handler = PyCapsule_New(&handler, "mem_handler", nullptr);
  if (numpy.memory_handler == nullptr || !LoadTypes(table)) return false;
  LoadSortKernels(table);
  return CheckLayout() && CheckScalars();
}

ArrayLayout LayoutOf(const ArrayFields* array) {
  if (array->flags & kFlagC) return ArrayLayout::kC;
  if (array->flags & kFlagFortran) return ArrayLayout::kFortran;
  return StridesGrow(array) ? ArrayLayout::kFortranStrides : ArrayLayout::kStrided;
}

PyObject* MakeScalar(int type, const uint64_t* slots) {
  if (type == kBool) {  // There is one object for each of the two.
    const char value = slots[0] != 0;
    return numpy.scalar(&value, numpy.descriptors[type], nullptr);
  }
  PyObject* scalar = numpy.scalar_allocators[type](numpy.scalar_types[type], 0);
  if (scalar != nullptr) SlotsToScalar(type, slots, const_cast<void*>(ScalarData(scalar)));
  return scalar;
}

int ScalarTypeOf(PyObject* object) {
  // The most frequent first.
  static constexpr int kOrder[] = {kFloat64,    kInt64,     kFloat32,  kInt32,    kBool,   kUint8,
                                   kUint64,     kUint32,    kInt8,     kInt16,    kUint16, kFloat16,
                                   kComplex128, kComplex64, kLongLong, kULongLong};
  const PyTypeObject* type = Py_TYPE(object);
  for (int candidate : kOrder) {
    if (numpy.scalar_types[candidate] == type) return CanonicalType(candidate);
  }
  return -1;
}

int ScalarToSlots(int type, const void* value, uint64_t* slots) {
  switch (type) {
    case kInt8: slots[0] = Load<int8_t>(value); return 1;
    case kInt16: slots[0] = Load<int16_t>(value); return 1;
    case kInt32: slots[0] = Load<int32_t>(value); return 1;
    case kBool:
    case kUint8: slots[0] = Load<uint8_t>(value); return 1;
    case kFloat16:
    case kUint16: slots[0] = Load<uint16_t>(value); return 1;
    case kFloat32:
    case kUint32: slots[0] = Load<uint32_t>(value); return 1;
    case kComplex64:
      slots[0] = Load<uint32_t>(value);
      slots[1] = Load<uint32_t>(static_cast<const char*>(value) + 4);
      return 2;
    case kComplex128: std::memcpy(slots, value, 16); return 2;
    default: std::memcpy(slots, value, 8); return 1;
  }
}

void SlotsToScalar(int type, const uint64_t* slots, void* value) {
  if (type == kComplex64) {
    std::memcpy(value, &slots[0], 4);
    std::memcpy(static_cast<char*>(value) + 4, &slots[1], 4);
    return;
  }
  // Little-endian: the low bytes come first. Each length is a constant, and no call.
  switch (SizeOfType(type)) {
    case 1: std::memcpy(value, slots, 1); break;
    case 2: std::memcpy(value, slots, 2); break;
    case 4: std::memcpy(value, slots, 4); break;
    case 16: std::memcpy(value, slots, 16); break;
    default: std::memcpy(value, slots, 8); break;
  }
}

}  // namespace parakeet::pylib
