#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

using Visit = std::function<void(const Expr&)>;

template <typename Pointer>
void VisitOne(const Pointer& expr, const Visit& visit) {
  if (expr != nullptr) visit(*expr);
}

void VisitAll(const std::vector<ExprPtr>& list, const Visit& visit) {
  for (const ExprPtr& expr : list) visit(*expr);
}

void VisitDefaults(const FunctionSyntax& function, const Visit& visit) {
  for (const Parameter& parameter : function.parameters) VisitOne(parameter.default_value, visit);
}

void VisitCall(const CallExpr& call, const Visit& visit) {
  VisitOne(call.function, visit);
  VisitAll(call.arguments, visit);
  for (const CallExpr::Keyword& keyword : call.keywords) VisitOne(keyword.value, visit);
}

void VisitComprehension(const ComprehensionExpr& comprehension, const Visit& visit) {
  VisitOne(comprehension.element, visit);
  for (const ComprehensionExpr::Generator& generator : comprehension.generators) {
    VisitOne(generator.target, visit);
    VisitOne(generator.iterable, visit);
    VisitAll(generator.conditions, visit);
  }
}

// The children of a node that has one to three of a fixed kind.
template <typename... Pointers>
void VisitEach(const Visit& visit, const Pointers&... exprs) {
  (VisitOne(exprs, visit), ...);
}

}  // namespace

void ForEachChild(const Expr& expr, const Visit& visit) {
  switch (expr.kind) {
    case ExprKind::kName:
    case ExprKind::kConstant: return;
    case ExprKind::kBinary:
      return VisitEach(visit, As<BinaryExpr>(expr).left, As<BinaryExpr>(expr).right);
    case ExprKind::kUnary: return VisitOne(As<UnaryExpr>(expr).operand, visit);
    case ExprKind::kCompare:
      VisitOne(As<CompareExpr>(expr).first, visit);
      for (const auto& link : As<CompareExpr>(expr).rest) VisitOne(link.operand, visit);
      return;
    case ExprKind::kBool: return VisitAll(As<BoolExpr>(expr).operands, visit);
    case ExprKind::kIf: {
      const auto& choice = As<IfExpr>(expr);
      return VisitEach(visit, choice.then, choice.condition, choice.otherwise);
    }
    case ExprKind::kCall: return VisitCall(As<CallExpr>(expr), visit);
    case ExprKind::kAttribute: return VisitOne(As<AttributeExpr>(expr).value, visit);
    case ExprKind::kSubscript:
      return VisitEach(visit, As<SubscriptExpr>(expr).value, As<SubscriptExpr>(expr).index);
    case ExprKind::kSlice: {
      const auto& slice = As<SliceExpr>(expr);
      return VisitEach(visit, slice.start, slice.stop, slice.step);
    }
    case ExprKind::kTuple: return VisitAll(As<TupleExpr>(expr).elements, visit);
    case ExprKind::kList: return VisitAll(As<ListExpr>(expr).elements, visit);
    case ExprKind::kStarred: return VisitOne(As<StarredExpr>(expr).value, visit);
    case ExprKind::kComprehension: return VisitComprehension(As<ComprehensionExpr>(expr), visit);
    case ExprKind::kLambda: return VisitDefaults(*As<LambdaExpr>(expr).function, visit);
    case ExprKind::kNamed:
      return VisitEach(visit, As<NamedExpr>(expr).target, As<NamedExpr>(expr).value);
    case ExprKind::kFormattedString:
      for (const auto& piece : As<FormattedStringExpr>(expr).pieces) VisitOne(piece.value, visit);
      return;
  }
}

void ForEachChild(const Stmt& stmt, const Visit& visit) {
  switch (stmt.kind) {
    case StmtKind::kAssign:
      VisitAll(As<AssignStmt>(stmt).targets, visit);
      return VisitOne(As<AssignStmt>(stmt).value, visit);
    case StmtKind::kAugAssign:
      return VisitEach(visit, As<AugAssignStmt>(stmt).target, As<AugAssignStmt>(stmt).value);
    case StmtKind::kAnnAssign:
      return VisitEach(visit, As<AnnAssignStmt>(stmt).target, As<AnnAssignStmt>(stmt).value);
    case StmtKind::kExpr: return VisitOne(As<ExprStmt>(stmt).value, visit);
    case StmtKind::kIf: return VisitOne(As<IfStmt>(stmt).condition, visit);
    case StmtKind::kWhile: return VisitOne(As<WhileStmt>(stmt).condition, visit);
    case StmtKind::kFor:
      return VisitEach(visit, As<ForStmt>(stmt).target, As<ForStmt>(stmt).iterable);
    case StmtKind::kBreak:
    case StmtKind::kContinue:
    case StmtKind::kPass: return;
    case StmtKind::kReturn: return VisitOne(As<ReturnStmt>(stmt).value, visit);
    case StmtKind::kAssert:
      return VisitEach(visit, As<AssertStmt>(stmt).condition, As<AssertStmt>(stmt).message);
    case StmtKind::kRaise:
      VisitOne(As<RaiseStmt>(stmt).exception, visit);
      return VisitAll(As<RaiseStmt>(stmt).arguments, visit);
    case StmtKind::kDelete: return VisitAll(As<DeleteStmt>(stmt).targets, visit);
    case StmtKind::kFunctionDef:
      VisitOne(As<FunctionDefStmt>(stmt).target, visit);
      return VisitDefaults(*As<FunctionDefStmt>(stmt).function, visit);
  }
}

void ForEachBlock(const Stmt& stmt, const std::function<void(const Block&)>& visit) {
  if (stmt.kind == StmtKind::kIf) {
    visit(As<IfStmt>(stmt).then);
    visit(As<IfStmt>(stmt).otherwise);
  } else if (stmt.kind == StmtKind::kWhile) {
    visit(As<WhileStmt>(stmt).body);
    visit(As<WhileStmt>(stmt).otherwise);
  } else if (stmt.kind == StmtKind::kFor) {
    visit(As<ForStmt>(stmt).body);
    visit(As<ForStmt>(stmt).otherwise);
  }
}

}  // namespace parakeet::frontend
