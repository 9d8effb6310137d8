// Python's C API as both libraries use it: the limited API of 3.11, and owned references.
#ifndef PARAKEET_PYLIB_PYTHON_H_
#define PARAKEET_PYLIB_PYTHON_H_

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <utility>

namespace parakeet::pylib {

// An owned reference, or none. Made, copied and destroyed with the GIL held.
class Ref {
 public:
  Ref() = default;
  // Takes over a new reference; null is allowed: the call that made it failed.
  static Ref Steal(PyObject* object) { return Ref(object); }
  // Keeps a reference of its own to a borrowed object; null is allowed.
  static Ref Borrow(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }

  Ref(const Ref& other) : object_(other.object_) { Py_XINCREF(object_); }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}

  PyObject* object_ = nullptr;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_PYTHON_H_
