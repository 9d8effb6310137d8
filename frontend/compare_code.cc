#include "frontend/compare_code.h"

#include <string>

#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

PyRef Attribute(PyObject* object, const char* name) {
  return Checked(PyObject_GetAttrString(object, name));
}

bool IsCode(PyObject* object, PyObject* example) { return Py_TYPE(object) == Py_TYPE(example); }

bool Equal(PyObject* a, PyObject* b) {
  const int result = PyObject_RichCompareBool(a, b, Py_EQ);
  if (result < 0) FailFromPython();
  return result == 1;
}

bool SameAttribute(PyObject* a, PyObject* b, const char* name) {
  return Equal(Attribute(a, name).get(), Attribute(b, name).get());
}

bool SameParameters(PyObject* a, PyObject* b) {
  return SameAttribute(a, b, "co_name") && SameAttribute(a, b, "co_argcount") &&
         SameAttribute(a, b, "co_posonlyargcount") && SameAttribute(a, b, "co_kwonlyargcount");
}

bool IsSameFunction(PyObject* candidate, PyObject* code);

// 1, 1.0 and True are equal to Python, and 0.0 and -0.0; constants must be the same to the letter.
bool SameConstant(PyObject* a, PyObject* b, PyObject* some_code) {
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (IsCode(a, some_code)) return IsSameFunction(a, b);
  if (PyFloat_Check(a) || PyComplex_Check(a)) {
    return Equal(Checked(PyObject_Repr(a)).get(), Checked(PyObject_Repr(b)).get());
  }
  if (!PyTuple_Check(a)) return Equal(a, b);
  if (PyTuple_Size(a) != PyTuple_Size(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(a); ++i) {
    if (!SameConstant(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i), some_code)) return false;
  }
  return true;
}

bool SameCode(PyObject* a, PyObject* b) {
  return SameParameters(a, b) && SameAttribute(a, b, "co_code") &&
         SameAttribute(a, b, "co_names") && SameAttribute(a, b, "co_varnames") &&
         SameAttribute(a, b, "co_freevars") && SameAttribute(a, b, "co_cellvars") &&
         SameConstant(Attribute(a, "co_consts").get(), Attribute(b, "co_consts").get(), a);
}

// pytest compiles test modules from a tree in which it has replaced the assertions.
bool IsRewrittenByPytest(PyObject* code) {
  const PyRef names = Attribute(code, "co_names");
  for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) {
    const std::string name = TextOf(PyTuple_GetItem(names.get(), i));
    if (name == "@pytest_ar" || name == "@py_builtins") return true;
  }
  return false;
}

// The first `count` names of `tuple` are equal.
bool SameStart(const PyRef& a, const PyRef& b, Py_ssize_t count) {
  if (PyTuple_Size(a.get()) < count || PyTuple_Size(b.get()) < count) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!Equal(PyTuple_GetItem(a.get(), i), PyTuple_GetItem(b.get(), i))) return false;
  }
  return true;
}

bool SameHeader(PyObject* a, PyObject* b) {
  const PyRef count = Attribute(a, "co_argcount");
  return SameParameters(a, b) && SameStart(Attribute(a, "co_varnames"), Attribute(b, "co_varnames"),
                                           PyLong_AsSsize_t(count.get()));
}

bool StartsWith(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool IsSameFunction(PyObject* candidate, PyObject* code) {
  return SameCode(candidate, code) || (IsRewrittenByPytest(code) && SameHeader(candidate, code));
}

// Looks among the functions of `scope`, and in the scope that Python 3.12 makes for type
// parameters.
bool ScopeHolds(PyObject* scope, PyObject* code) {
  const PyRef constants = Attribute(scope, "co_consts");
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* const constant = PyTuple_GetItem(constants.get(), i);
    if (!IsCode(constant, code)) continue;
    const std::string name = TextOf(Attribute(constant, "co_name").get());
    if (StartsWith(name, "<generic parameters") && ScopeHolds(constant, code)) return true;
    if (IsSameFunction(constant, code)) return true;
  }
  return false;
}

}  // namespace

bool HoldsSameFunction(PyObject* module, int depth, PyObject* code) {
  PyRef scope = PyRef::Borrow(module);
  for (int i = 0; i < depth; ++i) {
    const PyRef constants = Attribute(scope.get(), "co_consts");
    PyObject* inner = nullptr;
    for (Py_ssize_t k = 0; k < PyTuple_Size(constants.get()) && inner == nullptr; ++k) {
      PyObject* const constant = PyTuple_GetItem(constants.get(), k);
      if (IsCode(constant, code)) inner = constant;
    }
    if (inner == nullptr) return false;
    scope = PyRef::Borrow(inner);
  }
  return ScopeHolds(scope.get(), code);
}

bool HoldsSameFunctionAnywhere(PyObject* module, PyObject* code) {
  const PyRef constants = Attribute(module, "co_consts");
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* const constant = PyTuple_GetItem(constants.get(), i);
    if (!IsCode(constant, code)) continue;
    if (SameAttribute(constant, code, "co_firstlineno") && IsSameFunction(constant, code)) {
      return true;
    }
    if (HoldsSameFunctionAnywhere(constant, code)) return true;
  }
  return false;
}

}  // namespace parakeet::frontend
