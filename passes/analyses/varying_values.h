#ifndef PARAKEET_PASSES_ANALYSES_VARYING_VALUES_H_
#define PARAKEET_PASSES_ANALYSES_VARYING_VALUES_H_

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// What a block and the blocks in it define that may differ from lane to lane, where each lane has
// an `index` of its own; `index` is among them. All else is the same in every lane that comes by:
// what is made of such values alone, carried through loops that all lanes run alike too. What is
// left by a loop that lanes leave one by one differs, and what a branch chooses that not all take.
ir::VarSet VaryingValues(const ir::Block& block, const ir::Var* index);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_VARYING_VALUES_H_
