#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/expm1_series.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;
using llvm::Value;

class Floats {
 public:
  Floats(Emission& emission, llvm::ArrayRef<Number> operands)
      : emission_(emission),
        builder_(emission.builder),
        a_(operands[0].value),
        b_(operands.size() > 1 ? operands[1].value : nullptr),
        c_(operands.size() > 2 ? operands[2].value : nullptr),
        type_(a_->getType()) {}

  Value* Emit(OpCode op) {
    if (op == OpCode::kFma) {
      return builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma, {a_, b_, c_});
    }
    if (Value* value = b_ == nullptr ? Unary(op) : Binary(op)) return value;
    return Test(op);
  }

 private:
  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Intrinsic(llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, a_); }
  Value* IsNan(Value* value) { return builder_.CreateFCmpUNO(value, value); }
  Value* Magnitude(Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }
  Value* CopySign(Value* magnitude, Value* sign) {
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, magnitude, sign);
  }

  bool AreLanes() const { return emission_.is_x86 && type_->isVectorTy(); }

  Value* Power() {
    if (AreLanes()) return EmitLanePower(emission_, a_, b_);
    return emission_.math->Call(emission_, "pow", {a_, b_});
  }

  // NVPTX has an instruction for the quotient only.
  Value* Fmod() {
    return emission_.is_x86 ? EmitFloatRemainder(emission_, a_, b_)
                            : emission_.math->Call(emission_, "fmod", {a_, b_});
  }

  Value* Unary(OpCode op) {
    switch (op) {
      case OpCode::kNeg: return builder_.CreateFNeg(a_);
      case OpCode::kAbs: return Magnitude(a_);
      case OpCode::kSign: return Sign();
      case OpCode::kFloor: return Intrinsic(llvm::Intrinsic::floor);
      case OpCode::kCeil: return Intrinsic(llvm::Intrinsic::ceil);
      case OpCode::kTrunc: return Intrinsic(llvm::Intrinsic::trunc);
      case OpCode::kRint: return Intrinsic(llvm::Intrinsic::rint);
      case OpCode::kSqrt: return Intrinsic(llvm::Intrinsic::sqrt);
      case OpCode::kReal:
      case OpCode::kConj: return a_;
      case OpCode::kImag: return Float(0.0);
      default: break;
    }
    if (AreLanes()) {
      const bool is_double = type_->getScalarType()->isDoubleTy();
      if (op == OpCode::kExpm1) return EmitExpm1(builder_, a_);
      if (op == OpCode::kTanh && is_double) return EmitTanh(builder_, a_);
      if (op == OpCode::kAcosh && !is_double) return EmitFloatAcosh(builder_, a_);
    }
    const bool is_named = op >= OpCode::kCbrt && op <= OpCode::kErfc;
    return is_named ? emission_.math->Call(emission_, ir::Name(op), {a_}) : nullptr;
  }

  Value* Binary(OpCode op) {
    switch (op) {
      case OpCode::kAdd: return builder_.CreateFAdd(a_, b_);
      case OpCode::kSub: return builder_.CreateFSub(a_, b_);
      case OpCode::kMul: return builder_.CreateFMul(a_, b_);
      case OpCode::kDiv: return builder_.CreateFDiv(a_, b_);
      case OpCode::kFloorDiv: return FloorQuotient();
      case OpCode::kMod: return FloorRemainder();
      case OpCode::kFmod: return Fmod();
      case OpCode::kMin:
      case OpCode::kMax:
      case OpCode::kFmin:
      case OpCode::kFmax: return EmitFloatExtreme(emission_, op, a_, b_);
      case OpCode::kPow: return Power();
      case OpCode::kAtan2:
      case OpCode::kHypot: return emission_.math->Call(emission_, ir::Name(op), {a_, b_});
      case OpCode::kCopySign: return CopySign(a_, b_);
      case OpCode::kNextAfter: return NextAfter();
      default: return nullptr;
    }
  }

  Value* Test(OpCode op) {
    Value* infinity = llvm::ConstantFP::getInfinity(type_);
    switch (op) {
      case OpCode::kIsNan: return IsNan(a_);
      case OpCode::kIsInf: return builder_.CreateFCmpOEQ(Magnitude(a_), infinity);
      case OpCode::kIsFinite: return builder_.CreateFCmpOLT(Magnitude(a_), infinity);
      case OpCode::kSignbit: return IsNegative(BitsOf(a_));
      case OpCode::kEq: return builder_.CreateFCmpOEQ(a_, b_);
      case OpCode::kNe: return builder_.CreateFCmpUNE(a_, b_);
      case OpCode::kLt: return builder_.CreateFCmpOLT(a_, b_);
      case OpCode::kLe: return builder_.CreateFCmpOLE(a_, b_);
      case OpCode::kGt: return builder_.CreateFCmpOGT(a_, b_);
      case OpCode::kGe: return builder_.CreateFCmpOGE(a_, b_);
      default: return nullptr;
    }
  }

  // A zero of either sign gives 0.0, nan gives itself.
  Value* Sign() {
    Value* zero_or_nan = builder_.CreateSelect(builder_.CreateFCmpOEQ(a_, Float(0)), Float(0), a_);
    Value* not_above =
        builder_.CreateSelect(builder_.CreateFCmpOLT(a_, Float(0)), Float(-1), zero_or_nan);
    return builder_.CreateSelect(builder_.CreateFCmpOGT(a_, Float(0)), Float(1), not_above);
  }

  Value* BitsOf(Value* value) {
    llvm::Type* bits = builder_.getIntNTy(type_->getScalarSizeInBits());
    return builder_.CreateBitCast(value, WithElement(type_, bits));
  }

  Value* IsNegative(Value* bits) {
    return builder_.CreateICmpSLT(bits, llvm::Constant::getNullValue(bits->getType()));
  }

  // NumPy's npy_divmod; see ir/evaluate_float.cc. The signs of remainder and divisor differ where
  // the exact quotient is below the truncated one.
  struct Division {
    Value* remainder;    // C's
    Value* is_exact;     // the remainder is 0
    Value* rounds_down;  // the remainder is not 0 and its sign is not b's
  };

  Division Divide() {
    Value* remainder = Fmod();
    Value* is_exact = builder_.CreateFCmpOEQ(remainder, Float(0));
    Value* differ = builder_.CreateXor(builder_.CreateFCmpOLT(b_, Float(0)),
                                       builder_.CreateFCmpOLT(remainder, Float(0)));
    return {remainder, is_exact, builder_.CreateAnd(builder_.CreateNot(is_exact), differ)};
  }

  Value* FloorQuotient() {
    const Division division = Divide();
    Value* simple = builder_.CreateFDiv(a_, b_);
    Value* quotient = builder_.CreateFDiv(builder_.CreateFSub(a_, division.remainder), b_);
    Value* lower = builder_.CreateFSub(quotient, Float(1));
    quotient = builder_.CreateSelect(division.rounds_down, lower, quotient);
    Value* whole = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, quotient);
    Value* is_above = builder_.CreateFCmpOGT(builder_.CreateFSub(quotient, whole), Float(0.5));
    whole = builder_.CreateSelect(is_above, builder_.CreateFAdd(whole, Float(1)), whole);
    Value* is_zero = builder_.CreateFCmpOEQ(quotient, Float(0));
    whole = builder_.CreateSelect(is_zero, CopySign(Float(0), simple), whole);
    return builder_.CreateSelect(builder_.CreateFCmpOEQ(b_, Float(0)), simple, whole);
  }

  Value* FloorRemainder() {
    const Division division = Divide();
    Value* moved = builder_.CreateFAdd(division.remainder, b_);
    Value* result = builder_.CreateSelect(division.rounds_down, moved, division.remainder);
    // Under a zero divisor the remainder is nan and neither exact nor moved.
    return builder_.CreateSelect(division.is_exact, CopySign(Float(0), b_), result);
  }

  // Neighbouring floats have neighbouring bits, counted away from zero.
  Value* NextAfter() {
    Value* bits = BitsOf(a_);
    auto* one = llvm::ConstantInt::get(bits->getType(), 1);
    Value* is_away =
        builder_.CreateXor(builder_.CreateFCmpOGT(a_, b_), builder_.CreateFCmpOGT(a_, Float(0)));
    Value* next = builder_.CreateSelect(is_away, builder_.CreateAdd(bits, one),
                                        builder_.CreateSub(bits, one));
    next = builder_.CreateBitCast(next, type_);
    Value* least = CopySign(builder_.CreateBitCast(one, type_), b_);
    next = builder_.CreateSelect(builder_.CreateFCmpOEQ(a_, Float(0)), least, next);
    next = builder_.CreateSelect(builder_.CreateFCmpOEQ(a_, b_), b_, next);
    Value* is_nan = builder_.CreateFCmpUNO(a_, b_);
    return builder_.CreateSelect(is_nan, builder_.CreateFAdd(a_, b_), next);
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Value* a_;
  Value* b_;
  Value* c_;
  llvm::Type* type_;
};

}  // namespace

Value* EmitFloatOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands) {
  return Floats(emission, operands).Emit(op);
}

// Of two equal numbers the second, as the processor's own instructions choose (a device's know 0
// from -0).
Value* EmitFloatExtreme(Emission& emission, OpCode op, Value* a, Value* b) {
  llvm::IRBuilder<>& builder = emission.builder;
  const bool is_least = op == OpCode::kMin || op == OpCode::kFmin;
  const bool keeps_nan = op == OpCode::kMin || op == OpCode::kMax;
  Value* at_once = keeps_nan ? emission.math->Extreme(emission, is_least, a, b) : nullptr;
  if (at_once != nullptr) return at_once;
  Value* extreme = emission.math->FirstIfBeyond(emission, is_least, a, b);
  if (extreme == nullptr) {
    Value* takes_a = is_least ? builder.CreateFCmpOLT(a, b) : builder.CreateFCmpOGT(a, b);
    extreme = builder.CreateSelect(takes_a, a, b);
  }
  Value* other = keeps_nan ? a : b;
  return builder.CreateSelect(builder.CreateFCmpUNO(other, other), a, extreme);
}

}  // namespace parakeet::backends
