#ifndef PARAKEET_PYLIB_COMPILER_WRITE_MANIFEST_H_
#define PARAKEET_PYLIB_COMPILER_WRITE_MANIFEST_H_

#include <vector>

#include "frontend/build_ir.h"
#include "frontend/py_ref.h"
#include "ir/node.h"
#include "pylib/compiler/decode_key.h"
#include "pylib/compiler/find_function.h"
#include "pylib/manifest.h"

namespace parakeet::pylib {

// A manifest and the Python objects that travel with it.
struct Description {
  Manifest manifest;
  std::vector<frontend::PyRef> functions;  // what outside names refer to
  std::vector<frontend::PyRef> objects;    // one a dependency
  std::vector<int> results;                // of each node, the entry's result, or -1
};

// What the frontend knows: arguments, results, captures and dependencies. Called with the GIL held.
Description DescribeBuilt(const frontend::Built& built, const DecodedKey& key);

// The entry's results that Python sees as NumPy scalars alone: a device may keep them.
std::vector<size_t> KeptResults(const Description& description);

// Says where the results of the entry, in `program`, are among its slots.
void PlaceResults(const ir::Program& program, Description* description);

// The error sites with their places, and the dtypes of their scalars (type_sites.h).
std::vector<ErrorSite> DescribeSites(const ir::Program& program,
                                     const std::vector<std::vector<ir::DType>>& scalars,
                                     const FunctionFinder& functions);

// For each array parameter of the entry, whether something in `program` may store to it.
std::vector<uint8_t> FindWritten(const ir::Program& program);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_WRITE_MANIFEST_H_
