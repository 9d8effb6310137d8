#include "ir/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "ir/float16.h"

namespace parakeet::ir {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

constexpr DType kAllDTypes[] = {
#define PARAKEET_DTYPE(enumerator, text, bits, kind, number) DType::enumerator,
#include "ir/dtypes.def"
};

double Float(OpCode op, std::vector<double> operands, DType dtype = DType::kF64) {
  std::vector<Constant> constants;
  for (double operand : operands) constants.push_back(Constant::Float(operand, dtype));
  return Evaluate(op, constants, dtype)->real;
}

int64_t Int(OpCode op, std::vector<int64_t> operands, DType dtype = DType::kI64) {
  std::vector<Constant> constants;
  for (int64_t operand : operands) constants.push_back(ConstantOf(dtype, operand));
  return Evaluate(op, constants, dtype)->integer;
}

Constant Complex(double re, double im) { return Constant::Complex(re, im); }

// Equal in value and sign, or both nan.
void ExpectSame(double actual, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual)) << actual;
    return;
  }
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(std::signbit(actual), std::signbit(expected)) << actual;
}

// Each expected value below is what NumPy 2.4 printed.

TEST(EvaluateFloat, FloorDivisionAndRemaindersAreNumPys) {
  struct Row {
    double a, b, quotient, mod, fmod;
  };
  const Row rows[] = {
      {7, -2, -4, -1, 1},
      {-7, 2, -4, 1, -1},
      {-0.0, 3, -0.0, 0.0, -0.0},
      {6, -3, -2, -0.0, 0.0},
      {kInf, 2, kNan, kNan, kNan},
      {1, kInf, 0.0, 1, 1},
      {-1, kInf, -1, kInf, -1},
      {1, 0, kInf, kNan, kNan},
      {-0.0, -3, 0.0, -0.0, -0.0},
      {0.30000000000000004, 0.1, 3, 2.7755575615628914e-17, 2.7755575615628914e-17},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::to_string(row.a) + " by " + std::to_string(row.b));
    ExpectSame(Float(OpCode::kFloorDiv, {row.a, row.b}), row.quotient);
    ExpectSame(Float(OpCode::kMod, {row.a, row.b}), row.mod);
    ExpectSame(Float(OpCode::kFmod, {row.a, row.b}), row.fmod);
  }
}

TEST(EvaluateFloat, SignsRoundingAndExtremes) {
  ExpectSame(Float(OpCode::kSign, {-0.0}), 0.0);
  ExpectSame(Float(OpCode::kSign, {-3.5}), -1.0);
  ExpectSame(Float(OpCode::kSign, {kNan}), kNan);
  ExpectSame(Float(OpCode::kRint, {0.5}), 0.0);
  ExpectSame(Float(OpCode::kRint, {2.5}), 2.0);
  ExpectSame(Float(OpCode::kRint, {-0.5}), -0.0);
  ExpectSame(Float(OpCode::kTrunc, {-1.75}), -1.0);
  ExpectSame(Float(OpCode::kMin, {1, kNan}), kNan);
  ExpectSame(Float(OpCode::kMin, {kNan, 1}), kNan);
  ExpectSame(Float(OpCode::kFmin, {1, kNan}), 1);
  ExpectSame(Float(OpCode::kFmax, {kNan, 1}), 1);
  ExpectSame(Float(OpCode::kMin, {0.0, -0.0}), -0.0);
  ExpectSame(Float(OpCode::kMin, {-0.0, 0.0}), 0.0);
  ExpectSame(Float(OpCode::kMax, {2, 3}), 3);
  ExpectSame(Float(OpCode::kNeg, {0.0}), -0.0);
  ExpectSame(Float(OpCode::kAdd, {-0.0, 0.0}), 0.0);
}

