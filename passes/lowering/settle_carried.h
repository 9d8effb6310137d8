#ifndef PARAKEET_PASSES_LOWERING_SETTLE_CARRIED_H_
#define PARAKEET_PASSES_LOWERING_SETTLE_CARRIED_H_

#include "ir/node.h"

namespace parakeet::passes {

// The function without what its loops carry that stays as it begins, as the length of an array that
// each iteration makes as long as it was; the same pointer where there is none.
const ir::Function* SettleCarried(ir::Arena* arena, const ir::Function* function);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SETTLE_CARRIED_H_
