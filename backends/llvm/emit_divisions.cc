// Lanes of integers divide as doubles: no processor of ours has a vector division of integers.
#include <string>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

// Of integers below 2 ** kExactBits, the quotient as it is rounded lies on the same side of every
// integer as the exact one: that is 1 / b or more from any that it is not, and a / b is below
// 2 ** kExactBits / b.
class LaneDivision {
 public:
  LaneDivision(Emission& emission, Value* a, Value* b, bool is_signed)
      : emission_(emission),
        builder_(emission.builder),
        is_signed_(is_signed),
        a_(a),
        b_(b),
        type_(a->getType()),
        words_(type_->getWithNewBitWidth(64)),
        doubles_(words_->getWithNewType(builder_.getDoubleTy())) {}

  // Where some lane is too large, a lane at a time, by `one`.
  Value* Write(const std::string& name, bool is_remainder,
               const std::function<Value*(Value*, Value*)>& one) {
    if (type_->getScalarSizeInBits() < 64) return Quick(is_remainder);
    Value* high = builder_.CreateOrReduce(builder_.CreateOr(
        BitsBeyondExact(builder_, a_, is_signed_), BitsBeyondExact(builder_, b_, is_signed_)));
    return ChooseWay(
        emission_, builder_.CreateICmpEQ(high, builder_.getInt64(0)),
        [&] { return Quick(is_remainder); },
        [&] {
          const auto by_lane = [&](llvm::ArrayRef<Value*> lane) {
            return Scalars{one(lane[0], lane[1])};
          };
          return CallByLane(emission_, name, {a_, b_}, 1, by_lane)[0];
        });
  }

 private:
  Value* ToDouble(Value* value) {
    return WordsToDoubles(builder_, is_signed_ ? builder_.CreateSExt(value, words_)
                                               : builder_.CreateZExt(value, words_));
  }

  Value* Quick(bool is_remainder) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    builder_.clearFastMathFlags();
    Value* a = ToDouble(a_);
    Value* b = ToDouble(b_);
    Value* result =
        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    if (is_remainder) {
      result = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {doubles_},
                                        {builder_.CreateFNeg(result), b, a});
    }
    Value* is_by_zero = builder_.CreateICmpEQ(b_, llvm::Constant::getNullValue(type_));
    return builder_.CreateSelect(is_by_zero, llvm::Constant::getNullValue(type_),
                                 builder_.CreateTrunc(DoublesToWords(builder_, result), type_));
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  bool is_signed_;
  Value* a_;
  Value* b_;
  llvm::Type* type_;
  llvm::Type* words_;
  llvm::Type* doubles_;
};

}  // namespace

Value* EmitLaneDivision(Emission& emission, Value* a, Value* b, bool is_signed, bool is_remainder) {
  const ir::OpCode op = is_remainder ? ir::OpCode::kMod : ir::OpCode::kFloorDiv;
  const std::string name = std::string(is_signed ? "" : "unsigned_") + std::string(Name(op));
  return LaneDivision(emission, a, b, is_signed)
      .Write(name, is_remainder, [&](Value* left, Value* right) {
        const Number operands[] = {{left}, {right}};
        return EmitIntegerOp(emission, op, operands, is_signed);
      });
}

}  // namespace parakeet::backends
