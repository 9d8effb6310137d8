#ifndef PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_
#define PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ir/node.h"
#include "pylib/manifest.h"

namespace parakeet::pylib {

struct CostEstimate {
  std::vector<CostTerm> terms;
  bool is_bounded = true;
};

// How long a call of an entry function takes, as cycles by the sizes of its arguments, for the
// decision whether to give up the GIL. Coarse: a size that is computed counts as the first argument
// it is computed from. Not bounded where a loop's trips depend on data: `while`, recursion.
CostEstimate EstimateCost(const ir::Function& entry);

// Where sizes and scalars of an entry function's parameters stand among its slots (PkEntry).
std::unordered_map<const ir::Var*, uint32_t> SlotsOf(const ir::Function& entry);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_
