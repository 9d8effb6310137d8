#ifndef PARAKEET_PASSES_ANALYSES_FIND_SYMMETRY_H_
#define PARAKEET_PASSES_ANALYSES_FIND_SYMMETRY_H_

#include "ir/node.h"

namespace parakeet::passes {

// True where what a block yields is the same, bit for bit, when its parameters `a` and `b` change
// places: as the product of x[%k, %a] and x[%k, %b]. Operands of commutative operations may change
// places with them; no other law is used. False of a block with effects or control flow.
bool IsSymmetric(const ir::Block& block, const ir::Var* a, const ir::Var* b);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_SYMMETRY_H_
