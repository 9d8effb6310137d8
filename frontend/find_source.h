#ifndef PARAKEET_FRONTEND_FIND_SOURCE_H_
#define PARAKEET_FRONTEND_FIND_SOURCE_H_

#include <cstdint>

#include "frontend/py_ref.h"
#include "ir/span.h"

namespace parakeet::frontend {

// The source of a Python function.
struct FoundSource {
  PyRef node;              // its ast.FunctionDef or ast.Lambda
  int32_t line_shift = 0;  // added to the lines of `node`, gives those of the user's file
  ir::SourceFile file;     // the lines that the function stands on
};

// Finds the source of a Python function or bound method through linecache: in a file, a notebook,
// an interactive prompt that registers its input, or wherever a program has put a linecache entry.
// Only the function's own lines are parsed, unless that fails. What is found is compiled and
// compared with the function's code object: so of several lambdas on a line it is the right one,
// and a file edited since is noticed. Called with the GIL held; leaves no exception set.
//
// Throws a UserError: TypeError for what is no Python function; OSError where Python keeps no
// source, or where the source has changed since the function was defined; RecursionError for source
// nested too deeply for Python's parser.
FoundSource FindSource(PyObject* function);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_FIND_SOURCE_H_
