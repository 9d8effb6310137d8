#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;
using llvm::Value;

class Integers {
 public:
  Integers(Emission& emission, llvm::ArrayRef<Number> operands, bool is_signed)
      : emission_(emission),
        builder_(emission.builder),
        is_signed_(is_signed),
        a_(operands[0].value),
        b_(operands.size() > 1 ? operands[1].value : nullptr),
        type_(a_->getType()) {}

  // By what is not positive it is as by 1, so that it may stand in front of what depends on it.
  Value* ByPositive(OpCode op) {
    b_ = builder_.CreateBinaryIntrinsic(is_signed_ ? llvm::Intrinsic::smax : llvm::Intrinsic::umax,
                                        b_, Int(1));
    const bool is_remainder = op == OpCode::kMod;
    if (is_signed_) return RoundedDown(is_remainder);
    return is_remainder ? builder_.CreateURem(a_, b_) : builder_.CreateUDiv(a_, b_);
  }

  Value* Emit(OpCode op) {
    if (Value* value = b_ == nullptr ? Unary(op) : Binary(op)) return value;
    return Test(op);
  }

 private:
  Value* Int(int64_t value) { return llvm::ConstantInt::getSigned(type_, value); }
  Value* IsNegative(Value* value) { return builder_.CreateICmpSLT(value, Int(0)); }
  unsigned Width() { return type_->getScalarSizeInBits(); }

