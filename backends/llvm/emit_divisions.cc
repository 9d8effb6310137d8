// Lanes of integers divide as doubles: no processor of ours has a vector division of integers.
#include <string>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Value;

// Of integers below 2 ** kExactBits, the quotient as it is rounded lies on the same side of every
// integer as the exact one: that is 1 / b or more from any that it is not, and a / b is below
// 2 ** kExactBits / b.
constexpr unsigned kExactBits = 50;
// 1.5 * 2 ** 52: in the bits of the sum with a smaller whole number, that number stands below.
constexpr double kShift = 6755399441055744.0;

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
    llvm::Function* function = builder_.GetInsertBlock()->getParent();
    BasicBlock* quick = BasicBlock::Create(builder_.getContext(), "quick", function);
    BasicBlock* slow = BasicBlock::Create(builder_.getContext(), "slow", function);
    BasicBlock* done = BasicBlock::Create(builder_.getContext(), "done", function);
    Value* high = builder_.CreateOrReduce(builder_.CreateOr(HighBits(a_), HighBits(b_)));
    builder_.CreateCondBr(builder_.CreateICmpEQ(high, builder_.getInt64(0)), quick, slow);
    builder_.SetInsertPoint(quick);
    Value* often = Quick(is_remainder);
    builder_.CreateBr(done);
    quick = builder_.GetInsertBlock();
    builder_.SetInsertPoint(slow);
    const Scalars rarely =
        CallByLane(emission_, name, {a_, b_}, 1,
                   [&](llvm::ArrayRef<Value*> lane) { return Scalars{one(lane[0], lane[1])}; });
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    llvm::PHINode* result = builder_.CreatePHI(type_, 2);
    result->addIncoming(often, quick);
    result->addIncoming(rarely[0], slow);
    return result;
  }

 private:
  Value* Word(int64_t value) { return llvm::ConstantInt::getSigned(words_, value); }
  Value* Shift() { return llvm::ConstantFP::get(doubles_, kShift); }
  Value* ShiftBits() {
    return llvm::ConstantExpr::getBitCast(llvm::cast<llvm::Constant>(Shift()), words_);
  }

  // Zero where the number is below 2 ** kExactBits, whatever its sign.
  Value* HighBits(Value* value) {
    if (!is_signed_) return builder_.CreateLShr(value, Word(kExactBits));
    Value* moved = builder_.CreateAdd(value, Word(int64_t{1} << kExactBits));
    return builder_.CreateLShr(moved, Word(kExactBits + 1));
  }

  Value* ToDouble(Value* value) {
    Value* word =
        is_signed_ ? builder_.CreateSExt(value, words_) : builder_.CreateZExt(value, words_);
    Value* bits = builder_.CreateAdd(word, ShiftBits());
    return builder_.CreateFSub(builder_.CreateBitCast(bits, doubles_), Shift());
  }

  Value* FromDouble(Value* value) {
    Value* bits = builder_.CreateBitCast(builder_.CreateFAdd(value, Shift()), words_);
    return builder_.CreateTrunc(builder_.CreateSub(bits, ShiftBits()), type_);
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
                                 FromDouble(result));
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
