#include "ir/fold.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/builder.h"
#include "ir/evaluate.h"

namespace parakeet::ir {
namespace {

class FoldTest : public ::testing::Test {
 protected:
  Operand Value(Type type) { return builder_.NewVar(type); }
  static std::optional<Operand> Apply(OpCode op, std::vector<Operand> operands) {
    return Fold(op, operands, op == OpCode::kCast ? Type(DType::kF64) : ResultType(op, operands));
  }
  static Operand F(double value) { return Constant::Float(value); }
  static Operand I(int64_t value) { return Constant::Int(value); }

  Arena arena_;
  Builder builder_{&arena_};
  Operand x_ = Value(DType::kF64);
  Operand i_ = Value(DType::kI64);
  Operand j_ = Value(DType::kI64);
  Operand p_ = Value(DType::kBool);
  const std::optional<Operand> none_;
};

TEST_F(FoldTest, ConstantsEvaluate) {
  EXPECT_EQ(Apply(OpCode::kAdd, {I(2), I(3)}), I(5));
  EXPECT_EQ(Apply(OpCode::kLt, {F(2), F(3)}), Operand::Bool(true));
  EXPECT_EQ(Apply(OpCode::kCast, {I(3)}), F(3));
}

TEST_F(FoldTest, FloatIdentitiesAreExact) {
  EXPECT_EQ(Apply(OpCode::kAdd, {x_, F(-0.0)}), x_);
  EXPECT_EQ(Apply(OpCode::kAdd, {x_, F(0.0)}), none_);  // -0.0 + 0.0 is 0.0
  EXPECT_EQ(Apply(OpCode::kSub, {x_, F(0.0)}), x_);
  EXPECT_EQ(Apply(OpCode::kSub, {x_, F(-0.0)}), none_);
  EXPECT_EQ(Apply(OpCode::kSub, {x_, x_}), none_);  // inf - inf is nan
  EXPECT_EQ(Apply(OpCode::kMul, {F(1), x_}), x_);
  EXPECT_EQ(Apply(OpCode::kMul, {x_, F(0)}), none_);
  EXPECT_EQ(Apply(OpCode::kDiv, {x_, F(1)}), x_);
  EXPECT_EQ(Apply(OpCode::kPow, {x_, F(1)}), x_);
  EXPECT_EQ(Apply(OpCode::kMin, {x_, x_}), x_);
  EXPECT_EQ(Apply(OpCode::kMin, {x_, F(std::numeric_limits<double>::infinity())}), x_);
  EXPECT_EQ(Apply(OpCode::kEq, {x_, x_}), none_);
  EXPECT_EQ(Apply(OpCode::kFloorDiv, {x_, F(1)}), none_);
}

TEST_F(FoldTest, IntegerIdentities) {
  EXPECT_EQ(Apply(OpCode::kAdd, {I(0), i_}), i_);
  EXPECT_EQ(Apply(OpCode::kSub, {i_, I(0)}), i_);
  EXPECT_EQ(Apply(OpCode::kSub, {I(0), i_}), none_);
  EXPECT_EQ(Apply(OpCode::kSub, {i_, i_}), I(0));
  EXPECT_EQ(Apply(OpCode::kSub, {i_, j_}), none_);
  EXPECT_EQ(Apply(OpCode::kMul, {i_, I(0)}), I(0));
  EXPECT_EQ(Apply(OpCode::kMul, {i_, I(1)}), i_);
  EXPECT_EQ(Apply(OpCode::kFloorDiv, {i_, I(1)}), i_);
  EXPECT_EQ(Apply(OpCode::kFloorDiv, {i_, i_}), none_);  // 0 // 0 is 0
  EXPECT_EQ(Apply(OpCode::kMod, {i_, I(1)}), I(0));
  EXPECT_EQ(Apply(OpCode::kAnd, {i_, I(-1)}), i_);
  EXPECT_EQ(Apply(OpCode::kOr, {i_, I(-1)}), I(-1));
  EXPECT_EQ(Apply(OpCode::kXor, {i_, i_}), I(0));
  EXPECT_EQ(Apply(OpCode::kShl, {i_, I(0)}), i_);
  EXPECT_EQ(Apply(OpCode::kMax, {i_, i_}), i_);
  EXPECT_EQ(Apply(OpCode::kLe, {i_, i_}), Operand::Bool(true));
  EXPECT_EQ(Apply(OpCode::kNe, {i_, i_}), Operand::Bool(false));
  EXPECT_EQ(Apply(OpCode::kLe, {i_, j_}), none_);
}

TEST_F(FoldTest, BoolsAndSelects) {
  EXPECT_EQ(Apply(OpCode::kAnd, {p_, Operand::Bool(true)}), p_);
  EXPECT_EQ(Apply(OpCode::kAnd, {p_, Operand::Bool(false)}), Operand::Bool(false));
  EXPECT_EQ(Apply(OpCode::kOr, {Operand::Bool(true), p_}), Operand::Bool(true));
  EXPECT_EQ(Apply(OpCode::kEq, {p_, Operand::Bool(true)}), p_);
  EXPECT_EQ(Apply(OpCode::kNe, {Operand::Bool(false), p_}), p_);
  EXPECT_EQ(Apply(OpCode::kSelect, {p_, i_, i_}), i_);
  EXPECT_EQ(Apply(OpCode::kSelect, {Operand::Bool(false), i_, j_}), j_);
  EXPECT_EQ(Apply(OpCode::kSelect, {p_, Operand::Bool(true), Operand::Bool(false)}), p_);
  EXPECT_EQ(Apply(OpCode::kSelect, {p_, I(1), I(0)}), none_);
  EXPECT_EQ(Apply(OpCode::kSelect, {p_, i_, j_}), none_);
}

TEST_F(FoldTest, ComplexProductsAreLeft) {
  const Operand z = Value(DType::kC128);
  EXPECT_EQ(Apply(OpCode::kMul, {z, Constant::Complex(1, 0)}), none_);
  EXPECT_EQ(Apply(OpCode::kAdd, {z, Constant::Complex(-0.0, -0.0)}), z);
}

TEST_F(FoldTest, VectorsFoldToVectorsOnly) {
  const Operand v = Value(Type::Vector(DType::kI64, 4));
  EXPECT_EQ(Apply(OpCode::kMin, {v, v}), v);
  EXPECT_EQ(Apply(OpCode::kSub, {v, v}), none_);
  EXPECT_EQ(Apply(OpCode::kEq, {v, v}), none_);
}

TEST_F(FoldTest, CastsToTheSameTypeVanish) {
  EXPECT_EQ(Apply(OpCode::kCast, {x_}), x_);
  EXPECT_EQ(Apply(OpCode::kCast, {i_}), none_);
}

// Whatever folds with one operand known must agree, bit for bit, with evaluating it once the other
// is known too.
TEST_F(FoldTest, EveryFoldAgreesWithEvaluate) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> samples = {0.0, -0.0, 1, -1, 2, 3.5, -7.25, inf, -inf, nan, 1e300};
  const DType dtypes[] = {DType::kBool, DType::kI8,  DType::kU8,  DType::kI64, DType::kU64,
                          DType::kF16,  DType::kF32, DType::kF64, DType::kC64, DType::kC128};
  int folds = 0;
  for (int op_index = 0; op_index < NumOps(); ++op_index) {
    const OpCode op = static_cast<OpCode>(op_index);
    const bool binary = IsScalarOp(op) && op > OpCode::kCast && op < OpCode::kMakeComplex;
    if (!binary) continue;
    for (DType dtype : dtypes) {
      const Operand x = Value(dtype);
      for (double known : samples) {
        const Constant c = EvaluateCast(Constant::Float(known), dtype);
        for (double sample : samples) {
          const Constant v = EvaluateCast(Constant::Float(sample), dtype);
          const auto right = Evaluate(op, {v, c}, dtype);
          const auto left = Evaluate(op, {c, v}, dtype);
          const auto both = Evaluate(op, {v, v}, dtype);
          if (!right) continue;
          const auto check = [&](const std::optional<Operand>& folded, const Constant& expected) {
            if (!folded) return;
            ++folds;
            EXPECT_EQ(folded->IsVar() ? v : folded->constant(), expected)
                << Name(op) << " " << Name(dtype) << " " << known << " " << sample;
          };
          check(Apply(op, {x, c}), *right);
          check(Apply(op, {c, x}), *left);
          check(Apply(op, {x, x}), *both);
        }
      }
    }
  }
  EXPECT_GT(folds, 1000);
}

}  // namespace
}  // namespace parakeet::ir
