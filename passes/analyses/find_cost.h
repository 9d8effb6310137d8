#ifndef PARAKEET_PASSES_ANALYSES_FIND_COST_H_
#define PARAKEET_PASSES_ANALYSES_FIND_COST_H_

#include <functional>

#include "ir/node.h"

namespace parakeet::passes {

// Estimated cycles of running a block once on one core with its scalar operations vectorised
// (ops.def's costs). An inner loop counts for its extents where they are constants, else for
// kUnknownTrips. Saturates at kHugeCost.
int CostOf(const ir::Block& block);
// The same where `of_binding` says what a binding by itself costs, its blocks aside.
int CostOf(const ir::Block& block, const std::function<int(const ir::Binding&)>& of_binding);

// Twice the cycles, nearer to what a processor takes, of what is in its caches: it runs two or
// three simple operations at a time, and functions take longer than CostOf says.
int HalfCyclesOf(const ir::Block& block);

inline constexpr int kUnknownTrips = 64;
inline constexpr int kHugeCost = 1 << 24;

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_COST_H_
