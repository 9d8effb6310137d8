#include "backends/llvm/complex_math.h"

#include "llvm/IR/Constants.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

class ComplexMath {
 public:
  ComplexMath(Emission& emission, const MathLibrary& math, llvm::Type* type)
      : emission_(emission), math_(math), builder_(emission.builder), type_(type) {}

  // A size of zero is one whatever the angle; one without end is, where there is no angle.
  Number Exp(const Number& z) {
    Value* radius = Real("exp", z.value);
    Value* is_zero = builder_.CreateFCmpOEQ(radius, Float(0));
    // Where the size is more than there is, a part need not be.
    Value* root = Real("exp", builder_.CreateFMul(Float(0.5), z.value));
    Value* is_large = builder_.CreateFCmpOEQ(radius, Infinity());
    const auto times = [&](Value* part) {
      Value* product = builder_.CreateFMul(radius, part);
      Value* in_steps = builder_.CreateFMul(builder_.CreateFMul(root, part), root);
      product = builder_.CreateSelect(is_large, in_steps, product);
      return builder_.CreateSelect(is_zero, Float(0), product);
    };
    Value* is_real = builder_.CreateFCmpOEQ(z.imag, Float(0));
    Value* has_no_angle = builder_.CreateNot(IsFinite(z.imag));
    Value* is_endless = builder_.CreateFCmpOEQ(z.value, Infinity());
    Value* real = builder_.CreateSelect(builder_.CreateAnd(has_no_angle, is_endless), Infinity(),
                                        times(Real("cos", z.imag)));
    return {real, builder_.CreateSelect(is_real, z.imag, times(Real("sin", z.imag)))};
  }

  // Near 1 the logarithm of the size is that of what is beyond 1.
  Number Log(const Number& z) {
    Value *x = Size(z.value), *y = Size(z.imag);
    Value* x_is_more = builder_.CreateFCmpOGT(x, y);
    Value* most = builder_.CreateSelect(x_is_more, x, y);
    Value* least = builder_.CreateSelect(x_is_more, y, x);
    Value* size = math_.Call(emission_, "hypot", {z.value, z.imag});
    Value* beyond = builder_.CreateFAdd(builder_.CreateFMul(builder_.CreateFSub(most, Float(1)),
                                                            builder_.CreateFAdd(most, Float(1))),
                                        builder_.CreateFMul(least, least));
    Value* is_near = builder_.CreateAnd(builder_.CreateFCmpOGT(size, Float(0.5)),
                                        builder_.CreateFCmpOLT(size, Float(2)));
    Value* near = builder_.CreateFMul(Float(0.5), Real("log1p", beyond));
    return {builder_.CreateSelect(is_near, near, Real("log", size)),
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
  if (name == "csin") return functions.TurnedBack(functions.Sinh(functions.Turned(z)));
  if (name == "ccos") return functions.Cosh(functions.Turned(z));
  if (name == "ctan") return functions.TurnedBack(functions.Tanh(functions.Turned(z)));
  return std::nullopt;
}

}  // namespace parakeet::backends