TEST(EvaluateFloat, EachDTypeRoundsToItself) {
  EXPECT_EQ(Float(OpCode::kAdd, {0.1f, 0.2f}, DType::kF32), static_cast<double>(0.1f + 0.2f));
  EXPECT_EQ(Float(OpCode::kTanh, {0.5}, DType::kF32), static_cast<double>(0.46211717f));
  EXPECT_EQ(Float(OpCode::kExp, {1}, DType::kF32), static_cast<double>(2.7182817f));
  EXPECT_NEAR(Float(OpCode::kDiv, {1, 3}, DType::kF16), 0.3333, 0.00005);
  EXPECT_EQ(Float(OpCode::kDiv, {1, 3}, DType::kF16), DoubleFromHalf(0x3555));
  EXPECT_EQ(Float(OpCode::kAdd, {65504, 32}, DType::kF16), kInf);
  EXPECT_EQ(Float(OpCode::kAdd, {65504, 8}, DType::kF16), 65504);
  EXPECT_EQ(Float(OpCode::kNextAfter, {1, 2}, DType::kF16), 1 + 0x1p-10);
  EXPECT_EQ(Float(OpCode::kNextAfter, {1, 0}, DType::kF16), 1 - 0x1p-11);
  EXPECT_EQ(Float(OpCode::kNextAfter, {0, -1}, DType::kF16), -0x1p-24);
  EXPECT_EQ(Float(OpCode::kNextAfter, {65504, kInf}, DType::kF16), kInf);
  EXPECT_EQ(Float(OpCode::kFma, {1 + 0x1p-30, 1 - 0x1p-30, -1}), -0x1p-60);
}

TEST(EvaluateFloat, Half) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = DoubleFromHalf(static_cast<uint16_t>(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(HalfFromDouble(value), bits);
    }
  }
  EXPECT_EQ(HalfFromDouble(0x1p-25), 0);
  EXPECT_EQ(HalfFromDouble(0x1.8p-25), 1);
  EXPECT_EQ(DoubleFromHalf(HalfFromDouble(1 + 0x1p-11 + 0x1p-30)), 1 + 0x1p-10);
  EXPECT_EQ(DoubleFromHalf(HalfFromDouble(65519.99)), 65504);
  EXPECT_EQ(DoubleFromHalf(HalfFromDouble(65520)), kInf);
}

TEST(EvaluateInteger, DivisionIsNumPys) {
  const int64_t a[] = {-7, 7, -7, 5, -128};
  const int64_t b[] = {2, -2, -2, 0, -1};
  const int64_t quotient[] = {-4, -4, 3, 0, -128};
  const int64_t mod[] = {1, -1, -1, 0, 0};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(Int(OpCode::kFloorDiv, {a[i], b[i]}, DType::kI8), quotient[i]);
    EXPECT_EQ(Int(OpCode::kMod, {a[i], b[i]}, DType::kI8), mod[i]);
  }
  EXPECT_EQ(Int(OpCode::kFmod, {-7, 2}), -1);
  EXPECT_EQ(Int(OpCode::kFloorDiv, {kLeast, -1}), kLeast);
  EXPECT_EQ(Int(OpCode::kFloorDiv, {-1, 2}, DType::kU64), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Int(OpCode::kMod, {-1, 10}, DType::kU64), 5);
}

TEST(EvaluateInteger, ArithmeticWraps) {
  EXPECT_EQ(Int(OpCode::kAdd, {127, 1}, DType::kI8), -128);
  EXPECT_EQ(Int(OpCode::kSub, {0, 1}, DType::kU16), 65535);
  EXPECT_EQ(Int(OpCode::kMul, {int64_t{1} << 62, 4}), 0);
  EXPECT_EQ(Int(OpCode::kNeg, {-128}, DType::kI8), -128);
  EXPECT_EQ(Int(OpCode::kAbs, {kLeast}), kLeast);
  EXPECT_EQ(Int(OpCode::kNot, {5}, DType::kU8), 250);
  EXPECT_EQ(Int(OpCode::kPow, {3, 5}, DType::kI8), -13);
  EXPECT_EQ(Int(OpCode::kPow, {-2, 7}, DType::kI8), -128);
  EXPECT_EQ(Int(OpCode::kPow, {7, 0}), 1);
  EXPECT_EQ(Int(OpCode::kSign, {-9}, DType::kI32), -1);
  EXPECT_EQ(Int(OpCode::kMax, {-1, 1}, DType::kU64), -1);
  EXPECT_EQ(Int(OpCode::kMin, {-1, 1}), -1);
}

