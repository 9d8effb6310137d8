// Powers of lanes of floats or doubles: 2 to the y times the logarithm of x, which is the sum of
// two numbers so that all digits of the product count. Tables of 16 entries leave short
// polynomials. Within 2 units in the last place, in half the time of the vector library's.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

// The logarithm of e to base 2, and what a double leaves of it.
constexpr double kLog2e = 0x1.71547652b82fep+0;
constexpr double kRestOfLog2e = 0x1.777d0ffda0d24p-56;
constexpr int kEntries = 16;
constexpr int kEntryBits = 4;

struct DoubleTraits {
  using Real = double;
  using Bits = uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr int kLogTerms = 11;   // The next is below 2e-19 of the sum,
  static constexpr int kPowerTerms = 7;  // and this one below 2e-18.
  static constexpr double kLogUnit = 0x1p-40;
  static constexpr double kMostExponent = 1022;  // Beyond, a power may be no normal number.
};

struct FloatTraits {
  using Real = float;
  using Bits = uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr int kLogTerms = 5;    // The next is below 2e-10 of the sum,
  static constexpr int kPowerTerms = 3;  // and this one below 1e-8.
  static constexpr double kLogUnit = 0x1p-16;
  static constexpr double kMostExponent = 126;
};

// For the mantissas between two of 16 bounds, of which the middle stretch has 1 in its middle: the
// reciprocal of one in it, and its negative logarithm, of which `high` and any exponent add up
// exactly. And powers of 2 to sixteenths, less so many sixteenths of an exponent's bits.
template <typename Traits>
struct Tables {
  using Real = typename Traits::Real;
  using Bits = typename Traits::Bits;
  static constexpr Bits kStep = Bits{1} << (Traits::kMantissaBits - kEntryBits);
  static constexpr Bits kOne = std::bit_cast<Bits>(Real{1});
  static constexpr Bits kLowest = kOne - kStep / 2 - kEntries / 2 * kStep;

  std::array<Real, kEntries> reciprocals, high, low, powers;

  Tables() {
    for (Bits k = 0; k < kEntries; ++k) {
      const Bits begin = kLowest + k * kStep;
      const Bits middle = k == kEntries / 2 ? kOne : begin + kStep / 2;
      reciprocals[k] = Real{1} / std::bit_cast<Real>(middle);
      const long double logarithm = -std::log2((long double)(reciprocals[k]));
      high[k] = Real(std::round(double(logarithm) / Traits::kLogUnit) * Traits::kLogUnit);
      low[k] = Real(logarithm - (long double)(high[k]));
      const Real power = Real(std::exp2((long double)(k) / kEntries));
      powers[k] = std::bit_cast<Real>(Bits(std::bit_cast<Bits>(power) - k * kStep));
    }
  }
};

// A number as the sum of two, the second of which is below the digits of the first.
struct Pair {
  Value* high;
  Value* low;
};

template <typename Traits>
class TablePower {
  using Real = typename Traits::Real;
  using Bits = typename Traits::Bits;

 public:
  TablePower(Emission& emission, Value* x, Value* y)
      : emission_(emission),
        builder_(emission.builder),
        x_(x),
        y_(y),
        reals_(x->getType()),
        words_(WithElement(reals_, builder_.getIntNTy(sizeof(Bits) * 8))) {}

  // Null where there is no table.
  Value* Make() {
    if (LookUp(tables_.high, llvm::Constant::getNullValue(words_)) == nullptr) return nullptr;
    exponent_ = Times(Logarithm(), y_);
    return PowerOfTwo(exponent_);
  }