  Value* Unary(OpCode op) {
    switch (op) {
      case OpCode::kNeg: return builder_.CreateNeg(a_);
      case OpCode::kNot: return builder_.CreateNot(a_);
      case OpCode::kAbs: return is_signed_ ? Magnitude() : a_;
      case OpCode::kPopCount: return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, a_);
      case OpCode::kBitLength:
        return builder_.CreateSub(Int(Width()), Zeros(llvm::Intrinsic::ctlz));
      case OpCode::kTrailingZeros: return Zeros(llvm::Intrinsic::cttz);
      case OpCode::kSign: return Sign();
      case OpCode::kFloor:
      case OpCode::kCeil:
      case OpCode::kTrunc:
      case OpCode::kRint:
      case OpCode::kReal:
      case OpCode::kConj: return a_;
      case OpCode::kImag: return Int(0);
      default: return nullptr;
    }
  }

  // At one end; all of them for 0.
  Value* Zeros(llvm::Intrinsic::ID at_end) {
    return builder_.CreateBinaryIntrinsic(at_end, a_, builder_.getFalse());
  }

  Value* Binary(OpCode op) {
    switch (op) {
      case OpCode::kAdd: return builder_.CreateAdd(a_, b_);
      case OpCode::kSub: return builder_.CreateSub(a_, b_);
      case OpCode::kMul: return builder_.CreateMul(a_, b_);
      case OpCode::kFloorDiv: return FloorQuotient();
      case OpCode::kMod: return FloorRemainder();
      case OpCode::kFmod: return Remainder();
      case OpCode::kPow: return Power();
      case OpCode::kMin:
      case OpCode::kFmin:
        return Intrinsic(is_signed_ ? llvm::Intrinsic::smin : llvm::Intrinsic::umin);
      case OpCode::kMax:
      case OpCode::kFmax:
        return Intrinsic(is_signed_ ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
      case OpCode::kAnd: return builder_.CreateAnd(a_, b_);
      case OpCode::kOr: return builder_.CreateOr(a_, b_);
      case OpCode::kXor: return builder_.CreateXor(a_, b_);
      case OpCode::kShl: return ShiftLeft();
      case OpCode::kShr: return ShiftRight();
      default: return nullptr;
    }
  }

  Value* Test(OpCode op) {
    using llvm::CmpInst;
    llvm::Type* mask = WithElement(type_, builder_.getInt1Ty());
    switch (op) {
      case OpCode::kIsNan:
      case OpCode::kIsInf: return llvm::Constant::getNullValue(mask);
      case OpCode::kIsFinite: return llvm::Constant::getAllOnesValue(mask);
      case OpCode::kSignbit:
        return is_signed_ ? IsNegative(a_) : llvm::Constant::getNullValue(mask);
      case OpCode::kEq: return builder_.CreateICmpEQ(a_, b_);
      case OpCode::kNe: return builder_.CreateICmpNE(a_, b_);
      case OpCode::kLt: return Compare(CmpInst::ICMP_SLT, CmpInst::ICMP_ULT);
      case OpCode::kLe: return Compare(CmpInst::ICMP_SLE, CmpInst::ICMP_ULE);
      case OpCode::kGt: return Compare(CmpInst::ICMP_SGT, CmpInst::ICMP_UGT);
      case OpCode::kGe: return Compare(CmpInst::ICMP_SGE, CmpInst::ICMP_UGE);
      default: return nullptr;
    }
  }

  Value* Compare(llvm::CmpInst::Predicate of_signed, llvm::CmpInst::Predicate of_unsigned) {
    return builder_.CreateICmp(is_signed_ ? of_signed : of_unsigned, a_, b_);
  }

  Value* Intrinsic(llvm::Intrinsic::ID id) { return builder_.CreateBinaryIntrinsic(id, a_, b_); }

  // The least integer stays as it is.
  Value* Magnitude() {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, a_, builder_.getFalse());
  }

  Value* Sign() {
    Value* is_nonzero = builder_.CreateZExt(builder_.CreateICmpNE(a_, Int(0)), type_);
    if (!is_signed_) return is_nonzero;
    return builder_.CreateSelect(IsNegative(a_), Int(-1), is_nonzero);
  }

  // The divisor where it is one constant in all lanes, else null.
  const llvm::APInt* ConstantDivisor() const {
    auto* constant = llvm::dyn_cast<llvm::Constant>(b_);
    if (constant != nullptr && type_->isVectorTy()) constant = constant->getSplatValue();
    auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
    return integer == nullptr ? nullptr : &integer->getValue();
  }

  // Floors of quotients by powers of two are shifts, whatever the dividend's sign.
  const llvm::APInt* PowerOfTwoDivisor() {
    const llvm::APInt* constant = ConstantDivisor();
    const bool is_power =
        constant != nullptr && constant->isPowerOf2() && !(is_signed_ && constant->isNegative());
    return is_power ? constant : nullptr;
  }

  // A divisor that cannot trap: 1 in place of 0, and of -1 under the least integer, for which 1
  // gives the wrapped quotient and the remainder as they are.
  Value* SafeDivisor() {
    const llvm::APInt* constant = ConstantDivisor();
    if (constant != nullptr && !constant->isZero() && !constant->isAllOnes()) return b_;
    Value* unsafe = builder_.CreateICmpEQ(b_, Int(0));
    if (is_signed_) {
      const llvm::APInt least = llvm::APInt::getSignedMinValue(Width());
      Value* is_least = builder_.CreateICmpEQ(a_, llvm::ConstantInt::get(type_, least));
      Value* overflows = builder_.CreateAnd(is_least, builder_.CreateICmpEQ(b_, Int(-1)));
      unsafe = builder_.CreateOr(unsafe, overflows);
    }
    return builder_.CreateSelect(unsafe, Int(1), b_);
  }

  Value* ZeroUnderZero(Value* value) {
    return builder_.CreateSelect(builder_.CreateICmpEQ(b_, Int(0)), Int(0), value);
  }

  struct Division {
    Value* quotient;
    Value* remainder;
    Value* rounds_down;  // the floor is one below the truncated quotient; null for unsigned
  };

  Division Divide() {
    Value* divisor = SafeDivisor();
    if (!is_signed_) {
      Value* quotient = builder_.CreateUDiv(a_, divisor);
      return {quotient, builder_.CreateURem(a_, divisor), nullptr};
    }
    Value* quotient = builder_.CreateSDiv(a_, divisor);
    Value* remainder = builder_.CreateSRem(a_, divisor);
    Value* signs_differ = IsNegative(builder_.CreateXor(remainder, divisor));
    Value* is_inexact = builder_.CreateICmpNE(remainder, Int(0));
    return {quotient, remainder, builder_.CreateAnd(is_inexact, signs_differ)};
  }

  bool IsByPositive() const {
    const llvm::APInt* constant = ConstantDivisor();
    return is_signed_ && constant != nullptr && constant->isStrictlyPositive();
  }

  // One division of what is not negative: floor(x / c) is ~floor(~x / c) where x is.
  Value* QuotientByPositive() {
    Value* sign = builder_.CreateAShr(a_, Int(Width() - 1));
    const llvm::APInt most = llvm::APInt::getSignedMaxValue(Width());
    Value* flipped =
        builder_.CreateAnd(builder_.CreateXor(a_, sign), llvm::ConstantInt::get(type_, most));
    return builder_.CreateXor(builder_.CreateUDiv(flipped, b_), sign);
  }

  // Lanes of up to 32 bits have products whose high halves are quotients by a constant.
  bool IsByConstant() {
    const llvm::APInt* constant = ConstantDivisor();
    return constant != nullptr && !constant->isZero() && !is_signed_ && Width() <= 32;
  }

  bool IsOfLanes() const { return emission_.is_x86 && type_->isVectorTy(); }

  // Of what is not negative, in half as many bits where these are enough, by a positive divisor: a
  // division of 64 bits takes longer, and tests of the divisor would stand before it, and of signs
  // behind it, which one waits for after the other. Branches that nearly always go one way do not.
  // Random numbers have all 32 bits; a divisor of 2^32, which has none of these, is left out.
  Value* Mostly(bool is_remainder) {
    if (Width() < 64) return ByPositiveMostly(is_remainder);
    Value* both = builder_.CreateOr(a_, builder_.CreateSub(b_, Int(1)));
    const auto quick = [&] {
      Value* a = builder_.CreateTrunc(a_, builder_.getInt32Ty());
      Value* b = builder_.CreateTrunc(b_, builder_.getInt32Ty());
      return builder_.CreateZExt(
          is_remainder ? builder_.CreateURem(a, b) : builder_.CreateUDiv(a, b), type_);
    };
    return ChooseWay(emission_, builder_.CreateICmpULT(both, Int((int64_t{1} << 32) - 1)), quick,
                     [&] { return ByPositiveMostly(is_remainder); });
  }

  // By a positive divisor nothing traps, and what is left has the wrong sign below 0 only.
  Value* ByPositiveMostly(bool is_remainder) {
    const auto quick = [&] { return RoundedDown(is_remainder); };
    const auto slow = [&] { return is_remainder ? AnyRemainder() : AnyQuotient(); };
    return ChooseWay(emission_, builder_.CreateICmpSGT(b_, Int(0)), quick, slow);
  }

  // Of signed numbers, by a positive one.
  Value* RoundedDown(bool is_remainder) {
    Value* left = builder_.CreateSRem(a_, b_);
    Value* sign = builder_.CreateAShr(left, Int(Width() - 1));
    return is_remainder ? builder_.CreateAdd(left, builder_.CreateAnd(sign, b_))
                        : builder_.CreateAdd(builder_.CreateSDiv(a_, b_), sign);
  }

  // What stays the same in a loop is divided before it, which takes code without branches.
  bool IsMadeOften() const {
    return is_signed_ && emission_.is_x86 && !type_->isVectorTy() && ConstantDivisor() == nullptr &&
           (emission_.Varies(a_) || emission_.Varies(b_));
  }

  Value* AnyQuotient() {
    const Division division = Divide();
    Value* quotient = division.quotient;
    if (is_signed_) {
      quotient = builder_.CreateAdd(quotient, builder_.CreateSExt(division.rounds_down, type_));
    }
    return ZeroUnderZero(quotient);
  }

  Value* AnyRemainder() {
    const Division division = Divide();
    Value* remainder = division.remainder;
    if (is_signed_) {
      Value* moved = builder_.CreateAdd(remainder, b_);
      remainder = builder_.CreateSelect(division.rounds_down, moved, remainder);
    }
    return ZeroUnderZero(remainder);
  }

  Value* FloorQuotient() {
    if (const llvm::APInt* power = PowerOfTwoDivisor()) {
      Value* count = Int(power->logBase2());
      return is_signed_ ? builder_.CreateAShr(a_, count) : builder_.CreateLShr(a_, count);
    }
    if (IsByPositive()) return QuotientByPositive();
    if (IsByConstant()) return builder_.CreateUDiv(a_, b_);
    if (IsOfLanes()) return EmitLaneDivision(emission_, a_, b_, is_signed_, false);
    if (IsMadeOften()) return Mostly(false);
    return AnyQuotient();
  }

  Value* FloorRemainder() {
    if (const llvm::APInt* power = PowerOfTwoDivisor()) {
      return builder_.CreateAnd(a_, llvm::ConstantInt::get(type_, *power - 1));
    }
    if (IsByConstant()) return builder_.CreateURem(a_, b_);
    if (IsByPositive() && Width() <= 32)
      return builder_.CreateSub(a_, builder_.CreateMul(QuotientByPositive(), b_));
    if (IsOfLanes()) return EmitLaneDivision(emission_, a_, b_, is_signed_, true);
    if (IsMadeOften()) return Mostly(true);
    return AnyRemainder();
  }

  Value* Remainder() { return ZeroUnderZero(Divide().remainder); }

  Value* Power() {
    Value* power = EmitIntegerPower(emission_, a_, b_);
    if (!is_signed_) return power;
    return builder_.CreateSelect(IsNegative(b_), Int(1), power);
  }

  // LLVM's shifts by the width or more have no value, so the count is bounded first.
  Value* Bounded(Value* in_range) { return builder_.CreateSelect(in_range, b_, Int(0)); }

  Value* ShiftLeft() {
    Value* in_range = builder_.CreateICmpULT(b_, Int(Width()));
    return builder_.CreateSelect(in_range, builder_.CreateShl(a_, Bounded(in_range)), Int(0));
  }

  Value* ShiftRight() {
    Value* in_range = builder_.CreateICmpULT(b_, Int(Width()));
    if (is_signed_) {
      return builder_.CreateAShr(a_, builder_.CreateSelect(in_range, b_, Int(Width() - 1)));
    }
    return builder_.CreateSelect(in_range, builder_.CreateLShr(a_, Bounded(in_range)), Int(0));
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  bool is_signed_;
  Value* a_;
  Value* b_;
  llvm::Type* type_;
};

}  // namespace

Value* EmitIntegerOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands,
                     bool is_signed) {
  return Integers(emission, operands, is_signed).Emit(op);
}

Value* EmitPositiveDivision(Emission& emission, OpCode op, Value* a, Value* b, bool is_signed) {
  const Number operands[] = {{a}, {b}};
  return Integers(emission, operands, is_signed).ByPositive(op);
}

}  // namespace parakeet::backends
