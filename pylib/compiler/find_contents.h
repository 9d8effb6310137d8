#ifndef PARAKEET_PYLIB_COMPILER_FIND_CONTENTS_H_
#define PARAKEET_PYLIB_COMPILER_FIND_CONTENTS_H_

#include <cstdint>
#include <vector>

#include "ir/node.h"

namespace parakeet::pylib {

// For each array parameter of the entry, whether it matters what its elements are before the call.
// It does not where nothing reads or stores them, and where the first that touches them, with
// nothing behind it that may fail, stores every element: then a call that ends well has replaced
// them all, and one that fails at a check has stored none.
//
// `indexed` is the program when its loops over whole arrays are plain to see, `last` the program
// that runs.
std::vector<uint8_t> FindContents(const ir::Program& indexed, const ir::Program& last);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_FIND_CONTENTS_H_
