#ifndef PARAKEET_FRONTEND_COMPILE_SOURCE_H_
#define PARAKEET_FRONTEND_COMPILE_SOURCE_H_

#include <string>

#include "frontend/py_ref.h"

namespace parakeet::frontend {

// What became of a compilation: an object, or none. Every Exception of Python's is an answer here,
// since we try sources that may not be the right ones; what is not an Exception (KeyboardInterrupt)
// is thrown on.
struct Compiled {
  PyRef object;              // null where Python raised
  bool is_too_deep = false;  // it raised RecursionError or MemoryError
};

// `ast` objects of `text`. `mode` is "exec" or "eval". Python's warnings are off meanwhile: the
// user has seen them.
Compiled ParseSource(const std::string& text, const char* mode);

// The code object of a Module of `ast` objects. `flags` are the ones of `__future__` features.
Compiled CompileModule(PyObject* module, int flags);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_COMPILE_SOURCE_H_
