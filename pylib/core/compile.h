// The slow half of a call: what happens when a function has no code for its arguments yet.
#ifndef PARAKEET_PYLIB_CORE_COMPILE_H_
#define PARAKEET_PYLIB_CORE_COMPILE_H_

#include "pylib/core/arguments.h"
#include "pylib/core/function.h"
#include "pylib/core/specialization.h"

namespace parakeet::pylib {

enum class CompileOutcome : uint8_t {
  kDone,
  kFailed,       // a Python exception is set
  kKeyChanged,   // the function has one static parameter more: encode the arguments again
  kShortAxes,    // so that the key says how long the last axes are that are short
  kShortSides,   // so that the header says that products have short sides
  kFewLongRows,  // or that rows are few and long
};

// Loads from disk, or compiles, for the key of `call` and adds the result to the function's table,
// unless another thread has done so meanwhile. `made` is set when the outcome is kDone.
CompileOutcome Compile(FunctionState* function, const Arguments& call, Specialization** made);

// From now on, for each (what, stage) in the tuple `texts` and each new compilation,
// show(function, what, text) is called while the function's lock is held. TypeError where `texts`
// is no tuple.
bool SetShown(PyObject* show, PyObject* texts);

// A text about the compilation that `call` would be (PkCompilerDump): a str, set when the outcome
// is kDone.
CompileOutcome Dump(FunctionState* function, const Arguments& call, const char* what,
                    const char* stage, Ref* text);

// About code that there is: a new reference, or null with an exception set.
PyObject* DumpSpecialization(FunctionState* function, const Specialization& code, const char* what,
                             const char* stage);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_COMPILE_H_
