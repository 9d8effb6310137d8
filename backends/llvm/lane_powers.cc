// Powers of lanes of floats, in doubles: 2 to the y times the logarithm of x. Doubles have so many
// digits to spare that plain polynomials do, and take half the time of the vector library's.
#include <array>
#include <cmath>
#include <numbers>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

constexpr int kMantissaBits = 52;
constexpr int kLogTerms = 7;    // The next is below 2e-12 of the sum.
constexpr int kPowerTerms = 9;  // As is this, 3e-10.
// Beyond, a float is infinite or 0.
constexpr double kMostExponent = 200;

class LanePower {
 public:
  LanePower(Emission& emission, Value* x, Value* y)
      : builder_(emission.builder),
        x_(x),
        y_(y),
        doubles_(WithElement(x->getType(), builder_.getDoubleTy())),
        words_(WithElement(x->getType(), builder_.getInt64Ty())) {}

  // Which bases are positive normal numbers, and their exponents finite.
  Value* AreOrdinary() {
    const auto limit = [&](double value) { return llvm::ConstantFP::get(x_->getType(), value); };
    Value* infinity = llvm::ConstantFP::getInfinity(x_->getType());
    Value* is_normal = builder_.CreateFCmpOGE(x_, limit(0x1p-126));
    Value* is_finite = builder_.CreateFCmpOLT(x_, infinity);
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y_);
    Value* is_number = builder_.CreateFCmpOLT(size, infinity);
    return builder_.CreateAnd(builder_.CreateAnd(is_normal, is_finite), is_number);
  }

  Value* Make() {
    Value* product = builder_.CreateFMul(builder_.CreateFPExt(y_, doubles_), Logarithm());
    return builder_.CreateFPTrunc(PowerOfTwo(product), x_->getType());
  }

 private:
  Value* Double(double value) { return llvm::ConstantFP::get(doubles_, value); }
  Value* Word(uint64_t value) { return llvm::ConstantInt::get(words_, value); }
  Value* Fma(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(doubles_, llvm::Intrinsic::fma, {a, b, c});
  }
  // coefficients[0] + coefficients[1] * x + ...
  template <size_t kCount>
  Value* Polynomial(Value* x, const std::array<double, kCount>& coefficients) {
    Value* sum = Double(coefficients.back());
    for (size_t k = kCount - 1; k-- > 0;) sum = Fma(sum, x, Double(coefficients[k]));
    return sum;
  }

  // To base 2: that of m * 2^e, with m between the root of a half and that of 2, by the series of
  // the inverse hyperbolic tangent of (m - 1) / (m + 1).
  Value* Logarithm() {
    Value* bits = builder_.CreateBitCast(builder_.CreateFPExt(x_, doubles_), words_);
    Value* root = builder_.CreateBitCast(Double(std::numbers::sqrt2 / 2), words_);
    Value* exponent = builder_.CreateAShr(builder_.CreateSub(bits, root), Word(kMantissaBits));
    Value* shifted = builder_.CreateShl(exponent, Word(kMantissaBits));
    Value* m = builder_.CreateBitCast(builder_.CreateSub(bits, shifted), doubles_);
    Value* ratio =
        builder_.CreateFDiv(builder_.CreateFSub(m, Double(1)), builder_.CreateFAdd(m, Double(1)));
    std::array<double, kLogTerms> terms;
    for (int k = 0; k < kLogTerms; ++k) terms[size_t(k)] = 2 * std::numbers::log2e / (2 * k + 1);
    Value* series = Polynomial(builder_.CreateFMul(ratio, ratio), terms);
    return Fma(ratio, series, WordsToDoubles(builder_, exponent));
  }

  Value* PowerOfTwo(Value* exponent) {
    const auto cut = [&](llvm::Intrinsic::ID id, double limit) {
      exponent = builder_.CreateBinaryIntrinsic(id, exponent, Double(limit));
    };
    cut(llvm::Intrinsic::minnum, kMostExponent);
    cut(llvm::Intrinsic::maxnum, -kMostExponent);
    Value* whole = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, exponent);
    std::array<double, kPowerTerms> terms;
    double factorial = 1;
    for (int k = 0; k < kPowerTerms; ++k) {
      terms[size_t(k)] = std::pow(std::numbers::ln2, k) / factorial;
      factorial *= k + 1;
    }
    Value* part = Polynomial(builder_.CreateFSub(exponent, whole), terms);
    Value* shift = builder_.CreateShl(DoublesToWords(builder_, whole), Word(kMantissaBits));
    Value* bits = builder_.CreateAdd(builder_.CreateBitCast(part, words_), shift);
    return builder_.CreateBitCast(bits, doubles_);
  }

  llvm::IRBuilder<>& builder_;
  Value* x_;
  Value* y_;
  llvm::Type* doubles_;
  llvm::Type* words_;
};

}  // namespace

// A lane's value does not depend on whether others are ordinary.
Value* EmitLanePower(Emission& emission, Value* x, Value* y) {
  if (Value* made = EmitTablePower(emission, x, y)) return made;
  if (x->getType()->getScalarType()->isDoubleTy()) {
    return emission.math->Call(emission, "pow", {x, y});
  }
  llvm::IRBuilder<>& builder = emission.builder;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  LanePower power(emission, x, y);
  Value* are_ordinary = power.AreOrdinary();
  return ChooseWay(
      emission, builder.CreateAndReduce(are_ordinary), [&] { return power.Make(); },
      [&] {
        Value* other = emission.math->Call(emission, "pow", {x, y});
        return builder.CreateSelect(are_ordinary, power.Make(), other);
      });
}

}  // namespace parakeet::backends
