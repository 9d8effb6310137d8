// exp(x) - 1 is 2^k (exp(r) - 1) + 2^k - 1, where x = k ln 2 + r, by the Taylor series of
// exp(r) - 1; tanh(x) is n / (n + 2) with n = exp(2 x) - 1. acosh(x) is log(1 + u) with
// u = t + sqrt(t (t + 2)) and t = x - 1, which loses nothing near 1.
#include "backends/llvm/expm1_series.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace parakeet::backends {
namespace {

using llvm::Value;

// What floats of one width need.
struct Format {
  int mantissa_bits;
  double one_and_a_half;  // of the power of two whose last bit is 1
  double ln2_high, ln2_low;
  int terms;           // of the series, behind the first
  double least, most;  // Beyond, exp(x) - 1 is -1 or infinite.
  double far;          // Beyond, tanh is 1.
  double itself;       // Below, exp(x) - 1 rounds to x.
};

constexpr Format kFloat = {23, 0x1.8p23, 0x1.62e43p-1, -0x1.05c61p-29, 6, -30, 89, 10, 0x1p-25};
constexpr Format kDouble = {52, 0x1.8p52, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 12, -50, 710,
                            22, 0x1p-54};

class Series {
 public:
  Series(llvm::IRBuilder<>& builder, llvm::Type* type)
      : builder_(builder),
        type_(type),
        format_(type->getScalarType()->isDoubleTy() ? kDouble : kFloat) {}

  // Of what is between least and most. The power of two is made by half: the last is infinite.
  Value* LessOne(Value* y) {
    // In the low bits of `shifted`, k.
    Value* shifted = MultiplyAdd(y, Float(std::numbers::log2e), Float(format_.one_and_a_half));
    Value* k = builder_.CreateFSub(shifted, Float(format_.one_and_a_half));
    Value* r = MultiplyAdd(k, Float(-format_.ln2_high), y);
    r = MultiplyAdd(k, Float(-format_.ln2_low), r);
    Value* bits = builder_.CreateShl(AsWord(shifted), Word(format_.mantissa_bits));
    Value* half = builder_.CreateBitCast(builder_.CreateAdd(bits, AsWord(Float(0.5))), type_);
    Value* made = MultiplyAdd(half, Exponential(r), builder_.CreateFAdd(half, Float(-0.5)));
    return builder_.CreateFAdd(made, made);
  }

  Value* Expm1(Value* x) {
    Value* y = builder_.CreateSelect(builder_.CreateFCmpOGT(x, Float(format_.most)),
                                     Float(format_.most), x);
    y = builder_.CreateSelect(builder_.CreateFCmpOLT(y, Float(format_.least)), Float(format_.least),
                              y);
    // So little is itself: half of it may be no number that there is, and the series adds 0 to -0.
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* is_itself = builder_.CreateFCmpOLT(size, Float(format_.itself));
    return builder_.CreateSelect(is_itself, x, LessOne(y));
  }

  Value* Tanh(Value* x) {
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* is_far = builder_.CreateFCmpOGT(size, Float(format_.far));
    Value* a = builder_.CreateSelect(is_far, Float(format_.far), size);
    Value* n = LessOne(builder_.CreateFAdd(a, a));
    return CopySign(builder_.CreateFDiv(n, builder_.CreateFAdd(n, Float(2))), x);
  }

  // Of floats: far from 1, where the product would be infinite, log(2 t) is log(t / 2) + 2 ln 2.
  Value* Acosh(Value* x) {
    Value* t = builder_.CreateFAdd(x, Float(-1));
    Value* product = builder_.CreateFMul(t, builder_.CreateFAdd(t, Float(2)));
    Value* root = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, product);
    Value* is_far = builder_.CreateFCmpOGT(x, Float(0x1p60));
    Value* u = builder_.CreateSelect(is_far, builder_.CreateFMul(t, Float(0.5)),
                                     builder_.CreateFAdd(t, root));
    Value* logarithm = LogarithmOfMore(u);
    Value* more = builder_.CreateFAdd(logarithm, Float(2 * std::numbers::ln2));
    Value* made = builder_.CreateSelect(is_far, more, logarithm);
    Value* infinity = llvm::ConstantFP::getInfinity(type_);
    made = builder_.CreateSelect(builder_.CreateFCmpOLT(x, infinity), made, x);
    return builder_.CreateSelect(builder_.CreateFCmpOGE(x, Float(1)), made,
                                 llvm::ConstantFP::getNaN(type_));
  }

