#include <cstdint>
#include <cstdlib>
#include <utility>

#include "frontend/python_errors.h"
#include "frontend/resolve.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

PyRef Get(PyObject* object, const char* name, const ir::Span& span) {
  return Checked(PyObject_GetAttrString(object, name), span);
}

bool Flag(PyObject* flags, const char* name, const ir::Span& span) {
  return PyObject_IsTrue(Get(flags, name, span).get()) == 1;
}

// Whether every number in a list, at any depth, is Python's.
bool HoldsPythonNumbers(PyObject* object) {
  if (!PyList_Check(object)) {
    return PyBool_Check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) ||
           PyComplex_CheckExact(object);
  }
  for (Py_ssize_t i = 0; i < PyList_Size(object); ++i) {
    if (!HoldsPythonNumbers(PyList_GetItem(object, i))) return false;
  }
  return true;
}

ir::DType DTypeOfArray(PyObject* array, const std::string& name, const ir::Span& span) {
  const PyRef descriptor = Get(array, "dtype", span);
  const bool is_native = Flag(descriptor.get(), "isnative", span);
  const PyRef number = Get(descriptor.get(), "num", span);
  const auto dtype = ir::DTypeFromNumpy(static_cast<int>(PyLong_AsLong(number.get())));
  if (dtype && is_native) return *dtype;
  const PyRef text = Checked(PyObject_Str(descriptor.get()), span);
  ir::FailUser("TypeError",
               "'" + name + "' is an array of " + TextOf(text.get()) +
                   (dtype ? ", whose bytes are not in this machine's order; convert it with "
                            ".astype"
                          : "; arrays hold bools, integers, floats or complex numbers"),
               span);
}

// As pylib/core says it of an argument.
bool StridesGrow(PyObject* array, const Argument& argument, const ir::Span& span) {
  const PyRef strides = Get(array, "strides", span);
  int64_t before = 0;
  for (size_t axis = 0; axis < argument.unit_axes.size(); ++axis) {
    const auto item = PyTuple_GetItem(strides.get(), static_cast<Py_ssize_t>(axis));
    const int64_t stride = std::llabs(PyLong_AsLongLong(item));
    if (argument.unit_axes[axis]) continue;
    if (stride <= before) return false;
    before = stride;
  }
  return argument.unit_axes.size() > 1;
}

}  // namespace

Argument Resolver::Describe(PyObject* object, const std::string& name, const ir::Span& span) {
  if (IsOnDevice(object)) {
    ir::FailUser("TypeError",
                 "'" + name +
                     "' is an array on a device, which a function takes as an argument "
                     "and not from outside; pass it to the function",
                 span);
  }
  const bool is_list = PyList_Check(object);
  const PyRef numpy = Checked(PyImport_ImportModule("numpy"), span);
  const PyRef ndarray = Get(numpy.get(), "ndarray", span);
  PyRef array = PyRef::Borrow(object);
  if (is_list) array = Checked(PyObject_CallMethod(numpy.get(), "array", "O", object), span);
  if (reinterpret_cast<PyObject*>(Py_TYPE(array.get())) != ndarray.get()) {
    ir::FailUser("TypeError",
                 "'" + name + "' is " + NameOfObject(object) +
                     ", a subclass of ndarray; convert it with np.asarray",
                 span);
  }
  Argument argument;
  argument.kind = Argument::Kind::kArray;
  argument.dtype = DTypeOfArray(array.get(), name, span);
  const PyRef shape = Get(array.get(), "shape", span);
  for (Py_ssize_t i = 0; i < PyTuple_Size(shape.get()); ++i) {
    argument.unit_axes.push_back(PyLong_AsLong(PyTuple_GetItem(shape.get(), i)) == 1);
  }
  const PyRef flags = Get(array.get(), "flags", span);
  argument.layout = Flag(flags.get(), "c_contiguous", span)   ? ir::Layout::kC
                    : Flag(flags.get(), "f_contiguous", span) ? ir::Layout::kFortran
                                                              : ir::Layout::kStrided;
  argument.strides_grow =
      argument.layout == ir::Layout::kStrided && StridesGrow(array.get(), argument, span);
  argument.writable = Flag(flags.get(), "writeable", span);
  argument.aligned = Flag(flags.get(), "aligned", span);
  argument.is_list = is_list;
  argument.python = is_list && HoldsPythonNumbers(object);
  return argument;
}

}  // namespace parakeet::frontend
