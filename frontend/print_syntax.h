#ifndef PARAKEET_FRONTEND_PRINT_SYNTAX_H_
#define PARAKEET_FRONTEND_PRINT_SYNTAX_H_

#include <string>

#include "frontend/syntax.h"

namespace parakeet::frontend {

// The tree as text, for tests and dumps: Python with every compound expression in parentheses. A
// name of an enclosing function is written `^x`, a comprehension's variable `x'`. The line under
// each `def` says what the function binds (captured names with `&`), what it takes from the
// functions around it and what from outside the tree:
//
//   def f(x):
//     # binds x& y; outside np
//
// With `spans`, each statement ends in its place: `# 3:4-3:9`. Deterministic; ends in a newline.
std::string PrintSyntax(const FunctionSyntax& function, bool spans = false);

// One expression, without a newline.
std::string PrintSyntax(const Expr& expr);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PRINT_SYNTAX_H_