 private:
  // exp(r) - 1, where r is at most half of ln 2.
  Value* Exponential(Value* r) {
    double factorial = 1;
    for (int k = 2; k <= format_.terms + 1; ++k) factorial *= k;
    Value* q = Float(1 / factorial);
    for (int k = format_.terms + 1; k > 2; --k) {
      factorial /= k;
      q = MultiplyAdd(q, r, Float(1 / factorial));
    }
    return MultiplyAdd(builder_.CreateFMul(q, r), r, r);
  }

  // log(1 + u) of floats: 1 + u is 2^k (1 + m), with m from -0.25 to 0.5.
  Value* LogarithmOfMore(Value* u) {
    Value* bits = builder_.CreateSub(AsWord(builder_.CreateFAdd(u, Float(1))), AsWord(Float(0.75)));
    Value* k = builder_.CreateAShr(bits, Word(format_.mantissa_bits));
    Value* shift = builder_.CreateShl(k, Word(format_.mantissa_bits));
    // 2^-k u + 2^-k - 1
    Value* scaled = builder_.CreateBitCast(builder_.CreateSub(AsWord(u), shift), type_);
    Value* power = builder_.CreateBitCast(builder_.CreateSub(AsWord(Float(1)), shift), type_);
    Value* m = builder_.CreateFAdd(scaled, builder_.CreateFAdd(power, Float(-1)));
    Value* p = Float(kLogarithm.back());
    for (size_t i = kLogarithm.size() - 1; i-- > 0;) p = MultiplyAdd(p, m, Float(kLogarithm[i]));
    p = MultiplyAdd(builder_.CreateFMul(m, m), p, m);
    return MultiplyAdd(builder_.CreateSIToFP(k, type_), Float(std::numbers::ln2), p);
  }

  // (log(1 + m) - m) / m^2 from -0.25 to 0.5, within 5e-9 of log(1 + m).
  static constexpr std::array<double, 9> kLogarithm = {
      -0.5000000082360609,  0.3333345445374807,   -0.2500005442432148,
      0.19990606050057946,  -0.16647771570781905, 0.14482079795779318,
      -0.13162206765237067, 0.10448172154381355,  -0.044908074767184974};

  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Word(int value) { return llvm::ConstantInt::get(Words(), uint64_t(value)); }
  llvm::Type* Words() {
    return type_->getWithNewType(builder_.getIntNTy(type_->getScalarSizeInBits()));
  }
  Value* AsWord(Value* value) { return builder_.CreateBitCast(value, Words()); }
  Value* CopySign(Value* size, Value* sign) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, sign);
  }
  Value* MultiplyAdd(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma, {a, b, c});
  }

  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  const Format& format_;
};

// Fast-math flags would make nothing of what is shifted back and forth.
class WithoutFlags {
 public:
  explicit WithoutFlags(llvm::IRBuilder<>& builder) : guard_(builder) {
    builder.clearFastMathFlags();
  }

 private:
  llvm::IRBuilder<>::FastMathFlagGuard guard_;
};

}  // namespace

Value* EmitExpm1(llvm::IRBuilder<>& builder, Value* x) {
  const WithoutFlags guard(builder);
  return Series(builder, x->getType()).Expm1(x);
}

Value* EmitTanh(llvm::IRBuilder<>& builder, Value* x) {
  const WithoutFlags guard(builder);
  return Series(builder, x->getType()).Tanh(x);
}

Value* EmitFloatAcosh(llvm::IRBuilder<>& builder, Value* x) {
  const WithoutFlags guard(builder);
  return Series(builder, x->getType()).Acosh(x);
}

}  // namespace parakeet::backends
