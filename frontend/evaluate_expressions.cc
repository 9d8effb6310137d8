#include <utility>

#include "frontend/evaluator.h"
#include "frontend/intrinsics.h"
#include "frontend/promotion.h"
#include "frontend/registry.h"
#include "frontend/walk_syntax.h"

namespace parakeet::frontend {
namespace {

bool IsBoolScalar(const Value& value) {
  const auto* scalar = value.TryAs<ScalarValue>();
  return scalar != nullptr && ir::IsBool(ir::DTypeOf(scalar->op));
}

std::string HoleOf(const FormattedStringExpr::Piece& piece) {
  std::string hole = "{";
  if (piece.conversion != 0) hole += std::string("!") + piece.conversion;
  if (!piece.format.empty()) hole += ":" + piece.format;
  return hole + "}";
}

// A value of an f-string: a number, text, or a tuple of them as Python shows it.
void AddPiece(Context* context, const Value& value, const std::string& hole, StringValue* message) {
  if (const auto* text = value.TryAs<StringValue>(); text != nullptr && !text->is_format) {
    message->text += EscapeBraces(hole == "{!r}" ? "'" + text->text + "'" : text->text);
  } else if (const auto* dtype = value.TryAs<DTypeValue>(); dtype != nullptr && hole == "{}") {
    message->text += NumpyName(dtype->dtype);
  } else if (const auto* scalar = value.TryAs<ScalarValue>()) {
    message->text += hole;
    message->scalars.push_back(scalar->op);
  } else if (value.IsNone()) {
    message->text += "None";
  } else if (value.IsTuple() && (hole == "{}" || hole == "{!r}")) {
    const Values& elements = *value.Elements();
    message->text += "(";
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) message->text += ", ";
      AddPiece(context, elements[i], "{!r}", message);
    }
    message->text += elements.size() == 1 ? ",)" : ")";
  } else {
    context->FailLimitation("an f-string shows numbers, strings, dtypes and tuples of them, not " +
                            Describe(value));
  }
}

}  // namespace

// The value where it is known to be true or false: a bool then is that constant.
Value Evaluator::KnownTruth(const Value& value, bool truth) {
  if (!IsBoolScalar(value)) return value;
  return ScalarValue{ir::Operand::Bool(truth), value.As<ScalarValue>().python, -1};
}

Value Evaluator::Evaluate(const Expr& expr) {
  const SpanScope span(context_, expr.span);
  const NestingGuard guard = Deeper(1);
  switch (expr.kind) {
    case ExprKind::kName: return EvaluateName(As<NameExpr>(expr));
    case ExprKind::kConstant: return EvaluateConstant(As<ConstantExpr>(expr));
    case ExprKind::kBinary: {
      const auto& binary = As<BinaryExpr>(expr);
      const Value left = Evaluate(*binary.left);
      const Value right = Evaluate(*binary.right);
      return Binary(binary.op, left, right);
    }
    case ExprKind::kUnary: {
      const auto& unary = As<UnaryExpr>(expr);
      return Unary(unary.op, Evaluate(*unary.operand));
    }
    case ExprKind::kCompare: {
      const auto& compare = As<CompareExpr>(expr);
      return EvaluateCompareFrom(compare, 0, Evaluate(*compare.first));
    }
    case ExprKind::kBool: return EvaluateBool(As<BoolExpr>(expr), 0);
    case ExprKind::kIf: return EvaluateIf(As<IfExpr>(expr));
    case ExprKind::kCall: return EvaluateCall(As<CallExpr>(expr));
    case ExprKind::kAttribute: {
      const auto& attribute = As<AttributeExpr>(expr);
      return Attribute(Evaluate(*attribute.value), attribute.name);
    }
    case ExprKind::kSubscript: return EvaluateSubscript(As<SubscriptExpr>(expr));
    case ExprKind::kSlice: return EvaluateSlice(As<SliceExpr>(expr));
    case ExprKind::kTuple: return Value::Tuple(EvaluateElements(As<TupleExpr>(expr).elements));
    case ExprKind::kList: return Value::List(EvaluateElements(As<ListExpr>(expr).elements));
    case ExprKind::kStarred: ir::FailBug("a starred expression stands alone", expr.span);
    case ExprKind::kComprehension: return EvaluateComprehension(As<ComprehensionExpr>(expr));
    case ExprKind::kLambda: return MakeClosure(As<LambdaExpr>(expr).function);
    case ExprKind::kNamed: return EvaluateNamed(As<NamedExpr>(expr));
    case ExprKind::kFormattedString: return EvaluateFormattedString(As<FormattedStringExpr>(expr));
  }
  ir::FailBug("an expression of no kind", expr.span);
}

