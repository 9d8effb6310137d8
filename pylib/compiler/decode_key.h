#ifndef PARAKEET_PYLIB_COMPILER_DECODE_KEY_H_
#define PARAKEET_PYLIB_COMPILER_DECODE_KEY_H_

#include <cstdint>
#include <vector>

#include "frontend/argument.h"
#include "pylib/compiler_interface.h"

namespace parakeet::pylib {

// What a request's key says of the arguments (pylib/key.h).
struct DecodedKey {
  std::vector<frontend::Argument> arguments;  // one a parameter
  std::vector<uint64_t> leaves;               // the leaf words, in order
};

DecodedKey DecodeKey(const PkCompileRequest& request);

// The leaf word of an array or scalar: the inverse of the above for one leaf.
uint64_t LeafWordOf(const frontend::Argument& argument);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_DECODE_KEY_H_
