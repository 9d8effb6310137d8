#ifndef PARAKEET_PASSES_ANALYSES_KEPT_VALUES_H_
#define PARAKEET_PASSES_ANALYSES_KEPT_VALUES_H_

#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// Which of the i64s that a `for` or `while` carries are in every iteration what they begin with, as
// the sizes of arrays are that steps of a simulation make anew: a step that begins with them gives
// them back, though it may look as if it chose among sizes.
std::vector<bool> KeptValues(const ir::Binding& loop, const std::vector<ir::Operand>& inits,
                             ir::Arena* arena);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_KEPT_VALUES_H_
