#ifndef PARAKEET_FRONTEND_COMPARE_CODE_H_
#define PARAKEET_FRONTEND_COMPARE_CODE_H_

#include "frontend/py_ref.h"

namespace parakeet::frontend {

// Whether a code object at `depth` scopes inside `module` (the first scope in each) does the same
// as `code` under the same name: equal instructions, constants, names and parameters, functions
// nested in it too; lines and files aside. Where pytest has rewritten the assertions of `code`, it
// is compared by name and parameters only.
bool HoldsSameFunction(PyObject* module, int depth, PyObject* code);

// The same for a code object anywhere inside `module` that starts on the same line as `code`.
bool HoldsSameFunctionAnywhere(PyObject* module, PyObject* code);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_COMPARE_CODE_H_
