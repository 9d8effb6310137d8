#include "backends/llvm/complex_math.h"

#include <cmath>
#include <numbers>

#include "llvm/IR/Constants.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

class ComplexMath {
 public:
  ComplexMath(Emission& emission, const MathLibrary& math, llvm::Type* type)
      : emission_(emission), math_(math), builder_(emission.builder), type_(type) {}

  // A size without end is one, and that of minus infinity none, where there is no angle. A zero has
  // the sign of its angle's part.
  Number Exp(const Number& z) {
    Value* radius = Real("exp", z.value);
    // Where the size is more than there is, a part need not be.
    Value* root = Real("exp", builder_.CreateFMul(Float(0.5), z.value));
    Value* is_large = builder_.CreateFCmpOEQ(radius, Infinity());
    const auto times = [&](Value* part) {
      Value* product = builder_.CreateFMul(radius, part);
      Value* in_steps = builder_.CreateFMul(builder_.CreateFMul(root, part), root);
      return builder_.CreateSelect(is_large, in_steps, product);
    };
    Value* is_real = builder_.CreateFCmpOEQ(z.imag, Float(0));
    Value* has_no_angle = builder_.CreateNot(IsFinite(z.imag));
    const auto without_angle = [&](Value* size) {
      return builder_.CreateAnd(has_no_angle, builder_.CreateFCmpOEQ(z.value, size));
    };
    Value* is_endless = without_angle(Infinity());
    Value* is_none = without_angle(builder_.CreateFNeg(Infinity()));
    Value* real = builder_.CreateSelect(is_endless, Infinity(), times(Real("cos", z.imag)));
    Value* imag = builder_.CreateSelect(is_real, z.imag, times(Real("sin", z.imag)));
    return {builder_.CreateSelect(is_none, Float(0), real),
            builder_.CreateSelect(is_none, Sign(Float(0), z.imag), imag)};
  }

  // As glibc's: near 1 the logarithm of the size is that of what is beyond 1; sizes that have lost
  // digits, or may be more than there is, are scaled by a power of two.
  Number Log(const Number& z) {
    Value *x = Size(z.value), *y = Size(z.imag);
    Value* x_is_more = builder_.CreateFCmpOGT(x, y);
    Value* most = builder_.CreateSelect(x_is_more, x, y);
    Value* least = builder_.CreateSelect(x_is_more, y, x);
    const llvm::fltSemantics& format = type_->getFltSemantics();
    const auto digits = double(llvm::APFloat::semanticsPrecision(format));
    Value* normal = llvm::ConstantFP::get(type_, llvm::APFloat::getSmallestNormalized(format));
    Value* half_of_all = builder_.CreateFMul(
        Float(0.5), llvm::ConstantFP::get(type_, llvm::APFloat::getLargest(format)));
    Value* is_small = builder_.CreateFCmpOLT(most, normal);
    Value* is_large = builder_.CreateFCmpOGT(most, half_of_all);
    const auto choose = [&](double of_small, double of_large, double otherwise) {
      Value* other = builder_.CreateSelect(is_large, Float(of_large), Float(otherwise));
      return builder_.CreateSelect(is_small, Float(of_small), other);
    };
    Value* factor = choose(std::ldexp(1.0, int(digits)), 0.5, 1);
    Value* of_factor = choose(-digits * std::numbers::ln2, std::numbers::ln2, 0);
    Value* size = math_.Call(emission_, "hypot",
                             {builder_.CreateFMul(x, factor), builder_.CreateFMul(y, factor)});
    Value* is_near = builder_.CreateAnd(builder_.CreateFCmpOGT(size, Float(0.5)),
                                        builder_.CreateFCmpOLT(size, Float(2)));
    Value* is_as_it_is = builder_.CreateNot(builder_.CreateOr(is_small, is_large));
    Value* near = builder_.CreateFMul(Float(0.5), Real("log1p", BeyondOne(most, least)));
    Value* far = builder_.CreateFAdd(Real("log", size), of_factor);
    return {builder_.CreateSelect(builder_.CreateAnd(is_near, is_as_it_is), near, far),
            math_.Call(emission_, "atan2", {z.imag, z.value})};
  }

