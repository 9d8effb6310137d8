#include "pylib/core/raise.h"

#include <utility>

#include "pylib/core/results.h"
#include "runtime/abi.h"
#include "runtime/device.h"

namespace parakeet::pylib {
namespace {

// Calls parakeet.errors.<name>(arguments...). `arguments` may be null, with an exception set.
Ref CallErrors(const char* name, Ref arguments) {
  Ref module = arguments ? Ref::Steal(PyImport_ImportModule("parakeet.errors")) : Ref();
  Ref function = module ? Ref::Steal(PyObject_GetAttrString(module.get(), name)) : Ref();
  return function ? Ref::Steal(PyObject_CallObject(function.get(), arguments.get())) : Ref();
}

// As above, of a function that raises.
void CallRaiser(const char* name, Ref arguments) {
  if (CallErrors(name, std::move(arguments))) {
    PyErr_Format(PyExc_SystemError, "parakeet.errors.%s has not raised", name);
  }
}

// What the message's holes take, a tuple. Numbers that have a Python type of their own are shown as
// Python's, others as NumPy's.
Ref ScalarsOf(const ErrorSite& site, const runtime::ErrorRecord& error) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(site.scalar_types.size())));
  size_t slot = 0;
  for (size_t i = 0; tuple && i < site.scalar_types.size(); ++i) {
    const int type = site.scalar_types[i];
    const size_t slots = IsComplexType(type) ? 2 : 1;
    if (slot + slots > error.scalars.size()) return Ref();
    const bool python = type == kBool || type == kInt64 || type == kFloat64 || type == kComplex128;
    const auto* bits = reinterpret_cast<const uint64_t*>(error.scalars.data() + slot);
    Ref scalar = Ref::Steal(BuildScalar(type, python, bits));
    if (!scalar) return scalar;
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), scalar.release());
    slot += slots;
  }
  return tuple;
}

void RaiseReserved(const runtime::ErrorRecord& error) {
  const long long scalar = error.scalars.empty() ? 0 : error.scalars[0];
  if (error.site == kPkSiteRecursion) {
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded");
  } else if (error.site == kPkSiteDevice) {
    PyErr_SetString(PyExc_RuntimeError, runtime::DeviceErrorText(int32_t(scalar)).c_str());
  } else if (!RaiseIfTooBig(scalar)) {
    PyErr_Format(PyExc_MemoryError, "cannot allocate %lld bytes", scalar);
  }
}

}  // namespace

bool RaiseIfTooBig(int64_t bytes) {
  if (bytes >= 0) return false;
  PyErr_SetString(PyExc_ValueError,
                  "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum "
                  "possible size.");
  return true;
}

void RaiseRunError(const Manifest& manifest, const runtime::ErrorRecord& error) {
  if (error.site < 0) return RaiseReserved(error);
  if (size_t(error.site) >= manifest.sites.size()) {
    PyErr_Format(PyExc_SystemError, "compiled code failed at site %d of %zu", error.site,
                 manifest.sites.size());
    return;
  }
  const ErrorSite& site = manifest.sites[error.site];
  Ref scalars = ScalarsOf(site, error);
  if (!scalars && !PyErr_Occurred()) {
    PyErr_SetString(PyExc_SystemError, "an error has fewer scalars than its message");
  }
  if (!scalars) return;
  Ref pair = CallErrors(
      "error_at_site",
      Ref::Steal(Py_BuildValue("(ssOssiiii)", site.exception.c_str(), site.message.c_str(),
                               scalars.get(), site.file.c_str(), site.function.c_str(), site.line,
                               site.column, site.end_line, site.end_column)));
  if (!pair) return;
  // Called from here, so that no frame of ours is in the traceback.
  PyObject *exception = PyTuple_GetItem(pair.get(), 0), *thrower = PyTuple_GetItem(pair.get(), 1);
  if (exception == nullptr || thrower == nullptr) return;
  Ref never = Ref::Steal(PyObject_CallFunctionObjArgs(thrower, exception, nullptr));
}

void RaiseDeviceError(const std::string& message) {
  Ref module = Ref::Steal(PyImport_ImportModule("parakeet.errors"));
  Ref kind = module ? Ref::Steal(PyObject_GetAttrString(module.get(), "DeviceError")) : Ref();
  if (kind) PyErr_SetString(kind.get(), message.c_str());
}

void RaiseRefusal(PyObject* function, size_t index, PyObject* value) {
  CallRaiser("refuse_argument",
             Ref::Steal(Py_BuildValue("(OnO)", function, Py_ssize_t(index), value)));
}

void RaiseBindingError(PyObject* function, PyObject* const* arguments, size_t positional,
                       PyObject* names, uint64_t skipped) {
  Ref tuple = Ref::Steal(PyTuple_New(Py_ssize_t(positional)));
  Ref keywords = Ref::Steal(PyDict_New());
  if (!tuple || !keywords) return;
  for (size_t i = 0; i < positional; ++i) {
    PyTuple_SetItem(tuple.get(), Py_ssize_t(i), Ref::Borrow(arguments[i]).release());
  }
  const Py_ssize_t count = names == nullptr ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i < 64 && (skipped >> i & 1) != 0) continue;
    PyObject* value = arguments[positional + i];
    if (PyDict_SetItem(keywords.get(), PyTuple_GetItem(names, i), value) != 0) return;
  }
  CallRaiser("raise_binding_error",
             Ref::Steal(Py_BuildValue("(OOO)", function, tuple.get(), keywords.get())));
}

}  // namespace parakeet::pylib
