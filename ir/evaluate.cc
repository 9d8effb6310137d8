#include "ir/evaluate.h"

#include <bit>
#include <limits>
#include <span>

#include "ir/evaluate_by_kind.h"
#include "ir/float16.h"

namespace parakeet::ir {
namespace {

size_t OperandCount(OpCode op) {
  if (op <= OpCode::kCast) return 1;
  return op <= OpCode::kMakeComplex ? 2 : 3;
}

bool ShareOneDType(std::span<const Constant> operands) {
  for (const Constant& operand : operands) {
    if (operand.dtype != operands[0].dtype) return false;
  }
  return true;
}

std::optional<Constant> EvaluateBool(OpCode op, std::span<const Constant> operands) {
  const bool a = operands[0].integer != 0;
  const bool b = operands.size() > 1 && operands[1].integer != 0;
  switch (op) {
    case OpCode::kAbs:
    case OpCode::kReal: return Constant::Bool(a);
    case OpCode::kNot: return Constant::Bool(!a);
    case OpCode::kImag:
    case OpCode::kIsNan:
    case OpCode::kIsInf:
    case OpCode::kSignbit: return Constant::Bool(false);
    case OpCode::kIsFinite: return Constant::Bool(true);
    case OpCode::kAdd:
    case OpCode::kMax:
    case OpCode::kFmax:
    case OpCode::kOr: return Constant::Bool(a || b);
    case OpCode::kMul:
    case OpCode::kMin:
    case OpCode::kFmin:
    case OpCode::kAnd: return Constant::Bool(a && b);
    case OpCode::kXor:
    case OpCode::kNe: return Constant::Bool(a != b);
    case OpCode::kEq: return Constant::Bool(a == b);
    case OpCode::kLt: return Constant::Bool(!a && b);
    case OpCode::kLe: return Constant::Bool(!a || b);
    case OpCode::kGt: return Constant::Bool(a && !b);
    case OpCode::kGe: return Constant::Bool(a || !b);
    default: return std::nullopt;
  }
}

std::optional<Constant> EvaluateSelect(std::span<const Constant> operands) {
  if (!IsBool(operands[0].dtype) || operands[1].dtype != operands[2].dtype) return std::nullopt;
  return operands[0].integer != 0 ? operands[1] : operands[2];
}

std::optional<Constant> EvaluateMakeComplex(std::span<const Constant> parts, DType result) {
  if (!IsComplex(result) || parts[0].dtype != PartOf(result)) return std::nullopt;
  return Constant::Complex(parts[0].real, parts[1].real, result);
}

// A signed integer of the bits' width.
std::optional<int64_t> BitsOf(const Constant& value) {
  switch (value.dtype) {
    case DType::kF16: return static_cast<int16_t>(HalfFromDouble(value.real));
    case DType::kF32: return std::bit_cast<int32_t>(static_cast<float>(value.real));
    case DType::kF64: return std::bit_cast<int64_t>(value.real);
    default: return IsInteger(value.dtype) ? std::optional(value.integer) : std::nullopt;
  }
}

std::optional<Constant> EvaluateBitcast(const Constant& value, DType result) {
  const std::optional<int64_t> bits = BitsOf(value);
  if (!bits || SizeInBytes(value.dtype) != SizeInBytes(result)) return std::nullopt;
  switch (result) {
    case DType::kF16: return Constant::Float(DoubleFromHalf(static_cast<uint16_t>(*bits)), result);
    case DType::kF32:
      return Constant::Float(std::bit_cast<float>(static_cast<int32_t>(*bits)), result);
    case DType::kF64: return Constant::Float(std::bit_cast<double>(*bits), result);
    default: return IsInteger(result) ? std::optional(ConstantOf(result, *bits)) : std::nullopt;
  }
}

bool IsNonzero(const Constant& value) {
  if (IsFloat(value.dtype)) return value.real != 0;
  if (IsComplex(value.dtype)) return value.real != 0 || value.imag != 0;
  return value.integer != 0;
}

// Half-precision numbers come from integers through float, as in NumPy; larger than float's whole
// numbers is infinite.
double RealOf(const Constant& value, DType part) {
  if (IsFloat(value.dtype) || IsComplex(value.dtype)) return value.real;
  const bool is_unsigned = value.dtype == DType::kU64;
  const uint64_t bits = static_cast<uint64_t>(value.integer);
  if (part == DType::kF64) {
    return is_unsigned ? static_cast<double>(bits) : static_cast<double>(value.integer);
  }
  return is_unsigned ? static_cast<float>(bits) : static_cast<float>(value.integer);
}

// cvttsd2si with a 64-bit register: what does not fit is the least integer.
int64_t TruncateTo64(double value) {
  constexpr double kLimit = 0x1p63;
  if (!(value >= -kLimit && value < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

// The same with a 32-bit register.
int32_t TruncateTo32(double value) {
  constexpr double kLimit = 0x1p31;
  if (!(value > -kLimit - 1 && value < kLimit)) return std::numeric_limits<int32_t>::min();
  return static_cast<int32_t>(value);
}

// What C compiled for x86-64 gives: 32-bit registers for 32 signed bits and for fewer; 64-bit ones
// for u32; for u64 the upper half of the range is moved down and back.
int64_t TruncateTo(DType dtype, double value) {
  if (dtype == DType::kI64 || dtype == DType::kU32) return TruncateTo64(value);
  if (dtype != DType::kU64) return TruncateTo32(value);
  if (!(value >= 0x1p63)) return TruncateTo64(value);
  const uint64_t upper = static_cast<uint64_t>(TruncateTo64(value - 0x1p63));
  return static_cast<int64_t>(upper ^ (uint64_t{1} << 63));
}

}  // namespace

double RoundTo(DType dtype, double value) {
  if (dtype == DType::kF64) return value;
  if (dtype == DType::kF32) return static_cast<float>(value);
  return DoubleFromHalf(HalfFromDouble(value));
}

std::optional<Constant> Evaluate(OpCode op, const std::vector<Constant>& operands, DType result) {
  if (!IsScalarOp(op) || operands.size() != OperandCount(op)) return std::nullopt;
  if (op == OpCode::kCast) return EvaluateCast(operands[0], result);
  if (op == OpCode::kBitcast) return EvaluateBitcast(operands[0], result);
  if (op == OpCode::kSelect) return EvaluateSelect(operands);
  if (!ShareOneDType(operands)) return std::nullopt;
  if (op == OpCode::kMakeComplex) return EvaluateMakeComplex(operands, result);
  switch (KindOf(operands[0].dtype)) {
    case DTypeKind::kBoolean: return EvaluateBool(op, operands);
    case DTypeKind::kUnsigned:
    case DTypeKind::kSigned: return EvaluateInteger(op, operands);
    case DTypeKind::kFloating: return EvaluateFloat(op, operands);
    case DTypeKind::kComplex: return EvaluateComplex(op, operands);
  }
  return std::nullopt;
}

Constant EvaluateCast(const Constant& value, DType dtype) {
  if (IsBool(dtype)) return Constant::Bool(IsNonzero(value));
  if (IsInteger(dtype)) {
    const bool is_real = IsFloat(value.dtype) || IsComplex(value.dtype);
    return ConstantOf(dtype, is_real ? TruncateTo(dtype, value.real) : value.integer);
  }
  const DType part = IsComplex(dtype) ? PartOf(dtype) : dtype;
  const double real = RoundTo(part, RealOf(value, part));
  if (IsFloat(dtype)) return Constant::Float(real, dtype);
  return Constant::Complex(real, RoundTo(part, value.imag), dtype);
}

}  // namespace parakeet::ir
