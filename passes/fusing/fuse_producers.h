#ifndef PARAKEET_PASSES_FUSING_FUSE_PRODUCERS_H_
#define PARAKEET_PASSES_FUSING_FUSE_PRODUCERS_H_

#include "passes/pass.h"

namespace parakeet::passes {

// Substitutes producers into their consumers, as fuse-elements and fuse-vertically do. What one
// block needs of a producer at one index it computes once. With `elements_only` a producer that
// holds a reduction stays.
ir::Program FuseProducers(const ir::Program& program, bool elements_only, Context& context);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_FUSE_PRODUCERS_H_
