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

PyObject* DispatchBorrowed(FunctionState* function, int target, PyObject* const* values) {
  if (target == kNoTarget) {
    PyObject* there = FindDeviceArray(values, function->parameters.size());
    return DispatchOnDevice(function, NumberOf(there), values);
  }
  if (HasDevice(TargetOfNumber(target))) return DispatchOnDevice(function, target, values);
  return DispatchOnHost(function, Target(target), values);
}

}  // namespace

bool MayBeForeignArray(PyObject* object) {
  if (PyTuple_Check(object)) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i) {
      if (MayBeForeignArray(PyTuple_GetItem(object, i))) return true;
    }
    return false;
  }
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  const bool is_known = IsArray(object) || IsDeviceArray(object) || PyFloat_CheckExact(object) ||
                        PyLong_CheckExact(object) || object == Py_None;
  return !is_known && !PyObject_TypeCheck(object, numpy.array_type) &&
         (PyObject_HasAttrString(type, "__cuda_array_interface__") ||
          PyObject_HasAttrString(type, "__dlpack__"));
}

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
