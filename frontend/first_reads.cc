#include "frontend/first_reads.h"

#include <algorithm>
#include <iterator>

#include "frontend/syntax.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

using Variables = std::set<const Variable*>;

// Walks in the order of evaluation; `bound` are the names that have been bound on every path.
class ReadCollector {
 public:
  void Walk(const Expr& expr, Variables* bound) {
    switch (expr.kind) {
      case ExprKind::kName: return Read(As<NameExpr>(expr).variable, *bound);
      case ExprKind::kNamed:
        Walk(*As<NamedExpr>(expr).value, bound);
        bound->insert(As<NamedExpr>(expr).target->variable);
        return;
      case ExprKind::kBool: return WalkBool(As<BoolExpr>(expr), bound);
      case ExprKind::kCompare: return WalkCompare(As<CompareExpr>(expr), bound);
      case ExprKind::kIf: return WalkIf(As<IfExpr>(expr), bound);
      case ExprKind::kComprehension:
        Walk(*As<ComprehensionExpr>(expr).generators[0].iterable, bound);
        return WalkElements(As<ComprehensionExpr>(expr), *bound);
      case ExprKind::kLambda:
        for (const Variable* variable : As<LambdaExpr>(expr).function->free_variables) {
          Read(variable, *bound);
        }
        break;
      default: break;
    }
    ForEachChild(expr, [&](const Expr& child) { Walk(child, bound); });
  }

  // There may be no element: what they bind is not bound afterwards.
  void WalkElements(const ComprehensionExpr& expr, Variables bound) {
    for (size_t i = 0; i < expr.generators.size(); ++i) {
      if (i > 0) Walk(*expr.generators[i].iterable, &bound);
      for (const ExprPtr& condition : expr.generators[i].conditions) Walk(*condition, &bound);
    }
    Walk(*expr.element, &bound);
  }

  const Variables& read() const { return read_; }

 private:
  void Read(const Variable* variable, const Variables& bound) {
    if (variable != nullptr && !bound.contains(variable)) read_.insert(variable);
  }

  void WalkBool(const BoolExpr& expr, Variables* bound) {
    Walk(*expr.operands[0], bound);
    Variables further = *bound;
    for (size_t i = 1; i < expr.operands.size(); ++i) Walk(*expr.operands[i], &further);
  }

  void WalkCompare(const CompareExpr& expr, Variables* bound) {
    Walk(*expr.first, bound);
    Walk(*expr.rest[0].operand, bound);
    Variables further = *bound;
    for (size_t i = 1; i < expr.rest.size(); ++i) Walk(*expr.rest[i].operand, &further);
  }

  void WalkIf(const IfExpr& expr, Variables* bound) {
    Walk(*expr.condition, bound);
    Variables then = *bound;
    Variables otherwise = *bound;
    Walk(*expr.then, &then);
    Walk(*expr.otherwise, &otherwise);
    std::set_intersection(then.begin(), then.end(), otherwise.begin(), otherwise.end(),
                          std::inserter(*bound, bound->end()));
  }

  Variables read_;
};

}  // namespace

std::set<const Variable*> ReadFirst(const Expr& expr) {
  ReadCollector collector;
  Variables bound;
  collector.Walk(expr, &bound);
  return collector.read();
}

std::set<const Variable*> ReadFirstByElements(const ComprehensionExpr& expr) {
  ReadCollector collector;
  collector.WalkElements(expr, {});
  return collector.read();
}

}  // namespace parakeet::frontend
