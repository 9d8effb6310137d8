#ifndef PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_
#define PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_

#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// The bindings of a block that these values are made by, in order.
std::vector<const ir::Binding*> NeededBindings(const ir::Block& block, ir::VarSet values);
std::vector<const ir::Binding*> NeededBindings(const ir::Block& block,
                                               const std::vector<ir::Operand>& values);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_