TEST(EvaluateInteger, ShiftsOutOfRangeShiftEverythingOut) {
  EXPECT_EQ(Int(OpCode::kShl, {1, 31}, DType::kI32), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(Int(OpCode::kShl, {1, 32}, DType::kI32), 0);
  EXPECT_EQ(Int(OpCode::kShl, {1, -1}, DType::kI32), 0);
  EXPECT_EQ(Int(OpCode::kShr, {-8, 1}, DType::kI32), -4);
  EXPECT_EQ(Int(OpCode::kShr, {8, 40}, DType::kI32), 0);
  EXPECT_EQ(Int(OpCode::kShr, {-8, 40}, DType::kI32), -1);
  EXPECT_EQ(Int(OpCode::kShr, {-1, 63}, DType::kU64), 1);
}

TEST(EvaluateComplex, IsNumPys) {
  struct Row {
    OpCode op;
    double re, im;
  };
  const Row rows[] = {
      {OpCode::kSign, 0.6, 0.8},
      {OpCode::kSqrt, 2, 1},
      {OpCode::kExp, -13.128783081462158, -15.200784463067954},
      {OpCode::kExp2, -7.461496614688567, 2.8854927255134477},
      {OpCode::kExpm1, -14.128783081462158, -15.200784463067954},
      {OpCode::kLog, 1.6094379124341003, 0.9272952180016122},
      {OpCode::kLog2, 2.321928094887362, 1.3378042124509761},
      {OpCode::kLog10, 0.6989700043360187, 0.4027191962733731},
      {OpCode::kLog1p, 1.7328679513998633, 0.7853981633974483},
      {OpCode::kSin, 3.853738037919377, -27.016813258003932},
      {OpCode::kCos, -27.034945603074224, -3.851153334811777},
      {OpCode::kTan, -0.00018734620462947845, 0.9993559873814732},
      {OpCode::kAsin, 0.6339838656391766, 2.305509031243477},
      {OpCode::kAcos, 0.93681246115572, -2.305509031243477},
      {OpCode::kAtan, 1.4483069952314644, 0.15899719167999918},
      {OpCode::kSinh, -6.5481200409110025, -7.61923172032141},
      {OpCode::kCosh, -6.580663040551157, -7.581552742746545},
      {OpCode::kTanh, 1.000709536067233, 0.0049082580674960595},
      {OpCode::kAsinh, 2.2999140408792695, 0.9176168533514787},
      {OpCode::kAcosh, 2.305509031243477, 0.93681246115572},
      {OpCode::kAtanh, 0.1175009073114339, 1.4099210495965755},
      {OpCode::kConj, 3, -4},
      {OpCode::kNeg, -3, -4},
  };
  for (const Row& row : rows) {
    const Constant value = *Evaluate(row.op, {Complex(3, 4)}, DType::kC128);
    // One unit in the last place or so: the C library's, whichever version it is.
    EXPECT_NEAR(value.real, row.re, 4e-16 * std::hypot(row.re, row.im)) << Name(row.op);
    EXPECT_NEAR(value.imag, row.im, 4e-16 * std::hypot(row.re, row.im)) << Name(row.op);
  }
  EXPECT_EQ(Evaluate(OpCode::kAbs, {Complex(3, 4)}, DType::kF64)->real, 5);
}

TEST(EvaluateComplex, DivisionPowersAndOrder) {
  const auto binary = [](OpCode op, Constant a, Constant b) {
    return *Evaluate(op, {a, b}, DType::kC128);
  };
  EXPECT_EQ(binary(OpCode::kDiv, Complex(1, 2), Complex(3, -4)), Complex(-0.2, 0.4));
  EXPECT_EQ(binary(OpCode::kDiv, Complex(1, 2), Complex(0, 0)), Complex(kInf, kInf));
  EXPECT_EQ(binary(OpCode::kMul, Complex(1, 2), Complex(3, -4)), Complex(11, 2));
  EXPECT_EQ(binary(OpCode::kPow, Complex(1, 2), Complex(2, 0)), Complex(-3, 4));
  EXPECT_EQ(binary(OpCode::kPow, Complex(0, 0), Complex(1, 1)), Complex(0, 0));
  EXPECT_TRUE(std::isnan(binary(OpCode::kPow, Complex(0, 0), Complex(-1, 0)).real));
  const Constant negative = binary(OpCode::kPow, Complex(1, 2), Complex(-5, 0));
  EXPECT_NEAR(negative.real, 0.01312, 1e-17);
  EXPECT_NEAR(negative.imag, 0.01216, 1e-17);
  EXPECT_EQ(binary(OpCode::kMax, Complex(1, 2), Complex(1, 3)), Complex(1, 3));
  EXPECT_EQ(binary(OpCode::kMin, Complex(1, 2), Complex(kNan, 3)), Complex(kNan, 3));
  EXPECT_TRUE(binary(OpCode::kLt, Complex(1, 2), Complex(1, 3)).integer);
  EXPECT_FALSE(binary(OpCode::kLe, Complex(kNan, 2), Complex(1, 3)).integer);
  EXPECT_TRUE(binary(OpCode::kEq, Complex(0.0, 1), Complex(-0.0, 1)).integer);
}

TEST(EvaluateComplex, SinglePrecisionRoundsEachStep) {
  const Constant a = Constant::Complex(1, 2, DType::kC64);
  const Constant quotient =
      *Evaluate(OpCode::kDiv, {a, Constant::Complex(3, -4, DType::kC64)}, DType::kC64);
  EXPECT_EQ(quotient.real, static_cast<double>(-0.19999999f));
  EXPECT_EQ(quotient.imag, static_cast<double>(0.39999998f));
}

TEST(EvaluateCast, FloatsToIntegersTruncateAsTheProcessorDoes) {
  const double values[] = {300.7, -1.5, -129, 3e9, 1e19, 2e19, kNan, kInf, -kInf, -3e9};
  const auto expect = [&](DType dtype, std::vector<uint64_t> expected) {
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(static_cast<uint64_t>(EvaluateCast(Constant::Float(values[i]), dtype).integer),
                expected[i])
          << values[i] << " to " << Name(dtype);
    }
  };
  const uint64_t minus_one = ~uint64_t{0};
  const uint64_t least32 = static_cast<uint64_t>(int64_t{-2147483648});
  const uint64_t least = uint64_t{1} << 63;
  expect(DType::kI8, {44, minus_one, 127, 0, 0, 0, 0, 0, 0, 0});
  expect(DType::kI16, {300, minus_one, minus_one - 128, 0, 0, 0, 0, 0, 0, 0});
  expect(DType::kI32, {300, minus_one, minus_one - 128, least32, least32, least32, least32, least32,
                       least32, least32});
  expect(DType::kI64, {300, minus_one, minus_one - 128, 3000000000, least, least, least, least,
                       least, static_cast<uint64_t>(int64_t{-3000000000})});
  expect(DType::kU8, {44, 255, 127, 0, 0, 0, 0, 0, 0, 0});
  expect(DType::kU16, {300, 65535, 65407, 0, 0, 0, 0, 0, 0, 0});
  expect(DType::kU32, {300, 4294967295, 4294967167, 3000000000, 0, 0, 0, 0, 0, 1294967296});
  expect(DType::kU64,
         {300, minus_one, minus_one - 128, 3000000000, 10000000000000000000u, 0, least, 0, least});
}

