#ifndef PARAKEET_PASSES_ANALYSES_NEIGHBOUR_ACCESSES_H_
#define PARAKEET_PASSES_ANALYSES_NEIGHBOUR_ACCESSES_H_

#include <cstddef>
#include <optional>
#include <set>

#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"

namespace parakeet::passes {

// The places in a loop's body of what neighbouring iterations may have done as one each: loads and,
// behind all else, stores of the very element that the index says, of arrays of one axis whose
// elements surely lie side by side. Beside them there may be loads at places that elements say,
// which lie anywhere, and checks. Nothing where there are none, or where the body does more with
// the index than that in memory: then iterations that are far apart had better go side by side.
// `definitions` are those of the loop's function.
std::optional<std::set<size_t>> NeighbourAccesses(const ir::Block& body,
                                                  const AccessPatterns& patterns,
                                                  const ir::DefinitionMap& definitions);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_NEIGHBOUR_ACCESSES_H_
