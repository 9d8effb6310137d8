// NumPy's arrays and scalars as structs in memory, and the few functions of its C API that results
// need. Reading fields directly costs nanoseconds, the buffer protocol hundreds; their places have
// not moved since NumPy 1.22 and are checked against probes when `_core` is imported.
#ifndef PARAKEET_PYLIB_CORE_NUMPY_ACCESS_H_
#define PARAKEET_PYLIB_CORE_NUMPY_ACCESS_H_

#include <cstdint>

#include "pylib/key.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// The beginning of PyArray_Descr; what follows moved in NumPy 2.
struct DescriptorFields {
  PyObject head;
  PyTypeObject* scalar_type;
  char kind;
  char letter;
  char byte_order;
  char flags;
  int type;
};

// PyArrayObject_fields.
struct ArrayFields {
  PyObject head;
  char* data;
  int rank;
  Py_ssize_t* sizes;
  Py_ssize_t* strides;
  PyObject* base;
  DescriptorFields* descriptor;
  int flags;
  PyObject* weak_references;
  void* buffer_info;
  PyObject* memory_handler;
};

enum ArrayFlag : int {
  kFlagC = 0x1,
  kFlagFortran = 0x2,
  kFlagOwnData = 0x4,
  kFlagAligned = 0x100,
  kFlagWritable = 0x400,
};

inline constexpr int kTypeNumbers = 24;

struct NumpyApi {
  PyTypeObject* array_type = nullptr;
  PyObject* (*new_from_descr)(PyTypeObject*, PyObject* descr, int rank, const Py_ssize_t* sizes,
                              const Py_ssize_t* strides, void* data, int flags,
                              PyObject* like) = nullptr;  // steals descr
  PyObject* (*scalar)(const void* data, PyObject* descr, PyObject*) = nullptr;
  int (*set_base)(PyObject* array, PyObject* base) = nullptr;  // steals base
  PyObject* memory_handler = nullptr;  // a capsule: results give their memory back to our pool
  // By type number; null where there is none. Owned for the life of the process.
  PyObject* descriptors[kTypeNumbers] = {};
  PyTypeObject* scalar_types[kTypeNumbers] = {};
  allocfunc scalar_allocators[kTypeNumbers] = {};
};

extern NumpyApi numpy;

// Imports NumPy, fills `numpy` and checks the structs above. False with ImportError set.
bool LoadNumpy();

inline bool IsArray(PyObject* object) { return Py_TYPE(object) == numpy.array_type; }
inline const ArrayFields* FieldsOf(PyObject* array) {
  return reinterpret_cast<const ArrayFields*>(array);
}

// What a key says of how an array lies in memory.
ArrayLayout LayoutOf(const ArrayFields* array);

// A NumPy scalar of a canonical type; null with an exception set.
PyObject* MakeScalar(int type, const uint64_t* slots);

// The canonical type of a NumPy scalar, or -1 for any other object.
int ScalarTypeOf(PyObject* object);
// Where the value of a NumPy scalar lies, and that of a Python float.
inline const void* ScalarData(PyObject* scalar) {
  return reinterpret_cast<const char*>(scalar) + sizeof(PyObject);
}

// A scalar's value as slots of the ABI (runtime/abi.h), one or two of them; and back, to memory of
// the type's size.
int ScalarToSlots(int type, const void* value, uint64_t* slots);
void SlotsToScalar(int type, const uint64_t* slots, void* value);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_NUMPY_ACCESS_H_
