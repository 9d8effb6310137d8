#ifndef PARAKEET_TESTS_FRONTEND_IR_RUNNER_H_
#define PARAKEET_TESTS_FRONTEND_IR_RUNNER_H_

#include <string>

#include "frontend/py_ref.h"

namespace parakeet::frontend {

// One call of a Python function, compiled to IR, verified and interpreted.
struct IrRun {
  std::string ir;       // The program, printed; empty where building it failed.
  PyRef result;         // Null where it raised or was refused. Arrays are memoryviews.
  std::string types;    // "float", "float32", "float64[2]", "(int, None)": what Python would see.
  std::string raised;   // "ValueError: message" of a run-time error, "" for none.
  std::string refused;  // "TypeError: demo.py:2:3: message ..." of a failure, "" for none.
};

// `arguments` is a tuple, one a parameter: numbers, None, strings, functions, tuples of these, and
// objects with a buffer, which are arrays. Lists of numbers are list arguments.
IrRun RunAsIr(PyObject* function, PyObject* arguments);

}  // namespace parakeet::frontend

#endif  // PARAKEET_TESTS_FRONTEND_IR_RUNNER_H_
