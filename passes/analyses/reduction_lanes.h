#ifndef PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
#define PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_

#include <string>

#include "ir/node.h"
#include "passes/analyses/access_patterns.h"

namespace parakeet::passes {

// Threads of a GPU's block that makes an element, and so the lanes of its reductions.
inline constexpr int64_t kRowThreads = 256;

// Why a reduction's elements are to be combined in their order, whoever takes them; empty where any
// order will do.
std::string WhyNoLanesToCombine(const ir::Binding& reduction);

// Why an ireduce is to combine one element after the other and not in lanes; empty where lanes take
// its last index. `nest` is the innermost imap, foreach or ifilter around it; null for none.
std::string WhyNoLanes(const ir::Binding& reduction, const ir::Binding* nest,
                       const AccessPatterns& patterns);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
