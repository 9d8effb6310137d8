#include <algorithm>
#include <string>
#include <utility>

#include "frontend/broadcasting.h"
#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/indexing.h"
#include "frontend/registry.h"

// Python's operators on values of every kind.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

[[noreturn]] void FailOperands(const Context& context, const std::string& spelling,
                               const Value& left, const Value& right) {
  context.FailType("unsupported operand type(s) for " + spelling + ": '" + PythonTypeName(left) +
                   "' and '" + PythonTypeName(right) + "'");
}

bool IsNumber(const Value& value) { return value.IsScalar() || value.IsArray(); }

bool IsPythonPair(const Value& left, const Value& right) {
  return left.IsPythonScalar() && right.IsPythonScalar();
}

Value SameKindOfSequence(const Value& like, Values elements) {
  return like.IsTuple() ? Value::Tuple(std::move(elements)) : Value::List(std::move(elements));
}

Value Repeat(Evaluator* evaluator, const Value& sequence, const Value& count) {
  const int64_t times = evaluator->context().StaticInt(count, "the number of repetitions");
  Values elements;
  for (int64_t i = 0; i < times; ++i) {
    elements.insert(elements.end(), sequence.Elements()->begin(), sequence.Elements()->end());
  }
  return SameKindOfSequence(sequence, std::move(elements));
}

Value Concatenate(const Value& left, const Value& right) {
  Values elements = *left.Elements();
  elements.insert(elements.end(), right.Elements()->begin(), right.Elements()->end());
  return SameKindOfSequence(left, std::move(elements));
}

bool IsIntScalar(const Value& value) {
  const auto* scalar = value.TryAs<ScalarValue>();
  return scalar != nullptr && scalar->python && !ir::IsFloat(ir::DTypeOf(scalar->op)) &&
         !ir::IsComplex(ir::DTypeOf(scalar->op));
}

// What + and * mean for tuples and lists that meet no array, else an undefined value.
Value SequenceBinary(Evaluator* evaluator, BinaryOperator op, const Value& left,
                     const Value& right) {
  const bool left_is = left.Elements() != nullptr;
  const bool right_is = right.Elements() != nullptr;
  if (op == BinaryOperator::kAdd && left_is && right_is && left.IsTuple() == right.IsTuple()) {
    return Concatenate(left, right);
  }
  if (op == BinaryOperator::kMult && left_is && IsIntScalar(right))
    return Repeat(evaluator, left, right);
  if (op == BinaryOperator::kMult && right_is && IsIntScalar(left))
    return Repeat(evaluator, right, left);
  return Value();
}

// Whether Python itself would evaluate `left op right`, of which one is a tuple: with its own
// scalars, and for `*`, where NumPy's scalars take a tuple for a sequence too.
bool IsPythonsTuple(BinaryOperator op, const Value& left, const Value& right) {
  const bool meets_python = left.IsPythonScalar() || right.IsPythonScalar();
  return (left.IsTuple() || right.IsTuple()) && (meets_python || op == BinaryOperator::kMult);
}

// Whether an operand may stand beside an array: numbers, and the lists and tuples that become one.
bool MayBeArray(const Value& value) { return IsNumber(value) || value.Elements() != nullptr; }

Value MatMul(Evaluator* evaluator, const Value& left, const Value& right) {
  return evaluator->Call(LibraryFunction("matmul"), {left, right});
}

std::vector<Operand> Joined(const Dims& a, const Dims& b, const Dims& c = {}) {
  std::vector<Operand> all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// The right operand of `left op= right` seen in the shape of `left`, which the result must have.
Value FitInPlace(Evaluator* evaluator, const Value& left, const Value& right) {
  const Value settled = SettleOperand(evaluator, right);
  if (!settled.IsArray()) return settled;
  Context& context = evaluator->context();
  ir::Builder& builder = evaluator->builder();
  const Dims& to = left.As<ArrayValue>().dims();
  const Dims& from = settled.As<ArrayValue>().dims();
  const std::string misfit = "operands could not be broadcast together with shapes " +
                             ShapeHoles(to) + " " + ShapeHoles(from) + " " + ShapeHoles(to) + " ";
  const std::string too_large = "non-broadcastable output operand with shape " + ShapeHoles(to) +
                                " doesn't match the broadcast shape ";
  if (from.size() > to.size()) {
    context.Raise("ValueError", too_large + ShapeHoles(from), Joined(to, from));
  }
  Dims broadcast = to;
  for (size_t i = 0; i < from.size(); ++i) {
    const Operand& wanted = to[to.size() - from.size() + i];
    if (from[i] == wanted || from[i].IsInt(1)) continue;
    const Operand one = Operand::Int(1);
    const Operand equal = builder.Scalar(OpCode::kEq, {from[i], wanted});
    const Operand from_one = builder.Scalar(OpCode::kEq, {from[i], one});
    const bool never_one = context.IsParameterSize(from[i]) || from[i].IsConstant();
    const Operand fits = never_one ? equal : builder.Scalar(OpCode::kOr, {equal, from_one});
    if (!wanted.IsInt(1)) {
      const bool to_is_wide = context.IsParameterSize(wanted) || wanted.IsConstant();
      const Operand to_one = builder.Scalar(OpCode::kEq, {wanted, one});
      const Operand meets = to_is_wide ? fits : builder.Scalar(OpCode::kOr, {fits, to_one});
      if (meets.IsInt(0)) context.Raise("ValueError", misfit, Joined(to, from, to));
      context.Check(meets, "ValueError", misfit, Joined(to, from, to));
      if (to_is_wide) continue;
    }
    broadcast[to.size() - from.size() + i] = from[i];
    context.Check(fits, "ValueError", too_large + ShapeHoles(broadcast), Joined(to, broadcast));
  }
  const bool python = settled.As<ArrayValue>().python_elements;
  return ArrayValue{evaluator->BroadcastTo(settled.op(), to), Access::kReadOnly, python};
}

// `left @= right`: the product must have the shape of `left` already.
Value MatMulInPlace(Evaluator* evaluator, const Value& left, const Value& right) {
  const Value result = MatMul(evaluator, left, right);
  RequireCast(evaluator->context(), "matmul' output", PromotionType(result).dtype,
              PromotionType(left).dtype, Casting::kSameKind);
  evaluator->CopyInto(result, left);
  return left;
}

// `1j * np.float64(2)` is Python's own product: np.float64 is one of its floats.
bool IsComplexOfPython(const Value& value) {
  return value.IsPythonScalar() && ir::IsComplex(ir::DTypeOf(value.op()));
}
bool IsFloat64(const Value& value) {
  return value.IsScalar() && !value.IsPythonScalar() && ir::DTypeOf(value.op()) == DType::kF64;
}

// x ** 2, which NumPy takes for np.square(x), that gives 8 bits of bools.
bool IsSquareOfBools(const Value& base, const Value& exponent) {
  return base.IsArray() && ir::IsBool(PromotionType(base).dtype) && exponent.IsPythonScalar() &&
         exponent.IsStaticScalar() && exponent.op().IsInt(2) &&
         !ir::IsBool(exponent.op().constant().dtype);
}

}  // namespace

