#ifndef PARAKEET_FRONTEND_PYTHON_ERRORS_H_
#define PARAKEET_FRONTEND_PYTHON_ERRORS_H_

#include <string>

#include "frontend/py_ref.h"
#include "ir/span.h"

namespace parakeet::frontend {

// The Python exception that is set, taken out of the interpreter.
struct PythonError {
  std::string type;     // "SyntaxError"
  std::string message;  // its str(), empty where that fails
};

// Clears the exception that is set and returns what it said.
PythonError TakePythonError();

// Turns the exception that is set into a UserError of the same type and message.
[[noreturn]] void FailFromPython(ir::Span span = {});

// A new reference that a call into Python returned; a failure of the call becomes a UserError.
PyRef Checked(PyObject* new_reference, ir::Span span = {});

// The text of a Python string in UTF-8. False where it cannot be written so (lone surrogates), with
// no exception set.
bool TryTextOf(PyObject* string, std::string* text);

// As TryTextOf; what is no string, or has lone surrogates, is a UserError.
std::string TextOf(PyObject* string, ir::Span span = {});

// The text of attribute `name`; empty where the object has none, or where it is no text.
std::string TextAttribute(PyObject* object, const char* name);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PYTHON_ERRORS_H_
