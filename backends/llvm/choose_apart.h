// Which parts of a long function become functions of their own.
#ifndef PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_
#define PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_

#include <unordered_set>

#include "ir/node.h"

namespace parakeet::backends {

// Loop nests, outermost first, that are neither trifles nor long themselves; of a long one, those
// inside. None where the function has at most `limit` bindings. Nothing inside a loop of kind
// "parallel" is chosen where those are `forked`: its body is a function anyway.
std::unordered_set<const ir::Binding*> ChooseApart(const ir::Function& function, int limit,
                                                   bool forked);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_
