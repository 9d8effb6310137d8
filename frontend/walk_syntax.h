#ifndef PARAKEET_FRONTEND_WALK_SYNTAX_H_
#define PARAKEET_FRONTEND_WALK_SYNTAX_H_

#include <functional>

#include "frontend/syntax.h"

namespace parakeet::frontend {

// Each calls `visit` on the immediate children of a node, in the order of the source; absent ones
// are left out. The body of a nested function is not a child; its default values are.
void ForEachChild(const Expr& expr, const std::function<void(const Expr&)>& visit);
void ForEachChild(const Stmt& stmt, const std::function<void(const Expr&)>& visit);
void ForEachBlock(const Stmt& stmt, const std::function<void(const Block&)>& visit);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_WALK_SYNTAX_H_
