#ifndef PARAKEET_FRONTEND_PRINT_EXPRESSIONS_H_
#define PARAKEET_FRONTEND_PRINT_EXPRESSIONS_H_

#include <string>
#include <vector>

#include "frontend/syntax.h"

namespace parakeet::frontend {

// Prints expressions as seen from inside `function` (null: every name of the tree is printed as
// local).
class ExpressionPrinter {
 public:
  explicit ExpressionPrinter(const FunctionSyntax* function) : function_(function) {}

  std::string Print(const Expr& expr) const;
  std::string Print(const ExprPtr& expr) const { return expr == nullptr ? "" : Print(*expr); }
  // The list between the parentheses of a `def`; defaults are printed as seen from `function_`.
  std::string PrintParameters(const FunctionSyntax& function) const;
  std::string PrintList(const std::vector<ExprPtr>& list) const;

 private:
  std::string PrintName(const NameExpr& name) const;
  std::string PrintCompare(const CompareExpr& compare) const;
  std::string PrintBool(const BoolExpr& expr) const;
  std::string PrintCall(const CallExpr& call) const;
  std::string PrintSlice(const SliceExpr& slice) const;
  std::string PrintTuple(const TupleExpr& tuple) const;
  std::string PrintComprehension(const ComprehensionExpr& comprehension) const;
  std::string PrintLambda(const FunctionSyntax& lambda) const;
  std::string PrintFormattedString(const FormattedStringExpr& string) const;

  const FunctionSyntax* function_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_PRINT_EXPRESSIONS_H_
