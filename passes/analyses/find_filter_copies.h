#ifndef PARAKEET_PASSES_ANALYSES_FIND_FILTER_COPIES_H_
#define PARAKEET_PASSES_ANALYSES_FIND_FILTER_COPIES_H_

#include <unordered_map>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// By filter, the foreach that takes all it keeps and only stores it, behind the filter with nothing
// but scalar code and a branch between: the filter may store the same there. What it reads is not
// stored to there.
std::unordered_map<const ir::Binding*, const ir::Binding*> FindFilterCopies(
    const ir::Function& function, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_FILTER_COPIES_H_
