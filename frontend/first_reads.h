#ifndef PARAKEET_FRONTEND_FIRST_READS_H_
#define PARAKEET_FRONTEND_FIRST_READS_H_

#include <set>

#include "frontend/expressions.h"

namespace parakeet::frontend {

// The variables that an expression may read before its own `:=` have bound them. What a function
// nested in it captures counts as read where the function is made.
std::set<const Variable*> ReadFirst(const Expr& expr);
// As above, of what a comprehension evaluates for one element: all but its first iterable.
std::set<const Variable*> ReadFirstByElements(const ComprehensionExpr& expr);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_FIRST_READS_H_
