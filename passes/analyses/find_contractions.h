#ifndef PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_
#define PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_

#include <string>

#include "ir/arena.h"
#include "ir/node.h"

namespace parakeet::passes {

// Why an imap whose block is the reduction is no contraction; empty where it is one.
std::string WhyNoContraction(const ir::Binding& map, const ir::Binding& reduction);

// Such an imap as a `contract`.
const ir::Binding* ContractionOf(ir::Arena* arena, const ir::Binding& map,
                                 const ir::Binding& reduction);

// The ireduce that is all of a block that yields one value; null where there is none.
const ir::Binding* OnlyReduction(const ir::Block& block);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_CONTRACTIONS_H_
