#ifndef PARAKEET_FRONTEND_READ_OPERATORS_H_
#define PARAKEET_FRONTEND_READ_OPERATORS_H_

#include "frontend/ast_node.h"
#include "frontend/operators.h"

namespace parakeet::frontend {

// The operator that an `ast` operator node stands for; a UserError (TypeError) where it is none of
// that enum's.
BinaryOperator ReadBinaryOperator(const AstNode& node);
UnaryOperator ReadUnaryOperator(const AstNode& node);
CompareOperator ReadCompareOperator(const AstNode& node);
BoolOperator ReadBoolOperator(const AstNode& node);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_READ_OPERATORS_H_
