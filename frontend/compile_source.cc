#include "frontend/compile_source.h"

#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

// ast.PyCF_ONLY_AST; importing `ast` for it would take milliseconds.
constexpr int kOnlyAst = 0x400;

// Takes the exception that is set, if it is an Exception.
Compiled Failed() {
  Compiled result;
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) FailFromPython();
  result.is_too_deep = PyErr_ExceptionMatches(PyExc_RecursionError) != 0 ||
                       PyErr_ExceptionMatches(PyExc_MemoryError) != 0;
  PyErr_Clear();
  return result;
}

// Switches Python's warnings off while it lives.
class WarningsOff {
 public:
  WarningsOff() {
    const PyRef warnings = Checked(PyImport_ImportModule("warnings"));
    manager_ = Checked(PyObject_CallMethod(warnings.get(), "catch_warnings", nullptr));
    Checked(PyObject_CallMethod(manager_.get(), "__enter__", nullptr));
    // From here on the destructor does not run if this throws; so nothing may.
    const PyRef done =
        PyRef::Steal(PyObject_CallMethod(warnings.get(), "simplefilter", "s", "ignore"));
    if (!done) PyErr_Clear();
  }
  ~WarningsOff() {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    const PyRef done = PyRef::Steal(
        PyObject_CallMethod(manager_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
    if (!done) PyErr_Clear();
    PyErr_Restore(type, value, traceback);
  }
  WarningsOff(const WarningsOff&) = delete;
  WarningsOff& operator=(const WarningsOff&) = delete;

 private:
  PyRef manager_;
};

// Python before 3.11.5 counts the depth of syntax trees for all threads together, and takes two
// threads that convert one at the same time for a bug of its own (python/cpython#106905).
constexpr int kTries = 10;

bool ThreadsMetInATree(const PyRef& result) {
  if (result || PyErr_ExceptionMatches(PyExc_SystemError) == 0) return false;
  PyErr_Clear();
  return true;
}

Compiled Compile(PyObject* source, const char* mode, int flags) {
  Compiled result;
  {
    const WarningsOff quiet;
    const PyRef builtins = Checked(PyImport_ImportModule("builtins"));
    int tries = 0;
    do {
      // compile(source, filename, mode, flags, dont_inherit=True)
      result.object = PyRef::Steal(PyObject_CallMethod(builtins.get(), "compile", "OssiO", source,
                                                       "<parakeet>", mode, flags, Py_True));
    } while (++tries < kTries && ThreadsMetInATree(result.object));
  }
  return result.object ? result : Failed();
}

}  // namespace

Compiled ParseSource(const std::string& text, const char* mode) {
  const PyRef source =
      PyRef::Steal(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
  return source ? Compile(source.get(), mode, kOnlyAst) : Failed();
}

Compiled CompileModule(PyObject* module, int flags) { return Compile(module, "exec", flags); }

}  // namespace parakeet::frontend