  Number Sqrt(const Number& z) {
    Value *x = Size(z.value), *y = Size(z.imag);
    Value* half = Float(0.5);
    Value* size = math_.Call(emission_, "hypot", {z.value, z.imag});
    Value* root = builder_.CreateUnaryIntrinsic(
        llvm::Intrinsic::sqrt,
        builder_.CreateFAdd(builder_.CreateFMul(half, x), builder_.CreateFMul(half, size)));
    Value* other = builder_.CreateFDiv(builder_.CreateFMul(half, y), root);
    Value* is_right = builder_.CreateFCmpOGE(z.value, Float(0));
    Value* real = builder_.CreateSelect(is_right, root, other);
    Value* imag = builder_.CreateSelect(is_right, other, root);
    Value* is_zero = builder_.CreateFCmpOEQ(size, Float(0));
    Value* is_endless = builder_.CreateFCmpOEQ(y, llvm::ConstantFP::getInfinity(type_));
    real = builder_.CreateSelect(is_zero, Float(0), builder_.CreateSelect(is_endless, y, real));
    imag = builder_.CreateSelect(is_zero, y, builder_.CreateSelect(is_endless, y, imag));
    return {real, Sign(imag, z.imag)};
  }

  // A zero stays one, whatever the other part is.
  Number Sinh(const Number& z) {
    Value* real = builder_.CreateFMul(Real("sinh", z.value), Real("cos", z.imag));
    Value* imag = builder_.CreateFMul(Real("cosh", z.value), Real("sin", z.imag));
    real = builder_.CreateSelect(IsEndlessWithoutAngle(z), Infinity(), real);
    return {builder_.CreateSelect(IsZero(z.value), z.value, real),
            builder_.CreateSelect(IsZero(z.imag), z.imag, imag)};
  }

  // Without end and angle it is infinity above the real axis, as glibc's.
  Number Sin(const Number& z) {
    const Number turned = Turned(z);
    const Number result = TurnedBack(Sinh(turned));
    Value* is_endless = IsEndlessWithoutAngle(turned);
    return {result.value, builder_.CreateSelect(is_endless, Infinity(), result.imag)};
  }

  Number Cosh(const Number& z) {
    Value* real = builder_.CreateFMul(Real("cosh", z.value), Real("cos", z.imag));
    Value* imag = builder_.CreateFMul(Real("sinh", z.value), Real("sin", z.imag));
    real = builder_.CreateSelect(IsEndlessWithoutAngle(z), Infinity(), real);
    Value* is_real = builder_.CreateOr(IsZero(z.value), IsZero(z.imag));
    Value* is_signed = builder_.CreateFCmpORD(imag, imag);
    Value* zero = builder_.CreateSelect(is_signed, imag, Float(0));
    return {real, builder_.CreateSelect(is_real, zero, imag)};
  }

