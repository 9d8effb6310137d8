#ifndef PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_
#define PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_

#include "ir/node.h"

namespace parakeet::passes {

// Whether the block holds what a GPU's kernel cannot do: the host runs it.
bool NeedsHost(const ir::Block& block);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_
