#ifndef PARAKEET_PASSES_ANALYSES_FIND_NANS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_NANS_H_

#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// True where what the block yields is never nan as long as these of its bindings give finite
// values. Other loads, and floats from outside that are no constants, may be anything.
bool IsNumberIfFinite(const ir::Block& block, const std::vector<const ir::Binding*>& finite);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_NANS_H_
