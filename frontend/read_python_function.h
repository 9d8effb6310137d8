#ifndef PARAKEET_FRONTEND_READ_PYTHON_FUNCTION_H_
#define PARAKEET_FRONTEND_READ_PYTHON_FUNCTION_H_

#include "frontend/py_ref.h"
#include "frontend/syntax.h"
#include "ir/span.h"

namespace parakeet::frontend {

// From a Python function to its checked syntax tree: FindSource, ReadAst and CheckSubset. The lines
// of its source are added to `sources`, which the tree's spans and the spans of any Failure refer
// to. Called with the GIL held.
FunctionSyntaxPtr ReadPythonFunction(PyObject* function, ir::SourceMap* sources);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_READ_PYTHON_FUNCTION_H_
