#ifndef PARAKEET_PASSES_ANALYSES_SHORT_SIBLINGS_H_
#define PARAKEET_PASSES_ANALYSES_SHORT_SIBLINGS_H_

#include <unordered_map>

#include "ir/node.h"

namespace parakeet::passes {

// A foreach and a reduction, one behind the other, that go along the same index, as both halves of
// a step between pairs do: what is stored of the others, and the sum of one. Where few iterations
// are in order, both are one loop, which makes what the two have in common once.
struct ShortSiblings {
  const ir::Binding* first;
  const ir::Binding* nest;
  const ir::Binding* reduction;
};

// By either of the two. The reduction has the attribute `short` and starts from identities; neither
// may fail, and the reduction neither reads what the nest stores nor is read by it. No binding is
// of two pairs.
std::unordered_map<const ir::Binding*, ShortSiblings> FindShortSiblings(
    const ir::Function& function);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SHORT_SIBLINGS_H_
