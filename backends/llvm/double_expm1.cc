// exp(x) - 1 is 2^k (exp(r) - 1) + 2^k - 1, where x = k ln 2 + r, by the Taylor series of
// exp(r) - 1 up to r^13; tanh(x) is n / (n + 2) with n = exp(2 x) - 1, in 35 operations. Beyond 22
// it is 1.
#include "backends/llvm/double_expm1.h"

#include <bit>
#include <cstdint>
#include <iterator>

namespace parakeet::backends {
namespace {

using llvm::Value;

class Exponential {
 public:
  Exponential(llvm::IRBuilder<>& builder, llvm::Type* type) : builder_(builder), type_(type) {}

  Value* LessOne(Value* y) {
    // In the low bits of `shifted`, k; the constants are log2 e, 1.5 2^52, and ln 2 in two parts.
    Value* shifted = MultiplyAdd(y, Bits(0x3FF71547652B82FE), Bits(0x4338000000000000));
    Value* k = builder_.CreateFSub(shifted, Bits(0x4338000000000000));
    Value* r = MultiplyAdd(k, Bits(0xBFE62E42FEFA39EF), y);
    r = MultiplyAdd(k, Bits(0xBC7ABC9E3B39803F), r);
    Value* p = Series(r);
    llvm::Type* words = type_->getWithNewType(builder_.getInt64Ty());
    const auto word = [&](uint64_t value) { return llvm::ConstantInt::get(words, value); };
    Value* exponent = builder_.CreateShl(builder_.CreateBitCast(shifted, words), word(52));
    Value* power = builder_.CreateAdd(exponent, word(0x3FF0000000000000));
    power = builder_.CreateBitCast(power, type_);
    return MultiplyAdd(power, p, builder_.CreateFAdd(power, Float(-1)));
  }

  Value* Tanh(Value* x) {
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* is_far = builder_.CreateFCmpOGT(size, Float(22));
    Value* a = builder_.CreateSelect(is_far, Float(22), size);
    Value* n = LessOne(builder_.CreateFAdd(a, a));
    Value* quotient = builder_.CreateFDiv(n, builder_.CreateFAdd(n, Float(2)));
    return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, quotient, x);
  }

 private:
  // From 1 / 13! down to 1 / 2!.
  static constexpr uint64_t kInverseFactorials[] = {
      0x3DE6124613A86D09, 0x3E21EED8EFF8D898, 0x3E5AE64567F544E4, 0x3E927E4FB7789F5C,
      0x3EC71DE3A556C734, 0x3EFA01A01A01A01A, 0x3F2A01A01A01A01A, 0x3F56C16C16C16C17,
      0x3F81111111111111, 0x3FA5555555555555, 0x3FC5555555555555, 0x3FE0000000000000};

  Value* Series(Value* r) {
    Value* q = Bits(kInverseFactorials[0]);
    for (size_t i = 1; i < std::size(kInverseFactorials); ++i) {
      q = MultiplyAdd(q, r, Bits(kInverseFactorials[i]));
    }
    return MultiplyAdd(builder_.CreateFMul(q, r), r, r);
  }

  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Bits(uint64_t bits) { return Float(std::bit_cast<double>(bits)); }
  Value* MultiplyAdd(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma, {a, b, c});
  }

  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
};

}  // namespace

Value* EmitDoubleExpm1(llvm::IRBuilder<>& builder, Value* x) {
  Value* made = Exponential(builder, x->getType()).LessOne(x);
  // The series adds a 0 to -0.
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, made, x);
}

Value* EmitDoubleTanh(llvm::IRBuilder<>& builder, Value* x) {
  return Exponential(builder, x->getType()).Tanh(x);
}

}  // namespace parakeet::backends
