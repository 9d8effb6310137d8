#include "pylib/core/foreign_array.h"

#include "pylib/core/device_array.h"
#include "pylib/core/dispatch.h"
#include "pylib/core/inline_vector.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/raise.h"
#include "pylib/key.h"

namespace parakeet::pylib {

bool had_foreign_arrays = false;

namespace {

// A list of the values, with device arrays for the arrays that are on one; null with an exception
// set.
Ref Borrow(PyObject* const* values, size_t count) {
  static PyObject* borrow = nullptr;
  if (borrow == nullptr) {
    Ref module = Ref::Steal(PyImport_ImportModule("parakeet.foreign_arrays"));
    if (module) borrow = PyObject_GetAttrString(module.get(), "borrow");
    if (borrow == nullptr) return Ref();
  }
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(count)));
  for (size_t i = 0; tuple && i < count; ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref::Borrow(values[i]).release());
  }
  return tuple ? Ref::Steal(PyObject_CallFunctionObjArgs(borrow, tuple.get(), nullptr)) : Ref();
}

// Lists may hold themselves; deeper ones than this are no arguments.
constexpr int kDeepestContainer = 50;

// Of an instance alone, some say it for what of theirs is on a device.
bool SaysWhereItIs(PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  return PyObject_HasAttrString(type, "__cuda_array_interface__") ||
         PyObject_HasAttrString(type, "__dlpack__") ||
         PyObject_HasAttrString(object, "__cuda_array_interface__");
}

bool IsForeignWithin(PyObject* object, int depth) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) return false;
  const bool is_list = PyList_Check(object);
  if (is_list || PyTuple_Check(object)) {
    const Py_ssize_t length = is_list ? PyList_Size(object) : PyTuple_Size(object);
    for (Py_ssize_t i = 0; depth < kDeepestContainer && i < length; ++i) {
      PyObject* item = is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i);
      if (IsForeignWithin(item, depth + 1)) return true;
    }
    return false;
  }
  const bool is_known = IsArray(object) || IsDeviceArray(object) || object == Py_None ||
                        PyBool_Check(object) || PyComplex_CheckExact(object) ||
                        PyUnicode_Check(object) || ScalarTypeOf(object) >= 0;
  return !is_known && !PyObject_TypeCheck(object, numpy.array_type) && SaysWhereItIs(object);
}

PyObject* DispatchBorrowed(FunctionState* function, int target, PyObject* const* values) {
  if (target == kNoTarget) {
    PyObject* there = FindDeviceArray(values, function->parameters.size());
    return DispatchOnDevice(function, NumberOf(there), values);
  }
  if (HasDevice(TargetOfNumber(target))) return DispatchOnDevice(function, target, values);
  return DispatchOnHost(function, Target(target), values);
}

}  // namespace

bool MayBeForeignArray(PyObject* object) { return IsForeignWithin(object, 0); }

bool HasForeignArray(PyObject* const* values, size_t count) {
  if (!had_foreign_arrays) return false;
  for (size_t i = 0; i < count; ++i) {
    if (MayBeForeignArray(values[i])) return true;
  }
  return false;
}

PyObject* DispatchForeign(FunctionState* function, int target, PyObject* const* values) {
  const Ref borrowed = Borrow(values, function->parameters.size());
  if (!borrowed) return nullptr;
  InlineVector<PyObject*, 16> taken;
  for (Py_ssize_t i = 0; i < PyList_Size(borrowed.get()); ++i) {
    taken.Append(PyList_GetItem(borrowed.get(), i));
  }
  // What is on the host is refused.
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!MayBeForeignArray(taken[i])) continue;
    RaiseRefusal(function->function.get(), i, taken[i]);
    return nullptr;
  }
  had_foreign_arrays = true;
  return DispatchBorrowed(function, target, taken.data());
}

}  // namespace parakeet::pylib
