#ifndef PARAKEET_FRONTEND_PY_REF_H_
#define PARAKEET_FRONTEND_PY_REF_H_

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <utility>

namespace parakeet::frontend {

// An owned reference to a Python object, or none. Made, copied and destroyed with the GIL held.
class PyRef {
 public:
  PyRef() = default;
  // Takes over a new reference (null is allowed: the call that made it failed).
  static PyRef Steal(PyObject* object) { return PyRef(object); }
  // Keeps a reference of its own to a borrowed object.
  static PyRef Borrow(PyObject* object) {
    Py_XINCREF(object);
    return PyRef(object);
  }

  PyRef(const PyRef& other) : object_(other.object_) { Py_XINCREF(object_); }
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~PyRef() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool IsNone() const { return object_ == Py_None; }

 private:
  explicit PyRef(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PY_REF_H_