  // After Kahan, "Branch cuts for complex elementary functions", 1987.
  Number Tanh(const Number& z) {
    Value *t = Real("tan", z.imag), *s = Real("sinh", z.value), *one = Float(1);
    Value* beta = builder_.CreateFAdd(one, builder_.CreateFMul(t, t));
    Value* squared = builder_.CreateFMul(s, s);
    Value* rho =
        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, builder_.CreateFAdd(one, squared));
    Value* below = builder_.CreateFAdd(one, builder_.CreateFMul(beta, squared));
    Value* real =
        builder_.CreateFDiv(builder_.CreateFMul(builder_.CreateFMul(beta, rho), s), below);
    Value* is_far = builder_.CreateFCmpOGT(Size(z.value), Float(20));
    Value* tail = Real("exp", builder_.CreateFMul(Float(-2), Size(z.value)));
    Value* both = builder_.CreateFMul(Real("sin", z.imag), Real("cos", z.imag));
    Value* imag = builder_.CreateFMul(builder_.CreateFMul(Float(4), both), tail);
    real = builder_.CreateSelect(IsZero(z.value), z.value, real);
    imag = builder_.CreateSelect(is_far, imag, builder_.CreateFDiv(t, below));
    Value* is_real = builder_.CreateOr(IsInfinite(z.value), IsZero(z.imag));
    Value* is_known =
        builder_.CreateAnd(is_far, builder_.CreateOr(IsFinite(z.imag), IsInfinite(z.value)));
    return {builder_.CreateSelect(is_known, Sign(one, z.value), real),
            builder_.CreateSelect(is_real, Sign(Float(0), z.imag), imag)};
  }

  // i z, and z / i.
  Number Turned(const Number& z) { return {builder_.CreateFNeg(z.imag), z.value}; }
  Number TurnedBack(const Number& z) { return {z.imag, builder_.CreateFNeg(z.value)}; }

  Number Power(const Number& base, const Number& exponent) {
    return Exp(Product(exponent, Log(base)));
  }

 private:
  struct Exact {
    Value* rounded;
    Value* rest;
  };
  Exact Square(Value* x) {
    Value* square = builder_.CreateFMul(x, x);
    Value* rest =
        builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma, {x, x, builder_.CreateFNeg(square)});
    return {square, rest};
  }

  // most^2 + least^2 - 1, of which little may be left: of each operation its rounding is kept, and
  // the subtraction has none where the sum is near 1.
  Value* BeyondOne(Value* most, Value* least) {
    const Exact a = Square(most), b = Square(least);
    Value* sum = builder_.CreateFAdd(a.rounded, b.rounded);
    Value* rest = builder_.CreateFSub(b.rounded, builder_.CreateFSub(sum, a.rounded));
    rest = builder_.CreateFAdd(rest, builder_.CreateFAdd(a.rest, b.rest));
    return builder_.CreateFAdd(builder_.CreateFSub(sum, Float(1)), rest);
  }

  // As C's annex G has it: nan in both parts is infinity where a part that goes in is infinite.
  Number Product(const Number& a, const Number& b) {
    const Number plain = PlainProduct(a, b);
    Value* is_lost = builder_.CreateAnd(builder_.CreateFCmpUNO(plain.value, plain.value),
                                        builder_.CreateFCmpUNO(plain.imag, plain.imag));
    Value *a_is_endless = IsEndless(a), *b_is_endless = IsEndless(b);
    const Number again = PlainProduct(Direction(a, a_is_endless), Direction(b, b_is_endless));
    Value* recovers = builder_.CreateAnd(is_lost, builder_.CreateOr(a_is_endless, b_is_endless));
    const auto choose = [&](Value* direction, Value* otherwise) {
      return builder_.CreateSelect(recovers, builder_.CreateFMul(Infinity(), direction), otherwise);
    };
    return {choose(again.value, plain.value), choose(again.imag, plain.imag)};
  }

  Number PlainProduct(const Number& a, const Number& b) {
    return {builder_.CreateFSub(builder_.CreateFMul(a.value, b.value),
                                builder_.CreateFMul(a.imag, b.imag)),
            builder_.CreateFAdd(builder_.CreateFMul(a.value, b.imag),
                                builder_.CreateFMul(a.imag, b.value))};
  }

  Value* IsFinite(Value* x) { return builder_.CreateFCmpOLT(Size(x), Infinity()); }
  Value* IsEndlessWithoutAngle(const Number& z) {
    return builder_.CreateAnd(IsInfinite(z.value), builder_.CreateNot(IsFinite(z.imag)));
  }
  Value* IsZero(Value* x) { return builder_.CreateFCmpOEQ(x, Float(0)); }
  Value* IsInfinite(Value* x) { return builder_.CreateFCmpOEQ(Size(x), Infinity()); }
  Value* IsEndless(const Number& z) {
    return builder_.CreateOr(IsInfinite(z.value), IsInfinite(z.imag));
  }

  // Of an infinite number, which of its parts are infinite, as 1 and 0; of another, itself without
  // nan.
  Number Direction(const Number& z, Value* is_endless) {
    const auto part = [&](Value* x) {
      Value* one = builder_.CreateSelect(IsInfinite(x), Float(1), Float(0));
      Value* is_nan = builder_.CreateFCmpUNO(x, x);
      Value* number = builder_.CreateSelect(is_nan, Sign(Float(0), x), x);
      return builder_.CreateSelect(is_endless, Sign(one, x), number);
    };
    return {part(z.value), part(z.imag)};
  }

  Value* Infinity() { return llvm::ConstantFP::getInfinity(type_); }
  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Real(const char* name, Value* x) { return math_.Call(emission_, name, {x}); }
  Value* Size(Value* x) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* Sign(Value* size, Value* sign) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, sign);
  }

  Emission& emission_;
  const MathLibrary& math_;
  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
};

}  // namespace

std::optional<Number> CallByParts(Emission& emission, const MathLibrary& math,
                                  std::string_view name, llvm::ArrayRef<Number> operands) {
  const Number& z = operands[0];
  ComplexMath functions(emission, math, z.value->getType());
  if (name == "cexp") return functions.Exp(z);
  if (name == "clog") return functions.Log(z);
  if (name == "csqrt") return functions.Sqrt(z);
  if (name == "cpow") return functions.Power(z, operands[1]);
  if (name == "csinh") return functions.Sinh(z);
  if (name == "ccosh") return functions.Cosh(z);
  if (name == "ctanh") return functions.Tanh(z);
  if (name == "csin") return functions.Sin(z);
  if (name == "ccos") return functions.Cosh(functions.Turned(z));
  if (name == "ctan") return functions.TurnedBack(functions.Tanh(functions.Turned(z)));
  return std::nullopt;
}

}  // namespace parakeet::backends