Value Evaluator::EvaluateName(const NameExpr& expr) {
  if (expr.variable != nullptr) return ReadVariable(*expr.variable);
  return ReadOutside(frame_->home.get(), expr.name);
}

Value Evaluator::ReadVariable(const Variable& variable) {
  const Slot slot = frame_->environment.Get(&variable);
  // A growing list that has no array yet has no elements either: nobody looks at them.
  if (variable.name.ends_with(".buffer") || variable.name.ends_with(".last")) {
    return slot.IsUnbound() ? Value::None() : ReadPart(slot.value);
  }
  const bool is_local = variable.function == frame_->syntax.get() &&
                        (frame_->inner_functions == 0 || variable.is_of_comprehension);
  context_->Check(slot.bound, is_local ? "UnboundLocalError" : "NameError",
                  UnboundMessage(variable, is_local));
  if (slot.IsUnbound()) throw Leaves{};
  if (const auto* undefined = slot.value.TryAs<UndefinedValue>()) {
    context_->AskForStatic(undefined->origin);
    context_->FailLimitation("'" + variable.name + "' is " + undefined->why + "; " +
                             undefined->remedy);
  }
  return ReadPart(slot.value);
}

// Of `x.flat` no more is copied than the elements that are read.
Value Evaluator::EvaluateSubscript(const SubscriptExpr& expr) {
  const auto* attribute = TryAs<AttributeExpr>(expr.value);
  if (attribute == nullptr || attribute->name != "flat") {
    const Value value = Evaluate(*expr.value);
    return Subscript(value, Evaluate(*expr.index));
  }
  const Value whole = Evaluate(*attribute->value);
  const Value index = Evaluate(*expr.index);
  if (!whole.IsArray()) return Subscript(Attribute(whole, attribute->name), index);
  const Value read = Subscript(ReshapeArray(this, {whole, Value::Int(-1)}), index);
  return read.IsArray() ? CopyArray(read) : read;
}

Value Evaluator::EvaluateConstant(const ConstantExpr& expr) {
  switch (expr.constant) {
    case ConstantKind::kNone: return Value::None();
    case ConstantKind::kBool: return Value::Bool(expr.integer != 0);
    case ConstantKind::kInt: return Value::Int(expr.integer);
    case ConstantKind::kUnsigned:
      return Value::Python(ir::Constant::Int(expr.integer, ir::DType::kU64));
    case ConstantKind::kFloat: return Value::Float(expr.real);
    case ConstantKind::kComplex:
      return Value::Python(ir::Constant::Complex(expr.real, expr.imaginary));
    case ConstantKind::kString: return Value::String(expr.text);
    case ConstantKind::kEllipsis: return EllipsisValue{};
  }
  ir::FailBug("a constant of no kind", expr.span);
}

// The comparisons from `link` on, whose left operand has been evaluated.
Value Evaluator::EvaluateCompareFrom(const CompareExpr& expr, size_t link, const Value& left) {
  const Value right = Evaluate(*expr.rest[link].operand);
  const Value value = Compare(expr.rest[link].op, left, right);
  if (link + 1 == expr.rest.size()) return value;
  return Choose(
      Truth(value), -1, [&] { return EvaluateCompareFrom(expr, link + 1, right); },
      [&] { return KnownTruth(value, false); });
}

