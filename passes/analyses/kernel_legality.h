#ifndef PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_
#define PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_

#include "ir/node.h"

namespace parakeet::passes {

// Whether the block holds what a GPU's kernel cannot do: the host runs it.
bool NeedsHost(const ir::Block& block);

// True for a loop that the host runs on copies of arrays (run_on_host.cc).
bool IsOnHost(const ir::Binding& b);

// True for a loop whose iterations many threads share.
bool IsForMany(const ir::Binding& b);

// True for code that reads or writes arrays, makes and carries none, and holds nothing that the
// host or many threads should run: a kernel of one thread.
bool IsForOneThread(const ir::Binding& b);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_KERNEL_LEGALITY_H_
