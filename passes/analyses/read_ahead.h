#ifndef PARAKEET_PASSES_ANALYSES_READ_AHEAD_H_
#define PARAKEET_PASSES_ANALYSES_READ_AHEAD_H_

#include <optional>

#include "ir/node.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// How many iterations later a store is to the place of a load, of the same array; none where that
// is not one number. The store stands in one loop and the load in another, or in the same: a
// `for`, or an operator over one index, and both go through as many iterations in the same order.
std::optional<int64_t> DistanceAhead(const WrappingForms& forms, const ir::Binding& storing,
                                     const ir::Binding& store, const ir::Binding& loading,
                                     const ir::Binding& load);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_READ_AHEAD_H_
