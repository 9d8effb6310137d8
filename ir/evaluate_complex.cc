#include <cmath>
#include <complex>
#include <limits>

#include "ir/evaluate_by_kind.h"

namespace parakeet::ir {
namespace {

// Below, T is double or float. Products and quotients are written out: C++'s own recover
// infinities, NumPy's do not.

template <typename T>
using Complex = std::complex<T>;

template <typename T>
bool HasNan(Complex<T> z) {
  return std::isnan(z.real()) || std::isnan(z.imag());
}

template <typename T>
Complex<T> Multiply(Complex<T> a, Complex<T> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// Smith's method, which scales by the divisor's larger part; a zero divisor gives infinities or
// nan.
template <typename T>
Complex<T> Divide(Complex<T> a, Complex<T> b) {
  const T real_size = std::fabs(b.real());
  const T imag_size = std::fabs(b.imag());
  if (real_size == 0 && imag_size == 0) return {a.real() / real_size, a.imag() / imag_size};
  if (real_size >= imag_size) {
    const T ratio = b.imag() / b.real();
    const T scale = T{1} / (b.real() + b.imag() * ratio);
    return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
  }
  const T ratio = b.real() / b.imag();
  const T scale = T{1} / (b.imag() + b.real() * ratio);
  return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
}

// By squaring, as NumPy does for whole exponents below 100; squares and cubes are plain products.
template <typename T>
Complex<T> WholePower(Complex<T> base, int exponent) {
  if (exponent == 1) return base;
  if (exponent == 2) return Multiply(base, base);
  if (exponent == 3) return Multiply(base, Multiply(base, base));
  Complex<T> power = {1, 0};
  for (int left = std::abs(exponent); left != 0; left >>= 1) {
    if (left & 1) power = Multiply(power, base);
    if (left > 1) base = Multiply(base, base);
  }
  return exponent < 0 ? Divide<T>({1, 0}, power) : power;
}

template <typename T>
Complex<T> Power(Complex<T> a, Complex<T> b) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (b.real() == 0 && b.imag() == 0) return {1, 0};
  if (a.real() == 0 && a.imag() == 0) {
    return b.real() > 0 ? Complex<T>(0, 0) : Complex<T>(kNan, kNan);
  }
  const bool is_whole =
      b.imag() == 0 && std::fabs(b.real()) < 100 && b.real() == std::trunc(b.real());
  return is_whole ? WholePower(a, static_cast<int>(b.real())) : std::pow(a, b);
}

// z / |z|, with the limits at infinity along an axis.
template <typename T>
Complex<T> SignOf(Complex<T> z) {
  const T size = std::hypot(z.real(), z.imag());
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  if (std::isnan(size) || (std::isinf(z.real()) && std::isinf(z.imag()))) return {kNan, kNan};
  if (size == 0) return {0, 0};
  if (std::isinf(z.real())) return {std::copysign(T{1}, z.real()), 0};
  if (std::isinf(z.imag())) return {0, std::copysign(T{1}, z.imag())};
  return {z.real() / size, z.imag() / size};
}

template <typename T>
Complex<T> Expm1(Complex<T> z) {
  const T half_sine = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * half_sine * half_sine,
          std::exp(z.real()) * std::sin(z.imag())};
}

template <typename T>
Complex<T> Log1p(Complex<T> z) {
  return {std::log(std::hypot(z.real() + 1, z.imag())), std::atan2(z.imag(), z.real() + 1)};
}

template <typename T>
Complex<T> Scaled(Complex<T> z, double factor) {
  const T rounded = static_cast<T>(factor);
  return {z.real() * rounded, z.imag() * rounded};
}

constexpr double kLn2 = 0.693147180559945309417232121458176568;
constexpr double kLog2OfE = 1.442695040888963407359924681001892137;
constexpr double kLog10OfE = 0.434294481903251827651128918916605082;

template <typename T>
std::optional<Complex<T>> Unary(OpCode op, Complex<T> z) {
  switch (op) {
    case OpCode::kNeg: return Complex<T>(-z.real(), -z.imag());
    case OpCode::kSign: return SignOf(z);
    case OpCode::kRint: return Complex<T>(std::rint(z.real()), std::rint(z.imag()));
    case OpCode::kSqrt: return std::sqrt(z);
    case OpCode::kExp: return std::exp(z);
    case OpCode::kExp2: return std::exp(Scaled(z, kLn2));
    case OpCode::kExpm1: return Expm1(z);
    case OpCode::kLog: return std::log(z);
    case OpCode::kLog2: return Scaled(std::log(z), kLog2OfE);
    case OpCode::kLog10: return Scaled(std::log(z), kLog10OfE);
    case OpCode::kLog1p: return Log1p(z);
    case OpCode::kSin: return std::sin(z);
    case OpCode::kCos: return std::cos(z);
    case OpCode::kTan: return std::tan(z);
    case OpCode::kAsin: return std::asin(z);
    case OpCode::kAcos: return std::acos(z);
    case OpCode::kAtan: return std::atan(z);
    case OpCode::kSinh: return std::sinh(z);
    case OpCode::kCosh: return std::cosh(z);
    case OpCode::kTanh: return std::tanh(z);
    case OpCode::kAsinh: return std::asinh(z);
    case OpCode::kAcosh: return std::acosh(z);
    case OpCode::kAtanh: return std::atanh(z);
    case OpCode::kConj: return Complex<T>(z.real(), -z.imag());
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<T> Part(OpCode op, Complex<T> z) {
  switch (op) {
    case OpCode::kAbs: return std::hypot(z.real(), z.imag());
    case OpCode::kReal: return z.real();
    case OpCode::kImag: return z.imag();
    default: return std::nullopt;
  }
}

// The order of real parts, then of imaginary parts; nothing is in order with a nan.
template <typename T>
bool IsLess(Complex<T> a, Complex<T> b) {
  if (std::isnan(a.imag()) || std::isnan(b.imag())) return false;
  return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
}

template <typename T>
bool IsLessOrEqual(Complex<T> a, Complex<T> b) {
  return IsLess(a, b) || a == b;
}

template <typename T>
std::optional<Complex<T>> Binary(OpCode op, Complex<T> a, Complex<T> b) {
  switch (op) {
    case OpCode::kAdd: return a + b;
    case OpCode::kSub: return a - b;
    case OpCode::kMul: return Multiply(a, b);
    case OpCode::kDiv: return Divide(a, b);
    case OpCode::kPow: return Power(a, b);
    case OpCode::kMin: return HasNan(a) || IsLessOrEqual(a, b) ? a : b;
    case OpCode::kMax: return HasNan(a) || IsLessOrEqual(b, a) ? a : b;
    case OpCode::kFmin: return HasNan(b) || IsLessOrEqual(a, b) ? a : b;
    case OpCode::kFmax: return HasNan(b) || IsLessOrEqual(b, a) ? a : b;
    default: return std::nullopt;
  }
}

template <typename T>
std::optional<bool> Test(OpCode op, Complex<T> a, Complex<T> b) {
  switch (op) {
    case OpCode::kIsNan: return HasNan(a);
    case OpCode::kIsInf: return std::isinf(a.real()) || std::isinf(a.imag());
    case OpCode::kIsFinite: return std::isfinite(a.real()) && std::isfinite(a.imag());
    case OpCode::kEq: return a == b;
    case OpCode::kNe: return a != b;
    case OpCode::kLt: return IsLess(a, b);
    case OpCode::kLe: return IsLessOrEqual(a, b);
    case OpCode::kGt: return IsLess(b, a);
    case OpCode::kGe: return IsLessOrEqual(b, a);
    default: return std::nullopt;
  }
}

template <typename T>
Complex<T> ValueOf(const Constant& constant) {
  return {static_cast<T>(constant.real), static_cast<T>(constant.imag)};
}

template <typename T>
std::optional<Constant> EvaluateComplexOf(OpCode op, std::span<const Constant> operands) {
  const DType dtype = operands[0].dtype;
  if (operands.size() > 2) return std::nullopt;
  const Complex<T> a = ValueOf<T>(operands[0]);
  const Complex<T> b = operands.size() > 1 ? ValueOf<T>(operands[1]) : Complex<T>();
  if (InfoOf(op).rule == TypeRule::kBool) {
    const std::optional<bool> test = Test(op, a, b);
    return test ? std::optional(Constant::Bool(*test)) : std::nullopt;
  }
  if (InfoOf(op).rule == TypeRule::kPart) {
    const std::optional<T> part = Part(op, a);
    return part ? std::optional(Constant::Float(*part, PartOf(dtype))) : std::nullopt;
  }
  const std::optional<Complex<T>> value = operands.size() == 1 ? Unary(op, a) : Binary(op, a, b);
  return value ? std::optional(Constant::Complex(value->real(), value->imag(), dtype))
               : std::nullopt;
}

}  // namespace

std::optional<Constant> EvaluateComplex(OpCode op, std::span<const Constant> operands) {
  if (operands[0].dtype == DType::kC128) return EvaluateComplexOf<double>(op, operands);
  return EvaluateComplexOf<float>(op, operands);
}

}  // namespace parakeet::ir
