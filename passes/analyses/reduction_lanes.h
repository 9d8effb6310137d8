#ifndef PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
#define PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_

#include <string>

#include "ir/node.h"
#include "passes/analyses/access_patterns.h"

namespace parakeet::passes {

// Why an ireduce is to combine one element after the other and not in lanes; empty where lanes take
// its last index. `nest` is the innermost imap, foreach or ifilter around it; null for none.
std::string WhyNoLanes(const ir::Binding& reduction, const ir::Binding* nest,
                       const AccessPatterns& patterns);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_REDUCTION_LANES_H_
