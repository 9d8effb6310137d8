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
// which lie anywhere, and checks: behind a check of other things than elements, only what has an
// element for every iteration of the loop, whatever the check finds. Nothing where there are none,
// or where the body does more with the index than that in memory: then iterations that are far
// apart had better go side by side. The loop counts from 0 by 1; `definitions` are those of its
// function.
std::optional<std::set<size_t>> NeighbourAccesses(const ir::Binding& loop,
                                                  const AccessPatterns& patterns,
                                                  const ir::DefinitionMap& definitions);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_NEIGHBOUR_ACCESSES_H_
