#ifndef PARAKEET_PYLIB_COMPILER_RAISE_FAILURE_H_
#define PARAKEET_PYLIB_COMPILER_RAISE_FAILURE_H_

#include <string>

#include "ir/diagnostics.h"
#include "ir/node.h"

namespace parakeet::pylib {

// Sets the Python exception of a failure, with its place, source line and caret. Called with the
// GIL held.
//   a user's mistake  the builtin exception that the failure names
//   a limitation      parakeet.Limitation
//   a bug             parakeet.errors.CompilerBug: names the step, and the file to which the
//                     program that the step was given has been written
void RaiseFailure(const ir::Failure& failure, const ir::SourceMap& sources,
                  const ir::Program& last_program, const std::string& step);

// A CompilerBug for what is no ir::Failure at all.
void RaiseBug(const std::string& message);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_RAISE_FAILURE_H_
