#include "frontend/evaluator.h"

// Bounds of which only the run shows whether they are None: `x[:-k or None]`, `x[k if k else
// None:]`. In place of None such a bound is a number beyond all places of any array, which a slice
// is cut at as where there is none.
namespace parakeet::frontend {
namespace {

// Further than any array is long, and still far from where sizes that are added to it wrap.
constexpr int64_t kBeyond = int64_t{1} << 62;

enum class Direction { kForward, kBackward, kUnknown };

// Which way a slice goes, where the step says so itself.
Direction DirectionOf(const ExprPtr& step) {
  if (step == nullptr) return Direction::kForward;
  const auto* unary = TryAs<UnaryExpr>(step);
  const bool is_negative = unary != nullptr && unary->op == UnaryOperator::kUSub;
  const auto* number = TryAs<ConstantExpr>(is_negative ? unary->operand.get() : step.get());
  if (number == nullptr) return Direction::kUnknown;
  if (number->constant == ConstantKind::kNone) return Direction::kForward;
  if (number->constant != ConstantKind::kInt) return Direction::kUnknown;
  return is_negative || number->integer < 0 ? Direction::kBackward : Direction::kForward;
}

}  // namespace

Value Evaluator::EvaluateSlice(const SliceExpr& expr) {
  const Direction direction = DirectionOf(expr.step);
  const bool is_forward = direction == Direction::kForward;
  const auto bound = [&](const ExprPtr& part, int64_t open) {
    if (part == nullptr) return Value::None();
    if (direction == Direction::kUnknown) return Evaluate(*part);
    return EvaluateBound(*part, Value::Int(open));
  };
  const Value start = bound(expr.start, is_forward ? 0 : kBeyond);
  const Value stop = bound(expr.stop, is_forward ? kBeyond : -kBeyond);
  return Value::Slice(start, stop, expr.step ? Evaluate(*expr.step) : Value::None());
}

// As Evaluate, with `open` for a None that only one side of a choice gives.
Value Evaluator::EvaluateBound(const Expr& expr, const Value& open) {
  const SpanScope span(context_, expr.span);
  if (const auto* logic = TryAs<BoolExpr>(&expr)) return EvaluateBoundOfBool(*logic, 0, open);
  const auto* choice = TryAs<IfExpr>(&expr);
  if (choice == nullptr) return Evaluate(expr);
  const int origin = OriginOf(*choice->condition);
  return ChooseBound(
      EvaluateTruth(*choice->condition), origin, open,
      [&] { return EvaluateBound(*choice->then, open); },
      [&] { return EvaluateBound(*choice->otherwise, open); });
}

Value Evaluator::EvaluateBoundOfBool(const BoolExpr& expr, size_t first, const Value& open) {
  if (first + 1 == expr.operands.size()) return EvaluateBound(*expr.operands[first], open);
  const Value left = Evaluate(*expr.operands[first]);
  const bool is_and = expr.op == BoolOperator::kAnd;
  const auto rest = [&] { return EvaluateBoundOfBool(expr, first + 1, open); };
  const auto decided = [&] { return KnownTruth(left, !is_and); };
  const int origin = OriginOf(*expr.operands[first]);
  const ir::Operand truth = Truth(left);
  return is_and ? ChooseBound(truth, origin, open, rest, decided)
                : ChooseBound(truth, origin, open, decided, rest);
}

Value Evaluator::ChooseBound(const ir::Operand& condition, int origin, const Value& open,
                             const std::function<Value()>& then,
                             const std::function<Value()>& otherwise) {
  if (condition.IsConstant()) return condition.IsInt(0) ? otherwise() : then();
  const auto number = [&](const std::function<Value()>& side) {
    return [&] {
      const Value value = side();
      return value.IsNone() ? open : value;
    };
  };
  return Choose(condition, origin, number(then), number(otherwise));
}

}  // namespace parakeet::frontend
