#ifndef PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_
#define PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_

#include <cstddef>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// The bindings of a block that these values are made by, in order.
std::vector<const ir::Binding*> NeededBindings(const ir::Block& block, ir::VarSet values);
std::vector<const ir::Binding*> NeededBindings(const ir::Block& block,
                                               const std::vector<ir::Operand>& values);

// How many bindings and results of the block take the value, a binding once for all its blocks.
size_t CountReaders(const ir::Block& block, const ir::Var* value);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_NEEDED_BINDINGS_H_
