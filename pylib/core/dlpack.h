// DLPack: arrays of a device as other libraries take and give them (`__dlpack__`), without a copy.
#ifndef PARAKEET_PYLIB_CORE_DLPACK_H_
#define PARAKEET_PYLIB_CORE_DLPACK_H_

#include "pylib/python.h"

namespace parakeet::pylib {

// dlpack_export(device_array, is_versioned, is_copy): a capsule "dltensor", or
// "dltensor_versioned", which says whether the array is read-only, and whether it is a copy that
// nobody else has. It keeps the memory alive until its deleter has been called, by whoever takes it
// over or by the capsule.
PyObject* ExportDlpack(PyObject*, PyObject* args);

// dlpack_import(capsule): takes a capsule "dltensor" or "dltensor_versioned" over. An owner of it,
// its device's type and number, the address of its first element, its shape, its strides in bytes,
// the text of its dtype as NumPy writes it, and whether it is read-only. BufferError for types that
// NumPy has not.
PyObject* ImportDlpack(PyObject*, PyObject* capsule);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DLPACK_H_
