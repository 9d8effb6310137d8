// Finds parts of a long function that differ in constants only, so that one function serves them.
#ifndef PARAKEET_BACKENDS_LLVM_SHARE_PARTS_H_
#define PARAKEET_BACKENDS_LLVM_SHARE_PARTS_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace parakeet::backends {

// A part with values in place of the constants in which it differs from others like it.
struct SharedPart {
  const ir::Binding* binding = nullptr;
  std::vector<std::pair<const ir::Var*, ir::Constant>> constants;
};

using SharedParts = std::unordered_map<const ir::Binding*, SharedPart>;

// Of `parts`, which do not hold one another, those that are better written with values in place of
// constants. Only floats are, where LLVM does the same with a constant as with what it takes out of
// a loop: not what is divided by if multiplying does it, nor 0, 1 and their like. Nodes are the
// arena's.
SharedParts ShareParts(ir::Arena* arena, const std::vector<const ir::Binding*>& parts);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_SHARE_PARTS_H_
