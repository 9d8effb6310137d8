#ifndef PARAKEET_PYLIB_COMPILER_RETURNED_VIEWS_H_
#define PARAKEET_PYLIB_COMPILER_RETURNED_VIEWS_H_

#include "ir/node.h"

namespace parakeet::pylib {

// Whether result `result` of the program's entry function is, for all that the front end says, a
// view that is made on every path: in Python `x[:]` is another object than `x`, with the same
// elements.
bool IsViewInPython(const ir::Program& program, int result);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_RETURNED_VIEWS_H_
