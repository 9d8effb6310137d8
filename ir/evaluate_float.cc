#include <cmath>

#include "ir/evaluate_by_kind.h"
#include "ir/float16.h"

namespace parakeet::ir {
namespace {

// Below, T is double or float; half precision computes in float and rounds each result, as NumPy
// does.

template <typename T>
struct QuotientAndRemainder {
  T quotient;
  T remainder;
};

// NumPy's npy_divmod: the remainder is exact and takes b's sign; the quotient is snapped to a whole
// number. A zero keeps the sign that the exact result would have.
template <typename T>
QuotientAndRemainder<T> FloorDivide(T a, T b) {
  T remainder = std::fmod(a, b);
  if (b == 0) return {a / b, remainder};
  T quotient = (a - remainder) / b;
  if (remainder == 0) {
    remainder = std::copysign(T{0}, b);
  } else if ((b < 0) != (remainder < 0)) {
    remainder += b;
    quotient -= 1;
  }
  if (quotient == 0) return {std::copysign(T{0}, a / b), remainder};
  T whole = std::floor(quotient);
  if (quotient - whole > T{0.5}) whole += 1;
  return {whole, remainder};
}

template <typename T>
T SignOf(T x) {
  if (x > 0) return 1;
  if (x < 0) return -1;
  return x == 0 ? 0 : x;
}

template <typename T>
std::optional<T> Unary(OpCode op, T x) {
  switch (op) {
    case OpCode::kNeg: return -x;
    case OpCode::kAbs: return std::fabs(x);
    case OpCode::kSign: return SignOf(x);
    case OpCode::kFloor: return std::floor(x);
    case OpCode::kCeil: return std::ceil(x);
    case OpCode::kTrunc: return std::trunc(x);
    case OpCode::kRint: return std::rint(x);
    case OpCode::kSqrt: return std::sqrt(x);
    case OpCode::kCbrt: return std::cbrt(x);
    case OpCode::kExp: return std::exp(x);
    case OpCode::kExp2: return std::exp2(x);
    case OpCode::kExpm1: return std::expm1(x);
    case OpCode::kLog: return std::log(x);
    case OpCode::kLog2: return std::log2(x);
    case OpCode::kLog10: return std::log10(x);
    case OpCode::kLog1p: return std::log1p(x);
    case OpCode::kSin: return std::sin(x);
    case OpCode::kCos: return std::cos(x);
    case OpCode::kTan: return std::tan(x);
    case OpCode::kAsin: return std::asin(x);
    case OpCode::kAcos: return std::acos(x);
    case OpCode::kAtan: return std::atan(x);
    case OpCode::kSinh: return std::sinh(x);
    case OpCode::kCosh: return std::cosh(x);
    case OpCode::kTanh: return std::tanh(x);
    case OpCode::kAsinh: return std::asinh(x);
    case OpCode::kAcosh: return std::acosh(x);
    case OpCode::kAtanh: return std::atanh(x);
    case OpCode::kErf: return std::erf(x);
    case OpCode::kErfc: return std::erfc(x);
    case OpCode::kReal:
    case OpCode::kConj: return x;
    case OpCode::kImag: return T{0};
    default: return std::nullopt;
  }
}

// Of two equal numbers (0.0 and -0.0) min and max give the second, as the processor's instructions
// do.
template <typename T>
std::optional<T> Binary(OpCode op, T a, T b) {
  switch (op) {
    case OpCode::kAdd: return a + b;
    case OpCode::kSub: return a - b;
    case OpCode::kMul: return a * b;
    case OpCode::kDiv: return a / b;
    case OpCode::kFloorDiv: return FloorDivide(a, b).quotient;
    case OpCode::kMod: return FloorDivide(a, b).remainder;
    case OpCode::kFmod: return std::fmod(a, b);
    case OpCode::kPow: return std::pow(a, b);
    case OpCode::kMin: return a < b || std::isnan(a) ? a : b;
    case OpCode::kMax: return a > b || std::isnan(a) ? a : b;
    case OpCode::kFmin: return a < b || std::isnan(b) ? a : b;
    case OpCode::kFmax: return a > b || std::isnan(b) ? a : b;
    case OpCode::kAtan2: return std::atan2(a, b);
    case OpCode::kHypot: return std::hypot(a, b);
    case OpCode::kCopySign: return std::copysign(a, b);
    case OpCode::kNextAfter: return std::nextafter(a, b);
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<bool> Test(OpCode op, T a, T b) {
  switch (op) {
    case OpCode::kIsNan: return std::isnan(a);
    case OpCode::kIsInf: return std::isinf(a);
    case OpCode::kIsFinite: return std::isfinite(a);
    case OpCode::kSignbit: return std::signbit(a);
    case OpCode::kEq: return a == b;
    case OpCode::kNe: return a != b;
    case OpCode::kLt: return a < b;
    case OpCode::kLe: return a <= b;
    case OpCode::kGt: return a > b;
    case OpCode::kGe: return a >= b;
    default: return std::nullopt;
  }
}

// Neighbouring halves have neighbouring bits, counted away from zero.
double NextHalfAfter(double from, double towards) {
  if (std::isnan(from) || std::isnan(towards)) return from + towards;
  if (from == towards) return from;
  if (from == 0) return std::copysign(DoubleFromHalf(1), towards);
  const bool away_from_zero = (from > 0) == (towards > from);
  const uint16_t bits = HalfFromDouble(from);
  return DoubleFromHalf(static_cast<uint16_t>(away_from_zero ? bits + 1 : bits - 1));
}

template <typename T>
std::optional<Constant> EvaluateFloatOf(OpCode op, std::span<const Constant> operands) {
  const DType dtype = operands[0].dtype;
  const T a = static_cast<T>(operands[0].real);
  const T b = operands.size() > 1 ? static_cast<T>(operands[1].real) : 0;
  if (InfoOf(op).rule == TypeRule::kBool) {
    const std::optional<bool> test = Test(op, a, b);
    return test ? std::optional(Constant::Bool(*test)) : std::nullopt;
  }
  std::optional<T> value;
  if (op == OpCode::kFma) {
    value = std::fma(a, b, static_cast<T>(operands[2].real));
  } else {
    value = operands.size() == 1 ? Unary(op, a) : Binary(op, a, b);
  }
  return value ? std::optional(Constant::Float(RoundTo(dtype, *value), dtype)) : std::nullopt;
}

// Of two equal numbers NumPy's half precision takes the first, the others the second.
bool TakesFirst(OpCode op, std::span<const Constant> operands) {
  const bool is_extreme =
      op == OpCode::kMin || op == OpCode::kMax || op == OpCode::kFmin || op == OpCode::kFmax;
  return is_extreme && operands[0].dtype == DType::kF16 && operands[0].real == operands[1].real;
}

}  // namespace

std::optional<Constant> EvaluateFloat(OpCode op, std::span<const Constant> operands) {
  const DType dtype = operands[0].dtype;
  if (dtype == DType::kF64) return EvaluateFloatOf<double>(op, operands);
  if (dtype == DType::kF16 && op == OpCode::kNextAfter) {
    return Constant::Float(NextHalfAfter(operands[0].real, operands[1].real), dtype);
  }
  if (TakesFirst(op, operands)) return operands[0];
  return EvaluateFloatOf<float>(op, operands);
}

}  // namespace parakeet::ir
