#ifndef PARAKEET_PYLIB_COMPILER_TYPE_SITES_H_
#define PARAKEET_PYLIB_COMPILER_TYPE_SITES_H_

#include <vector>

#include "ir/node.h"

namespace parakeet::pylib {

struct TypedSites {
  ir::Program program;
  std::vector<std::vector<ir::DType>> scalars;  // for each site, of its message's scalars
};

// Finds the dtypes of the scalars that each error site shows, which the error slot does not keep. A
// site that is used with different dtypes (a function called for float32 and for float64) is split:
// one row for each.
TypedSites TypeSites(const ir::Program& program);

// The program without its checks of indexes: for boundscheck=False. A `raise IndexError(...)` of
// the user's stays.
ir::Program DropIndexChecks(const ir::Program& program);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_TYPE_SITES_H_