TEST(EvaluateBitcast, KeepsBitsAndRefusesOtherWidths) {
  const auto bits = [](const Constant& value, DType dtype) {
    return *Evaluate(OpCode::kBitcast, {value}, dtype);
  };
  EXPECT_EQ(bits(Constant::Float(-0.0), DType::kI64), Constant::Int(kLeast));
  EXPECT_EQ(bits(Constant::Float(1.0, DType::kF32), DType::kU32),
            Constant::Int(0x3f800000, DType::kU32));
  EXPECT_EQ(bits(Constant::Float(-2.0, DType::kF16), DType::kU16),
            Constant::Int(0xc000, DType::kU16));
  EXPECT_EQ(bits(Constant::Int(-1, DType::kI8), DType::kU8), Constant::Int(255, DType::kU8));
  for (const DType dtype : {DType::kF16, DType::kF32, DType::kF64}) {
    const DType integer = dtype == DType::kF64   ? DType::kU64
                          : dtype == DType::kF32 ? DType::kI32
                                                 : DType::kU16;
    for (double value : {0.0, -0.0, 1.5, -65504.0, kInf, -kInf, kNan})
      ExpectSame(bits(bits(Constant::Float(value, dtype), integer), dtype).real, value);
  }
  const Constant one = Constant::Float(1.0);
  for (const DType dtype : {DType::kU32, DType::kF32, DType::kC64, DType::kBool})
    EXPECT_FALSE(Evaluate(OpCode::kBitcast, {one}, dtype).has_value());
  EXPECT_FALSE(Evaluate(OpCode::kBitcast, {Constant::Bool(true)}, DType::kU8).has_value());
}

