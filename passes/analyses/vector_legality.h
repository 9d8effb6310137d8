#ifndef PARAKEET_PASSES_ANALYSES_VECTOR_LEGALITY_H_
#define PARAKEET_PASSES_ANALYSES_VECTOR_LEGALITY_H_

#include <string>

#include "ir/node.h"

namespace parakeet::passes {

// Why vectorize_loops cannot give `index` of a nest to lanes; empty when it can. One list, read by
// schedule, which asks, and kept by vectorize_loops, which does.
std::string WhyNotVector(const ir::Block& block, const ir::Var* index);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_VECTOR_LEGALITY_H_
