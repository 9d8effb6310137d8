#ifndef PARAKEET_PASSES_LOWERING_LOOP_NEST_H_
#define PARAKEET_PASSES_LOWERING_LOOP_NEST_H_

#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// A loop and those that are all there is in it, as one index space in the loops' order.
struct LoopNest {
  std::vector<const ir::Var*> indexes;  // From 0; they are the body's parameters.
  std::vector<ir::Operand> extents;
  std::vector<const ir::Var*> carried;  // Its further parameters: what each iteration hands on.
  // Everything is done in the innermost iteration: what loops around it compute for all of theirs
  // is computed there again.
  const ir::Block* body = nullptr;
};

// The nest of a `for` by 1; extents are appended. Loops from 0 go to counts (CountLoops). Goes no
// further in than loops run as often in every iteration and hand on what the one around them does,
// and what stands around them reads nothing that the loop stores, and checks nothing.
LoopNest NestOf(ir::Builder& builder, const ir::Binding& loop, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_NEST_H_
