#include "frontend/python_errors.h"

#include "ir/diagnostics.h"

namespace parakeet::frontend {

PythonError TakePythonError() {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const PyRef type_ref = PyRef::Steal(type);
  const PyRef value_ref = PyRef::Steal(value);
  const PyRef traceback_ref = PyRef::Steal(traceback);
  PythonError error{"SystemError", "a call into Python failed without an exception"};
  if (!type_ref) return error;
  error.message.clear();
  const PyRef name = PyRef::Steal(PyObject_GetAttrString(type_ref.get(), "__name__"));
  if (name) TryTextOf(name.get(), &error.type);
  const PyRef message = PyRef::Steal(value_ref ? PyObject_Str(value_ref.get()) : nullptr);
  if (message) TryTextOf(message.get(), &error.message);
  PyErr_Clear();
  return error;
}

void FailFromPython(ir::Span span) {
  const PythonError error = TakePythonError();
  ir::FailUser(error.type, error.message, span);
}

PyRef Checked(PyObject* new_reference, ir::Span span) {
  if (new_reference == nullptr) FailFromPython(span);
  return PyRef::Steal(new_reference);
}

bool TryTextOf(PyObject* string, std::string* text) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_Check(string) ? PyUnicode_AsUTF8AndSize(string, &size) : nullptr;
  if (data == nullptr) {
    PyErr_Clear();
    return false;
  }
  text->assign(data, static_cast<size_t>(size));
  return true;
}

std::string TextOf(PyObject* string, ir::Span span) {
  std::string text;
  if (!PyUnicode_Check(string)) ir::FailUser("TypeError", "expected a string", span);
  if (!TryTextOf(string, &text)) {
    ir::FailUser("ValueError", "a string with lone surrogates is not valid text", span);
  }
  return text;
}

std::string TextAttribute(PyObject* object, const char* name) {
  const PyRef found = PyRef::Steal(PyObject_GetAttrString(object, name));
  std::string text;
  if (found) TryTextOf(found.get(), &text);
  PyErr_Clear();
  return text;
}

}  // namespace parakeet::frontend
