#ifndef PARAKEET_PASSES_ANALYSES_FIND_RESHAPES_H_
#define PARAKEET_PASSES_ANALYSES_FIND_RESHAPES_H_

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// The results of those reshapes of a function that would show whether they are copies: something is
// stored to them, or to what they are made of while they are still read.
ir::VarSet FindExposedReshapes(const ir::Function& function, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_RESHAPES_H_