  // Which lanes of it hold: those of normal positive bases and normal powers.
  Value* AreOrdinary() {
    constexpr Bits kLeast = Bits{1} << Traits::kMantissaBits;
    const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity());
    Value* above = builder_.CreateSub(AsWords(x_), Word(kLeast));
    Value* is_normal = builder_.CreateICmpULT(above, Word(infinity - kLeast));
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, exponent_.high);
    Value* is_small = builder_.CreateFCmpOLT(size, Number(Traits::kMostExponent));
    return builder_.CreateAnd(is_normal, is_small);
  }

 private:
  Value* Number(double value) { return llvm::ConstantFP::get(reals_, value); }
  Value* Word(Bits value) { return llvm::ConstantInt::get(words_, value); }
  Value* AsWords(Value* value) { return builder_.CreateBitCast(value, words_); }
  Value* AsReals(Value* value) { return builder_.CreateBitCast(value, reals_); }
  Value* Fma(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(reals_, llvm::Intrinsic::fma, {a, b, c});
  }

  Value* LookUp(const std::array<Real, kEntries>& table, Value* indexes) {
    auto* entries = llvm::ConstantDataVector::get(builder_.getContext(), llvm::ArrayRef(table));
    return emission_.math->LookUp(emission_, entries, indexes);
  }

  Pair Constant(double high, double low) {
    const Real first = Real(high);
    return {Number(first), Number(high - double(first) + low)};
  }

  // The sum with what is no larger than the first, and a smaller rest.
  Pair Plus(Value* large, Value* small, Value* rest) {
    Value* sum = builder_.CreateFAdd(large, small);
    Value* lost = builder_.CreateFAdd(builder_.CreateFSub(large, sum), small);
    return {sum, builder_.CreateFAdd(lost, rest)};
  }

  Pair Times(const Pair& a, Value* b) {
    Value* product = builder_.CreateFMul(a.high, b);
    Value* lost = Fma(a.high, b, builder_.CreateFNeg(product));
    return {product, Fma(a.low, b, lost)};
  }

  Pair Times(const Pair& a, const Pair& b) {
    const Pair product = Times(a, b.high);
    return {product.high, Fma(a.high, b.low, product.low)};
  }

  // To base 2, of m * 2^e: e, what the table has for m, and the series for the rest.
  Pair Logarithm() {
    Value* bits = AsWords(x_);
    Value* above = builder_.CreateSub(bits, Word(Tables<Traits>::kLowest));
    Value* exponent = builder_.CreateAShr(above, Word(Traits::kMantissaBits));
    Value* index = builder_.CreateLShr(above, Word(Traits::kMantissaBits - kEntryBits));
    Value* shifted = builder_.CreateShl(exponent, Word(Traits::kMantissaBits));
    Value* m = AsReals(builder_.CreateSub(bits, shifted));
    Value* scaled = builder_.CreateFMul(m, LookUp(tables_.reciprocals, index));
    const Pair f = {builder_.CreateFSub(scaled, Number(1)),
                    Fma(m, LookUp(tables_.reciprocals, index), builder_.CreateFNeg(scaled))};
    const Pair series = Series(f);
    Value* whole = builder_.CreateFAdd(AsReal(exponent), LookUp(tables_.high, index));
    return Plus(whole, series.high, builder_.CreateFAdd(series.low, LookUp(tables_.low, index)));
  }

  Value* AsReal(Value* exponent) {
    if constexpr (sizeof(Bits) == 8) return WordsToDoubles(builder_, exponent);
    return builder_.CreateSIToFP(exponent, reals_);
  }

  // f - f^2 / 2 + f^3 / 3 - ..., times the logarithm of e.
  Pair Series(const Pair& f) {
    const auto term = [](int k) { return (k % 2 == 0 ? -kLog2e : kLog2e) / k; };
    Value* sum = Number(term(Traits::kLogTerms));
    for (int k = Traits::kLogTerms - 1; k > 2; --k) sum = Fma(sum, f.high, Number(term(k)));
    const Pair second = Constant(-kLog2e / 2, -kRestOfLog2e / 2);
    const Pair behind = Plus(second.high, builder_.CreateFMul(sum, f.high), second.low);
    const Pair product = Times(f, behind);
    const Pair first = Constant(kLog2e, kRestOfLog2e);
    return Times(f, Plus(first.high, product.high, builder_.CreateFAdd(first.low, product.low)));
  }

  // Its whole part goes into the exponent, sixteenths are the table's, and the rest the series'.
  Value* PowerOfTwo(const Pair& exponent) {
    const double shift = std::ldexp(1.5, Traits::kMantissaBits - kEntryBits);
    Value* sum = builder_.CreateFAdd(exponent.high, Number(shift));
    Value* sixteenths = AsWords(sum);
    Value* near = builder_.CreateFSub(sum, Number(shift));
    Value* rest = builder_.CreateFSub(exponent.high, near);
    rest = builder_.CreateFAdd(rest, exponent.low);
    Value* moved = builder_.CreateShl(sixteenths, Word(Traits::kMantissaBits - kEntryBits));
    Value* entry = AsWords(LookUp(tables_.powers, sixteenths));
    Value* scale = AsReals(builder_.CreateAdd(entry, moved));
    return Fma(scale, builder_.CreateFMul(rest, ExponentialTerms(rest)), scale);
  }

  // (2^x - 1) / x
  Value* ExponentialTerms(Value* x) {
    constexpr double kLn2 = 0.6931471805599453;
    std::array<double, Traits::kPowerTerms> terms;
    double term = 1;
    for (int k = 0; k < Traits::kPowerTerms; ++k) terms[size_t(k)] = term *= kLn2 / (k + 1);
    Value* sum = Number(terms.back());
    for (size_t k = terms.size() - 1; k-- > 0;) sum = Fma(sum, x, Number(terms[k]));
    return sum;
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Value* x_;
  Value* y_;
  llvm::Type* reals_;
  llvm::Type* words_;
  Pair exponent_{};
  const Tables<Traits> tables_;
};

template <typename Traits>
Value* EmitTablePower(Emission& emission, Value* x, Value* y) {
  TablePower<Traits> power(emission, x, y);
  Value* made = power.Make();
  if (made == nullptr) return nullptr;
  Value* are_ordinary = power.AreOrdinary();
  llvm::IRBuilder<>& builder = emission.builder;
  return ChooseWay(
      emission, builder.CreateAndReduce(are_ordinary), [&] { return made; },
      [&] {
        Value* other = emission.math->Call(emission, "pow", {x, y});
        return builder.CreateSelect(are_ordinary, made, other);
      });
}

}  // namespace

Value* EmitTablePower(Emission& emission, Value* x, Value* y) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(emission.builder);
  emission.builder.clearFastMathFlags();
  if (x->getType()->getScalarType()->isDoubleTy()) {
    return EmitTablePower<DoubleTraits>(emission, x, y);
  }
  return EmitTablePower<FloatTraits>(emission, x, y);
}

}  // namespace parakeet::backends