std::string PrimitiveName(BinaryOperator op) {
  switch (op) {
    case BinaryOperator::kAdd: return "add";
    case BinaryOperator::kSub: return "subtract";
    case BinaryOperator::kMult: return "multiply";
    case BinaryOperator::kMatMult: return "";
    case BinaryOperator::kDiv: return "divide";
    case BinaryOperator::kFloorDiv: return "floor_divide";
    case BinaryOperator::kMod: return "remainder";
    case BinaryOperator::kPow: return "power";
    case BinaryOperator::kLShift: return "left_shift";
    case BinaryOperator::kRShift: return "right_shift";
    case BinaryOperator::kBitOr: return "bitwise_or";
    case BinaryOperator::kBitXor: return "bitwise_xor";
    case BinaryOperator::kBitAnd: return "bitwise_and";
  }
  return "";
}

Value Evaluator::Binary(BinaryOperator op, const Value& left, const Value& right) {
  if (IsComplexOfPython(left) && IsFloat64(right)) {
    return Binary(op, left, Value::Python(right.op()));
  }
  if (IsPythonPair(left, right)) {
    return PythonBinary(context_, op, left.As<ScalarValue>(), right.As<ScalarValue>());
  }
  if (!left.IsArray() && !right.IsArray()) {
    Value sequence = SequenceBinary(this, op, left, right);
    if (!sequence.IsUndefined()) return sequence;
    if (IsPythonsTuple(op, left, right)) FailOperands(*context_, Spelling(op), left, right);
  }
  const bool meets_number = IsNumber(left) || IsNumber(right);
  if (!meets_number || !MayBeArray(left) || !MayBeArray(right)) {
    FailOperands(*context_, Spelling(op), left, right);
  }
  if (op == BinaryOperator::kMatMult) return MatMul(this, left, right);
  if (op == BinaryOperator::kPow && IsSquareOfBools(left, right)) {
    const Value bits = CastArray(left, ir::DType::kI8);
    return Binary(BinaryOperator::kMult, bits, bits);
  }
  return ApplyPrimitive(this, *FindPrimitive(PrimitiveName(op)), {left, right});
}

Value Evaluator::BinaryInPlace(BinaryOperator op, const Value& left, const Value& right) {
  if (!left.IsArray()) return Binary(op, left, right);
  if (!MayBeArray(right)) FailOperands(*context_, Spelling(op) + "=", left, right);
  if (op == BinaryOperator::kMatMult) {
    RequireWritable(context_, left.As<ArrayValue>(), Destination::kOutput);
    return MatMulInPlace(this, left, right);
  }
  CopyInto(ResultInPlace(op, left, right), left);
  return left;
}

Value Evaluator::ResultInPlace(BinaryOperator op, const Value& left, const Value& right) {
  RequireWritable(context_, left.As<ArrayValue>(), Destination::kOutput);
  const Primitive& primitive = *FindPrimitive(PrimitiveName(op));
  const Value result = ApplyPrimitive(this, primitive, {left, FitInPlace(this, left, right)});
  RequireCast(*context_, std::string(primitive.name) + "' output", PromotionType(result).dtype,
              PromotionType(left).dtype, Casting::kSameKind);
  return result;
}

Value Evaluator::Unary(UnaryOperator op, const Value& operand) {
  if (op == UnaryOperator::kNot) {
    return Value::Python(builder().Scalar(OpCode::kNot, {Truth(operand)}));
  }
  if (operand.IsPythonScalar()) return PythonUnary(context_, op, operand.As<ScalarValue>());
  if (!IsNumber(operand)) {
    context_->FailType("bad operand type for unary " + Spelling(op) + ": '" +
                       PythonTypeName(operand) + "'");
  }
  if (op == UnaryOperator::kUAdd && ir::IsBool(PromotionType(operand).dtype)) {
    context_->FailType(
        "ufunc 'positive' did not contain a loop with signature matching types "
        "<class 'numpy.dtypes.BoolDType'> -> None");
  }
  if (op == UnaryOperator::kUAdd) return operand.IsArray() ? CopyArray(operand) : operand;
  const char* name = op == UnaryOperator::kUSub ? "negative" : "invert";
  return ApplyPrimitive(this, *FindPrimitive(name), {operand});
}

}  // namespace parakeet::frontend