// The operands from `first` on; each is evaluated only where those before it have not decided.
Value Evaluator::EvaluateBool(const BoolExpr& expr, size_t first) {
  const Value left = Evaluate(*expr.operands[first]);
  if (first + 1 == expr.operands.size()) return left;
  const bool is_and = expr.op == BoolOperator::kAnd;
  const auto rest = [&] { return EvaluateBool(expr, first + 1); };
  const auto decided = [&] { return KnownTruth(left, !is_and); };
  const int origin = OriginOf(*expr.operands[first]);
  const ir::Operand truth = Truth(left);
  return is_and ? Choose(truth, origin, rest, decided) : Choose(truth, origin, decided, rest);
}

// As Evaluate and Truth, but operands of `and` and `or` need not join: only their truth counts.
ir::Operand Evaluator::EvaluateTruth(const Expr& expr) {
  const SpanScope span(context_, expr.span);
  if (const auto* unary = TryAs<UnaryExpr>(&expr);
      unary != nullptr && unary->op == UnaryOperator::kNot) {
    return builder().Scalar(ir::OpCode::kNot, {EvaluateTruth(*unary->operand)});
  }
  if (const auto* logic = TryAs<BoolExpr>(&expr)) return EvaluateTruthOfBool(*logic, 0);
  return Truth(Evaluate(expr));
}

ir::Operand Evaluator::EvaluateTruthOfBool(const BoolExpr& expr, size_t first) {
  const ir::Operand left = EvaluateTruth(*expr.operands[first]);
  if (first + 1 == expr.operands.size()) return left;
  const auto rest = [&] { return Value::Python(EvaluateTruthOfBool(expr, first + 1)); };
  const auto decided = [&](bool truth) { return [truth] { return Value::Bool(truth); }; };
  return expr.op == BoolOperator::kAnd ? Choose(left, -1, rest, decided(false)).op()
                                       : Choose(left, -1, decided(true), rest).op();
}

Value Evaluator::EvaluateIf(const IfExpr& expr) {
  const int origin = OriginOf(*expr.condition);
  const ir::Operand condition = EvaluateTruth(*expr.condition);
  return Choose(
      condition, origin, [&] { return Evaluate(*expr.then); },
      [&] { return Evaluate(*expr.otherwise); });
}

// The first parameter read in the expression whose value is not known yet: making it static may
// decide the expression.
int Evaluator::OriginOf(const Expr& expr) {
  if (const auto* name = TryAs<NameExpr>(&expr); name != nullptr && name->variable != nullptr) {
    return OriginWithin(frame_->environment.Get(name->variable).value);
  }
  int origin = -1;
  ForEachChild(expr, [&](const Expr& child) {
    if (origin == -1) origin = OriginOf(child);
  });
  return origin;
}

Values Evaluator::EvaluateElements(const std::vector<ExprPtr>& elements) {
  Values values;
  for (const ExprPtr& element : elements) {
    if (const auto* starred = TryAs<StarredExpr>(element)) {
      const Values unpacked = Unpack(Evaluate(*starred->value), -1);
      values.insert(values.end(), unpacked.begin(), unpacked.end());
    } else {
      values.push_back(Evaluate(*element));
    }
  }
  return values;
}

Value Evaluator::EvaluateNamed(const NamedExpr& expr) {
  const Value value = Evaluate(*expr.value);
  Assign(*expr.target, value);
  return value;
}

Value Evaluator::EvaluateFormattedString(const FormattedStringExpr& expr) {
  StringValue message{"", {}, true};
  for (const auto& piece : expr.pieces) {
    if (piece.value == nullptr) {
      message.text += EscapeBraces(piece.text);
      continue;
    }
    AddPiece(context_, Evaluate(*piece.value), HoleOf(piece), &message);
  }
  return message;
}

}  // namespace parakeet::frontend