TEST(EvaluateInteger, PopulationCounts) {
  EXPECT_EQ(Int(OpCode::kPopCount, {0}), 0);
  EXPECT_EQ(Int(OpCode::kPopCount, {-1}), 64);
  EXPECT_EQ(Int(OpCode::kPopCount, {-1}, DType::kI8), 8);
  EXPECT_EQ(Int(OpCode::kPopCount, {0x80000001}, DType::kU32), 2);
}

TEST(EvaluateInteger, BitLengths) {
  EXPECT_EQ(Int(OpCode::kBitLength, {0}), 0);
  EXPECT_EQ(Int(OpCode::kBitLength, {1}), 1);
  EXPECT_EQ(Int(OpCode::kBitLength, {-1}), 64);
  EXPECT_EQ(Int(OpCode::kBitLength, {-1}, DType::kI8), 8);
  EXPECT_EQ(Int(OpCode::kBitLength, {0x40000001}, DType::kU32), 31);
}

TEST(EvaluateInteger, TrailingZeros) {
  EXPECT_EQ(Int(OpCode::kTrailingZeros, {0}), 64);
  EXPECT_EQ(Int(OpCode::kTrailingZeros, {0}, DType::kU8), 8);
  EXPECT_EQ(Int(OpCode::kTrailingZeros, {-1}, DType::kI16), 0);
  EXPECT_EQ(Int(OpCode::kTrailingZeros, {-64}, DType::kI8), 6);
}

TEST(EvaluateCast, OtherConversions) {
  const Constant all_ones = ConstantOf(DType::kU64, -1);
  EXPECT_EQ(EvaluateCast(all_ones, DType::kF64).real, 0x1p64);
  EXPECT_EQ(EvaluateCast(all_ones, DType::kF32).real, 0x1p64);
  EXPECT_EQ(EvaluateCast(Constant::Int(-1), DType::kU64), all_ones);
  EXPECT_EQ(EvaluateCast(all_ones, DType::kI8), Constant::Int(-1, DType::kI8));
  EXPECT_EQ(EvaluateCast(Constant::Int(16777217), DType::kF32).real, 16777216);
  EXPECT_EQ(EvaluateCast(Constant::Int(4097), DType::kF16).real, 4096);
  EXPECT_EQ(EvaluateCast(Constant::Float(1e5), DType::kF16).real, kInf);
  EXPECT_EQ(EvaluateCast(Constant::Bool(true), DType::kC64), Constant::Complex(1, 0, DType::kC64));
  EXPECT_EQ(EvaluateCast(Complex(2.5, 3), DType::kI32), Constant::Int(2, DType::kI32));
  EXPECT_EQ(EvaluateCast(Complex(0, 3), DType::kBool), Constant::Bool(true));
  EXPECT_EQ(EvaluateCast(Constant::Float(kNan), DType::kBool), Constant::Bool(true));
  EXPECT_EQ(EvaluateCast(Constant::Float(-0.0), DType::kBool), Constant::Bool(false));
  EXPECT_EQ(EvaluateCast(Complex(0.1, 0.2), DType::kC64).real, static_cast<double>(0.1f));
}

