// Where a function that is called asks whether there is room on the stack for more calls.
#ifndef PARAKEET_BACKENDS_LLVM_ASK_FOR_ROOM_H_
#define PARAKEET_BACKENDS_LLVM_ASK_FOR_ROOM_H_

#include <unordered_set>

#include "ir/node.h"

namespace parakeet::backends {

// The blocks at whose beginning a callee asks whether there is room for what it calls, where some
// way through it calls nothing, as `if n < 2: return n`: that way then needs neither the question
// nor, as LLVM sees it, a frame. One level of `if` after the other is gone into, as long as all
// calls of a block are in one of its bindings and all else is scalars, elements and loops in order.
//
// Empty where every way calls, and of a function of more than `most` bindings, of which parts may
// be functions of their own (choose_apart.h): such a callee asks once, as it begins.
std::unordered_set<const ir::Block*> BlocksThatCall(const ir::Function& function, int most);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_ASK_FOR_ROOM_H_
