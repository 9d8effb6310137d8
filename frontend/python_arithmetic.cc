#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "frontend/conversions.h"
#include "frontend/elementwise.h"
#include "frontend/promotion.h"

// What Python's operators do with Python's own numbers.
namespace parakeet::frontend {
namespace {

using ir::DType;
using ir::OpCode;
using ir::Operand;

constexpr char kZeroPower[] = "0.0 cannot be raised to a negative power";

bool IsIntLike(const Operand& op) {
  return ir::IsInteger(ir::DTypeOf(op)) || ir::IsBool(ir::DTypeOf(op));
}

[[noreturn]] void FailOperands(const Context& context, BinaryOperator op, const ScalarValue& left,
                               const ScalarValue& right) {
  const std::string spelling = op == BinaryOperator::kPow ? "** or pow()" : Spelling(op);
  context.FailType("unsupported operand type(s) for " + spelling + ": '" + PythonTypeName(left) +
                   "' and '" + PythonTypeName(right) + "'");
}

// Python's message for a division by zero of operands of `dtype`.
const char* ZeroMessage(BinaryOperator op, DType dtype) {
  if (op == BinaryOperator::kDiv) {
    if (ir::IsComplex(dtype)) return "complex division by zero";
    return ir::IsFloat(dtype) ? "float division by zero" : "division by zero";
  }
  const bool is_mod = op == BinaryOperator::kMod;
  if (ir::IsFloat(dtype)) return is_mod ? "float modulo" : "float floor division by zero";
  return is_mod ? "integer modulo by zero" : "integer division or modulo by zero";
}

Operand NonZeroDivisor(Context* context, BinaryOperator op, const Operand& divisor) {
  const Operand ok = IsNonZero(&context->builder(), divisor);
  const char* message = ZeroMessage(op, ir::DTypeOf(divisor));
  if (ok.IsInt(0)) context->Raise("ZeroDivisionError", message);
  context->Check(ok, "ZeroDivisionError", message);
  return divisor;
}

Value Divide(Context* context, BinaryOperator op, OpCode code, Operand left, Operand right) {
  ir::Builder& builder = context->builder();
  NonZeroDivisor(context, op, right);
  const DType dtype = ir::DTypeOf(left);
  if (op == BinaryOperator::kDiv && ir::IsInteger(dtype)) {
    left = builder.Cast(left, DType::kF64);
    right = builder.Cast(right, DType::kF64);
  }
  return Value::Python(builder.Scalar(code, {left, right}));
}

void RequireNoZeroToNegative(Context* context, const Operand& base, const Operand& exponent) {
  ir::Builder& builder = context->builder();
  const Operand zero = ir::Constant::Float(0.0);
  const Operand base_ok = builder.Scalar(OpCode::kNe, {base, zero});
  const Operand exponent_ok = builder.Scalar(OpCode::kGe, {exponent, zero});
  const Operand is_nan = builder.Scalar(OpCode::kIsNan, {exponent});
  const Operand ok =
      builder.Scalar(OpCode::kOr, {builder.Scalar(OpCode::kOr, {base_ok, exponent_ok}), is_nan});
  if (ok.IsInt(0)) context->Raise("ZeroDivisionError", kZeroPower);
  context->Check(ok, "ZeroDivisionError", kZeroPower);
}

// Python gives a complex number there, and the type of an expression cannot hang on its value.
void RequireNoFractionOfNegative(Context* context, const Operand& base, const Operand& exponent) {
  ir::Builder& builder = context->builder();
  if (exponent.IsConstant() && std::floor(exponent.constant().real) == exponent.constant().real)
    return;
  const Operand whole =
      builder.Scalar(OpCode::kEq, {builder.Scalar(OpCode::kFloor, {exponent}), exponent});
  const Operand negative = builder.Scalar(OpCode::kLt, {base, ir::Constant::Float(0.0)});
  const Operand finite = builder.Scalar(OpCode::kIsFinite, {base});
  const Operand is_nan = builder.Scalar(OpCode::kIsNan, {exponent});
  Operand bad = builder.Scalar(OpCode::kAnd, {negative, finite});
  bad = builder.Scalar(OpCode::kAnd, {bad, builder.Scalar(OpCode::kNot, {whole})});
  bad = builder.Scalar(OpCode::kAnd, {bad, builder.Scalar(OpCode::kNot, {is_nan})});
  context->Check(
      builder.Scalar(OpCode::kNot, {bad}), "ValueError",
      "a negative float to a fractional power is complex in Python: make the base complex");
}

Value FloatPower(Context* context, const Operand& base, const Operand& exponent) {
  RequireNoZeroToNegative(context, base, exponent);
  RequireNoFractionOfNegative(context, base, exponent);
  return Value::Python(context->builder().Scalar(OpCode::kPow, {base, exponent}));
}

// What two ints known now would give without end to their size, unless that is beyond 128 bits too.
std::optional<__int128> Exactly(OpCode code, int64_t a, int64_t b) {
  __int128 result = a;
  bool overflows = false;
  switch (code) {
    case OpCode::kAdd: return result + b;
    case OpCode::kSub: return result - b;
    case OpCode::kMul: return result * b;
    case OpCode::kShl:
      if (a == 0 || b < 0) return 0;
      return b < 64 ? std::optional(result * (__int128{1} << b)) : std::nullopt;
    case OpCode::kPow:
      if (a >= -1 && a <= 1) return a == -1 && b % 2 == 0 ? 1 : b == 0 ? 1 : a;
      result = 1;
      for (int64_t k = 0; k < b && !overflows; ++k) {
        overflows = __builtin_mul_overflow(result, a, &result);
      }
      return overflows ? std::nullopt : std::optional(result);
    default: return 0;
  }
}

// Python's ints have no end. Ours wrap, as documented; but where both operands are known, the
// program would be another one, and says so.
void RequireFitting(Context* context, OpCode code, const Operand& a, const Operand& b) {
  if (!a.IsConstant() || !b.IsConstant() || !ir::IsInteger(ir::DTypeOf(a))) return;
  const auto exact = Exactly(code, a.constant().integer, b.constant().integer);
  if (exact && *exact == static_cast<int64_t>(*exact)) return;
  context->FailLimitation("this integer does not fit 64 bits; write it as a float");
}

Value Power(Context* context, const Operand& base, const Operand& exponent) {
  ir::Builder& builder = context->builder();
  const DType dtype = ir::DTypeOf(base);
  if (ir::IsFloat(dtype)) return FloatPower(context, base, exponent);
  if (ir::IsComplex(dtype)) return Value::Python(builder.Scalar(OpCode::kPow, {base, exponent}));
  if (exponent.IsConstant() && exponent.constant().integer < 0) {
    return FloatPower(context, builder.Cast(base, DType::kF64),
                      builder.Cast(exponent, DType::kF64));
  }
  RequireFitting(context, OpCode::kPow, base, exponent);
  context->Check(builder.Scalar(OpCode::kGe, {exponent, Operand::Int(0)}), "ValueError",
                 "Integers to negative integer powers are not allowed.");
  return Value::Python(builder.Scalar(OpCode::kPow, {base, exponent}));
}

Value Shift(Context* context, OpCode code, const Operand& left, const Operand& right) {
  ir::Builder& builder = context->builder();
  const Operand ok = builder.Scalar(OpCode::kGe, {right, Operand::Int(0)});
  if (ok.IsInt(0)) context->Raise("ValueError", "negative shift count");
  context->Check(ok, "ValueError", "negative shift count");
  RequireFitting(context, code, left, right);
  return Value::Python(builder.Scalar(code, {left, right}));
}

OpCode CodeOf(BinaryOperator op) { return FindPrimitive(PrimitiveName(op))->op; }

// & | ^ << >>: of ints; the first three of two bools give a bool.
Value IntegerOperator(Context* context, BinaryOperator op, const ScalarValue& left,
                      const ScalarValue& right) {
  if (!IsIntLike(left.op) || !IsIntLike(right.op)) FailOperands(*context, op, left, right);
  ir::Builder& builder = context->builder();
  const bool is_shift = op == BinaryOperator::kLShift || op == BinaryOperator::kRShift;
  const bool bools = ir::IsBool(ir::DTypeOf(left.op)) && ir::IsBool(ir::DTypeOf(right.op));
  if (bools && !is_shift) return Value::Python(builder.Scalar(CodeOf(op), {left.op, right.op}));
  const Operand a = builder.Cast(left.op, DType::kI64);
  const Operand b = builder.Cast(right.op, DType::kI64);
  if (is_shift) return Shift(context, CodeOf(op), a, b);
  return Value::Python(builder.Scalar(CodeOf(op), {a, b}));
}

// The dtype in which two Python numbers are added: int, float or complex.
DType NumberType(const Operand& left, const Operand& right) {
  return Promote(Promote(ir::DTypeOf(left), ir::DTypeOf(right)), DType::kI64);
}

}  // namespace

Value PythonBinary(Context* context, BinaryOperator op, const ScalarValue& left,
                   const ScalarValue& right) {
  ir::Builder& builder = context->builder();
  const DType dtype = NumberType(left.op, right.op);
  const auto numbers = [&] {
    return std::pair(builder.Cast(left.op, dtype), builder.Cast(right.op, dtype));
  };
  switch (op) {
    case BinaryOperator::kAdd:
    case BinaryOperator::kSub:
    case BinaryOperator::kMult: {
      const auto [a, b] = numbers();
      RequireFitting(context, CodeOf(op), a, b);
      return Value::Python(builder.Scalar(CodeOf(op), {a, b}));
    }
    case BinaryOperator::kFloorDiv:
    case BinaryOperator::kMod:
      if (ir::IsComplex(dtype)) FailOperands(*context, op, left, right);
      [[fallthrough]];
    case BinaryOperator::kDiv: {
      const auto [a, b] = numbers();
      return Divide(context, op, CodeOf(op), a, b);
    }
    case BinaryOperator::kPow: {
      const auto [a, b] = numbers();
      return Power(context, a, b);
    }
    case BinaryOperator::kMatMult: FailOperands(*context, op, left, right);
    default: return IntegerOperator(context, op, left, right);
  }
}

Value PythonUnary(Context* context, UnaryOperator op, const ScalarValue& operand) {
  ir::Builder& builder = context->builder();
  const DType dtype = Promote(ir::DTypeOf(operand.op), DType::kI64);
  const Operand number = builder.Cast(operand.op, dtype);
  switch (op) {
    case UnaryOperator::kUAdd: return Value::Python(number);
    case UnaryOperator::kUSub: return Value::Python(builder.Scalar(OpCode::kNeg, {number}));
    case UnaryOperator::kNot:
      return Value::Python(builder.Scalar(OpCode::kNot, {IsNonZero(&builder, operand.op)}));
    case UnaryOperator::kInvert: break;
  }
  if (!ir::IsInteger(dtype)) {
    context->FailType("bad operand type for unary ~: '" + PythonTypeName(operand) + "'");
  }
  return Value::Python(builder.Scalar(OpCode::kNot, {number}));
}

Value PythonCompare(Context* context, CompareOperator op, const ScalarValue& left,
                    const ScalarValue& right) {
  ir::Builder& builder = context->builder();
  const DType dtype = Promote(ir::DTypeOf(left.op), ir::DTypeOf(right.op));
  const bool is_order = op != CompareOperator::kEq && op != CompareOperator::kNotEq;
  if (is_order && ir::IsComplex(dtype)) {
    context->FailType("'" + Spelling(op) + "' not supported between instances of '" +
                      PythonTypeName(left) + "' and '" + PythonTypeName(right) + "'");
  }
  const OpCode code = FindPrimitive(PrimitiveName(op))->op;
  return Value::Python(
      builder.Scalar(code, {builder.Cast(left.op, dtype), builder.Cast(right.op, dtype)}));
}

std::string PythonTypeName(const Value& value) {
  if (value.IsNone()) return "NoneType";
  if (const auto* scalar = value.TryAs<ScalarValue>()) {
    const DType dtype = ir::DTypeOf(scalar->op);
    if (!scalar->python) return std::string("numpy.") + NumpyName(dtype);
    if (ir::IsBool(dtype)) return "bool";
    if (ir::IsComplex(dtype)) return "complex";
    return ir::IsFloat(dtype) ? "float" : "int";
  }
  if (value.IsArray()) return "numpy.ndarray";
  if (value.IsTuple()) return "tuple";
  if (value.IsList()) return "list";
  if (const auto* iterable = value.TryAs<IterableValue>()) {
    constexpr const char* kNames[] = {"range", "zip", "enumerate", "reversed", "ndindex"};
    return kNames[static_cast<int>(iterable->kind)];
  }
  if (value.Is<StringValue>()) return "str";
  if (value.Is<SliceValue>()) return "slice";
  if (value.Is<ModuleValue>()) return "module";
  if (value.Is<EllipsisValue>()) return "ellipsis";
  if (value.Is<DTypeValue>()) return "type";
  return value.IsCallable() ? "function" : "object";
}

}  // namespace parakeet::frontend
