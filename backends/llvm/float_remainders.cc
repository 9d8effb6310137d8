// Remainders of floats: of quotients that are no larger than what a float counts, by one division.
// C's function finds its quotient a bit at a time.
#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

// The quotient as it is rounded and cut off is the exact one cut off, or one more where it is
// rounded up to a whole number. What either leaves of a is a multiple of the last place of b and no
// larger than b, so that a fused multiplication gives it without a rounding.
class FloatRemainder {
 public:
  FloatRemainder(Emission& emission, Value* a, Value* b)
      : emission_(emission), builder_(emission.builder), a_(a), b_(b), type_(a->getType()) {}

  Value* Write() {
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    builder_.clearFastMathFlags();
    size_ = Magnitude(a_);
    divisor_ = Magnitude(b_);
    quotient_ =
        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, builder_.CreateFDiv(size_, divisor_));
    // What is nan there is nan here, too.
    const double most = type_->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52;
    Value* is_near = builder_.CreateFCmpULT(quotient_, llvm::ConstantFP::get(type_, most));
    if (type_->isVectorTy()) is_near = builder_.CreateAndReduce(is_near);
    return ChooseWay(emission_, is_near, [&] { return Near(); }, [&] { return Far(); });
  }

 private:
  Value* Magnitude(Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }

  Value* Near() {
    Value* rest = builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma,
                                           {builder_.CreateFNeg(quotient_), divisor_, size_});
    Value* is_less = builder_.CreateFCmpOLT(rest, llvm::Constant::getNullValue(type_));
    rest = builder_.CreateSelect(is_less, builder_.CreateFAdd(rest, divisor_), rest);
    // An infinite divisor too, of which no multiple is a number.
    rest = builder_.CreateSelect(builder_.CreateFCmpOLT(size_, divisor_), size_, rest);
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, a_);
  }

  Value* Far() {
    if (!type_->isVectorTy()) return builder_.CreateFRem(a_, b_);
    return CallByLane(emission_, "fmod", {a_, b_}, 1, [&](llvm::ArrayRef<Value*> lane) {
      return Scalars{builder_.CreateFRem(lane[0], lane[1])};
    })[0];
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Value* a_;
  Value* b_;
  llvm::Type* type_;
  Value* size_ = nullptr;
  Value* divisor_ = nullptr;
  Value* quotient_ = nullptr;
};

}  // namespace

Value* EmitFloatRemainder(Emission& emission, Value* a, Value* b) {
  return FloatRemainder(emission, a, b).Write();
}

}  // namespace parakeet::backends
