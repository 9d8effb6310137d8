#ifndef PARAKEET_FRONTEND_CHECK_SUBSET_H_
#define PARAKEET_FRONTEND_CHECK_SUBSET_H_

#include "frontend/syntax.h"

namespace parakeet::frontend {

// Refuses what the language has in some places only: f-strings and strings, generator expressions,
// `*`, `is`, `del`, targets of assignment, raised names. Throws the Limitation of the first breach
// in the order of the source, nested functions included. What has no place at all, such as `try`,
// read_ast has refused already; what depends on types is not looked at.
void CheckSubset(const FunctionSyntax& function);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_CHECK_SUBSET_H_
