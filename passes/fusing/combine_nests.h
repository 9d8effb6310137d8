#ifndef PARAKEET_PASSES_FUSING_COMBINE_NESTS_H_
#define PARAKEET_PASSES_FUSING_COMBINE_NESTS_H_

#include <string>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// The last binding of a nest's block, where it is of the same kind as the nest and all that the
// block yields: a map of a map, a foreach in a foreach, or a reduction of a reduction that combines
// alike, and whose inner ones begin with what changes nothing. Null for none.
const ir::Binding* InnerNest(const ir::Binding& nest);

// Why what stands beside the inner nest cannot be done once for each of its elements, whose extents
// are left out of account; empty where it can.
std::string WhyNotCombined(const ir::Binding& nest, const Roots& roots);

// The two as one. The inner extents may not depend on the outer index.
const ir::Binding* CombinedNest(ir::Arena* arena, const ir::Binding& nest);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_COMBINE_NESTS_H_
