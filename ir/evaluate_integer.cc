#include <algorithm>
#include <bit>
#include <cstdint>

#include "ir/evaluate_by_kind.h"

namespace parakeet::ir {
namespace {

// Below, T is int64_t or, for unsigned dtypes, uint64_t; narrower dtypes are extended to it, and
// ConstantOf wraps the result back. Wrapping arithmetic is done on uint64_t: signed overflow is
// undefined in C++.

uint64_t Power(uint64_t base, uint64_t exponent) {
  uint64_t power = 1;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) power *= base;
    base *= base;
  }
  return power;
}

// The least integer over -1 wraps to itself; the processor would trap.
template <typename T>
T Quotient(T a, T b) {
  if (b == 0) return 0;
  if (b == static_cast<T>(-1) && static_cast<T>(-1) < 0) {
    return static_cast<T>(0 - static_cast<uint64_t>(a));
  }
  return a / b;
}

template <typename T>
T Remainder(T a, T b) {
  if (b == 0 || (b == static_cast<T>(-1) && static_cast<T>(-1) < 0)) return 0;
  return a % b;
}

template <typename T>
T FloorQuotient(T a, T b) {
  const bool inexact_below_zero = Remainder(a, b) != 0 && (a < 0) != (b < 0);
  return Quotient(a, b) - (inexact_below_zero ? 1 : 0);
}

template <typename T>
T FloorRemainder(T a, T b) {
  const T remainder = Remainder(a, b);
  return remainder != 0 && (a < 0) != (b < 0) ? remainder + b : remainder;
}

// A count that is negative or not below the width shifts everything out.
template <typename T>
T ShiftLeft(T a, T b, int width) {
  return static_cast<uint64_t>(b) < static_cast<uint64_t>(width)
             ? static_cast<T>(static_cast<uint64_t>(a) << b)
             : 0;
}

template <typename T>
T ShiftRight(T a, T b, int width) {
  if (static_cast<uint64_t>(b) < static_cast<uint64_t>(width)) return a >> b;
  return a < 0 ? static_cast<T>(-1) : 0;
}

int CountBits(uint64_t bits, int width) { return std::popcount(bits << (64 - width)); }

int TrailingZeros(uint64_t bits, int width) { return std::min(std::countr_zero(bits), width); }

int BitLength(uint64_t bits, int width) {
  return std::bit_width((bits << (64 - width)) >> (64 - width));
}

template <typename T>
std::optional<T> Unary(OpCode op, T a, int width) {
  switch (op) {
    case OpCode::kNeg: return static_cast<T>(0 - static_cast<uint64_t>(a));
    case OpCode::kAbs: return a < 0 ? static_cast<T>(0 - static_cast<uint64_t>(a)) : a;
    case OpCode::kSign: return static_cast<T>((a > 0) - (a < 0));
    case OpCode::kNot: return static_cast<T>(~a);
    case OpCode::kPopCount: return static_cast<T>(CountBits(static_cast<uint64_t>(a), width));
    case OpCode::kBitLength: return static_cast<T>(BitLength(static_cast<uint64_t>(a), width));
    case OpCode::kTrailingZeros:
      return static_cast<T>(TrailingZeros(static_cast<uint64_t>(a), width));
    case OpCode::kFloor:
    case OpCode::kCeil:
    case OpCode::kTrunc:
    case OpCode::kRint:
    case OpCode::kReal:
    case OpCode::kConj: return a;
    case OpCode::kImag: return T{0};
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<T> Binary(OpCode op, T a, T b, int width) {
  const uint64_t x = static_cast<uint64_t>(a);
  const uint64_t y = static_cast<uint64_t>(b);
  switch (op) {
    case OpCode::kAdd: return static_cast<T>(x + y);
    case OpCode::kSub: return static_cast<T>(x - y);
    case OpCode::kMul: return static_cast<T>(x * y);
    case OpCode::kFloorDiv: return FloorQuotient(a, b);
    case OpCode::kMod: return FloorRemainder(a, b);
    case OpCode::kFmod: return Remainder(a, b);
    case OpCode::kPow: return b < 0 ? T{1} : static_cast<T>(Power(x, y));
    case OpCode::kMin:
    case OpCode::kFmin: return b < a ? b : a;
    case OpCode::kMax:
    case OpCode::kFmax: return a < b ? b : a;
    case OpCode::kAnd: return a & b;
    case OpCode::kOr: return a | b;
    case OpCode::kXor: return a ^ b;
    case OpCode::kShl: return ShiftLeft(a, b, width);
    case OpCode::kShr: return ShiftRight(a, b, width);
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<bool> Test(OpCode op, T a, T b) {
  switch (op) {
    case OpCode::kIsNan:
    case OpCode::kIsInf: return false;
    case OpCode::kIsFinite: return true;
    case OpCode::kSignbit: return a < 0;
    case OpCode::kEq: return a == b;
    case OpCode::kNe: return a != b;
    case OpCode::kLt: return a < b;
    case OpCode::kLe: return a <= b;
    case OpCode::kGt: return a > b;
    case OpCode::kGe: return a >= b;
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<Constant> EvaluateIntegerOf(OpCode op, std::span<const Constant> operands) {
  const DType dtype = operands[0].dtype;
  const T a = static_cast<T>(operands[0].integer);
  const T b = operands.size() > 1 ? static_cast<T>(operands[1].integer) : 0;
  if (InfoOf(op).rule == TypeRule::kBool) {
    const std::optional<bool> test = Test(op, a, b);
    return test ? std::optional(Constant::Bool(*test)) : std::nullopt;
  }
  if (operands.size() > 2) return std::nullopt;
  const std::optional<T> value =
      operands.size() == 1 ? Unary(op, a, SizeInBits(dtype)) : Binary(op, a, b, SizeInBits(dtype));
  return value ? std::optional(ConstantOf(dtype, static_cast<int64_t>(*value))) : std::nullopt;
}

}  // namespace

std::optional<Constant> EvaluateInteger(OpCode op, std::span<const Constant> operands) {
  if (IsUnsigned(operands[0].dtype)) return EvaluateIntegerOf<uint64_t>(op, operands);
  return EvaluateIntegerOf<int64_t>(op, operands);
}

}  // namespace parakeet::ir
