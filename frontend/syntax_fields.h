#ifndef PARAKEET_FRONTEND_SYNTAX_FIELDS_H_
#define PARAKEET_FRONTEND_SYNTAX_FIELDS_H_

#include <type_traits>

#include "frontend/syntax.h"

// The fields of every node of the syntax tree, in the order in which they are stored. One table
// serves both directions: `archive(field, ...)` writes the fields of a const node, or reads them
// into another. Kinds and spans of expressions and statements are the archive's own business.
namespace parakeet::frontend {

template <typename Archive, typename Node>
using Stored = std::conditional_t<Archive::kReads, Node, const Node>;

#define PARAKEET_FIELDS(Type, ...)                                                            \
  template <typename Archive>                                                                 \
  void Fields([[maybe_unused]] Archive& archive, [[maybe_unused]] Stored<Archive, Type>& n) { \
    __VA_ARGS__;                                                                              \
  }

PARAKEET_FIELDS(NameExpr, archive(n.name, n.variable))
PARAKEET_FIELDS(ConstantExpr, archive(n.constant, n.integer, n.real, n.imaginary, n.text))
PARAKEET_FIELDS(BinaryExpr, archive(n.op, n.left, n.right))
PARAKEET_FIELDS(UnaryExpr, archive(n.op, n.operand))
PARAKEET_FIELDS(CompareExpr::Link, archive(n.op, n.operand))
PARAKEET_FIELDS(CompareExpr, archive(n.first, n.rest))
PARAKEET_FIELDS(BoolExpr, archive(n.op, n.operands))
PARAKEET_FIELDS(IfExpr, archive(n.condition, n.then, n.otherwise))
PARAKEET_FIELDS(CallExpr::Keyword, archive(n.name, n.value, n.span))
PARAKEET_FIELDS(CallExpr, archive(n.function, n.arguments, n.keywords))
PARAKEET_FIELDS(AttributeExpr, archive(n.value, n.name))
PARAKEET_FIELDS(SubscriptExpr, archive(n.value, n.index))
PARAKEET_FIELDS(SliceExpr, archive(n.start, n.stop, n.step))
PARAKEET_FIELDS(TupleExpr, archive(n.elements))
PARAKEET_FIELDS(ListExpr, archive(n.elements))
PARAKEET_FIELDS(StarredExpr, archive(n.value))
PARAKEET_FIELDS(ComprehensionExpr::Generator, archive(n.target, n.iterable, n.conditions))
PARAKEET_FIELDS(ComprehensionExpr, archive(n.is_generator, n.element, n.generators))
PARAKEET_FIELDS(LambdaExpr, archive(n.function))
PARAKEET_FIELDS(NamedExpr, archive(n.target, n.value))
PARAKEET_FIELDS(FormattedStringExpr::Piece, archive(n.text, n.value, n.conversion, n.format))
PARAKEET_FIELDS(FormattedStringExpr, archive(n.pieces))

PARAKEET_FIELDS(AssignStmt, archive(n.targets, n.value))
PARAKEET_FIELDS(AugAssignStmt, archive(n.target, n.op, n.value))
PARAKEET_FIELDS(AnnAssignStmt, archive(n.target, n.value))
PARAKEET_FIELDS(ExprStmt, archive(n.value))
PARAKEET_FIELDS(IfStmt, archive(n.condition, n.then, n.otherwise))
PARAKEET_FIELDS(WhileStmt, archive(n.condition, n.body, n.otherwise))
PARAKEET_FIELDS(ForStmt, archive(n.target, n.iterable, n.body, n.otherwise))
PARAKEET_FIELDS(BreakStmt)
PARAKEET_FIELDS(ContinueStmt)
PARAKEET_FIELDS(PassStmt)
PARAKEET_FIELDS(ReturnStmt, archive(n.value))
PARAKEET_FIELDS(AssertStmt, archive(n.condition, n.message))
PARAKEET_FIELDS(RaiseStmt, archive(n.exception, n.arguments))
PARAKEET_FIELDS(DeleteStmt, archive(n.targets))
PARAKEET_FIELDS(FunctionDefStmt, archive(n.target, n.function))

PARAKEET_FIELDS(Parameter,
                archive(n.name, n.kind, n.variable, n.has_default, n.default_value, n.span))
// What a variable belongs to, and its number there, follow from where it stands.
PARAKEET_FIELDS(Variable,
                archive(n.name, n.bindings, n.is_parameter, n.is_captured, n.is_of_comprehension))
// Variables come before all that names them.
PARAKEET_FIELDS(FunctionSyntax, archive(n.variables, n.name, n.is_lambda, n.span, n.name_span,
                                        n.parameters, n.body, n.free_variables, n.outside_names))

#undef PARAKEET_FIELDS

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SYNTAX_FIELDS_H_
