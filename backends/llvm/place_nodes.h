// The places of the calls that are open, for errors in functions that recurse.
//
// Each call hands down a node of words in its frame: the node of the call around it or null, how
// many words of place it adds, and these. A failed check in the callee puts all of them, outermost
// first, before its own place.
#ifndef PARAKEET_BACKENDS_LLVM_PLACE_NODES_H_
#define PARAKEET_BACKENDS_LLVM_PLACE_NODES_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// Words before the place in a node.
inline constexpr int64_t kPlaceNodeHeader = 2;

// A function of the module: pk_fail's arguments, then a node or null.
llvm::Function* FailBehind(Emission& emission);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_PLACE_NODES_H_
