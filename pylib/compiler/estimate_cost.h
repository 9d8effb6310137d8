#ifndef PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_
#define PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_

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

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_COMPILER_ESTIMATE_COST_H_