size_t OperandCount(OpCode op) {
  if (op <= OpCode::kCast) return 1;
  return op <= OpCode::kMakeComplex ? 2 : 3;
}

// Every scalar operation means something on some dtype, its results are of the dtype that ops.def's
// rule says and are rounded to it, and operands that do not fit give nothing rather than something.
TEST(Evaluate, EveryScalarOperationOnEveryDType) {
  for (int i = 0; i < NumOps(); ++i) {
    const OpCode op = static_cast<OpCode>(i);
    if (!IsScalarOp(op)) {
      EXPECT_EQ(Evaluate(op, {Constant::Int(1)}, DType::kI64), std::nullopt) << Name(op);
      continue;
    }
    int meanings = 0;
    for (DType dtype : kAllDTypes) {
      std::vector<Constant> operands(OperandCount(op), ConstantOf(dtype, 1));
      if (op == OpCode::kSelect) operands[0] = Constant::Bool(true);
      const DType of_parts = dtype == DType::kF32 ? DType::kC64 : DType::kC128;
      const DType declared = op == OpCode::kBitcast ? dtype : of_parts;
      const auto value =
          Evaluate(op, operands, InfoOf(op).rule == TypeRule::kDeclared ? declared : dtype);
      if (!value) continue;
      ++meanings;
      EXPECT_EQ(EvaluateCast(*value, value->dtype), *value) << Name(op) << " of " << Name(dtype);
      if (InfoOf(op).rule == TypeRule::kSame || InfoOf(op).rule == TypeRule::kChoice) {
        EXPECT_EQ(value->dtype, dtype) << Name(op);
      }
      if (InfoOf(op).rule == TypeRule::kBool) {
        EXPECT_EQ(value->dtype, DType::kBool) << Name(op);
      }
    }
    EXPECT_GT(meanings, 0) << Name(op);
  }
}

TEST(Evaluate, OperandsThatDoNotFitGiveNothing) {
  EXPECT_EQ(Evaluate(OpCode::kAdd, {Constant::Int(1)}, DType::kI64), std::nullopt);
  EXPECT_EQ(Evaluate(OpCode::kAdd, {Constant::Int(1), Constant::Float(1)}, DType::kI64),
            std::nullopt);
  EXPECT_EQ(Evaluate(OpCode::kSqrt, {Constant::Int(4)}, DType::kI64), std::nullopt);
  EXPECT_EQ(Evaluate(OpCode::kSub, {Constant::Bool(true), Constant::Bool(true)}, DType::kBool),
            std::nullopt);
  EXPECT_EQ(Evaluate(OpCode::kAnd, {Constant::Float(1), Constant::Float(1)}, DType::kF64),
            std::nullopt);
  EXPECT_EQ(
      Evaluate(OpCode::kFma, {Constant::Int(1), Constant::Int(1), Constant::Int(1)}, DType::kI64),
      std::nullopt);
}

TEST(Evaluate, BoolsAreLogic) {
  const Constant yes = Constant::Bool(true);
  const Constant no = Constant::Bool(false);
  EXPECT_EQ(Evaluate(OpCode::kAdd, {yes, yes}, DType::kBool), yes);
  EXPECT_EQ(Evaluate(OpCode::kMul, {yes, no}, DType::kBool), no);
  EXPECT_EQ(Evaluate(OpCode::kNot, {yes}, DType::kBool), no);
  EXPECT_EQ(Evaluate(OpCode::kXor, {yes, yes}, DType::kBool), no);
  EXPECT_EQ(Evaluate(OpCode::kLe, {no, yes}, DType::kBool), yes);
  EXPECT_EQ(Evaluate(OpCode::kSelect, {no, Constant::Int(1), Constant::Int(2)}, DType::kI64),
            Constant::Int(2));
}

}  // namespace
}  // namespace parakeet::ir
