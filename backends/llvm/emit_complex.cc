#include <numbers>

#include "backends/llvm/emit_scalars.h"

namespace parakeet::backends {
namespace {

using ir::OpCode;
using llvm::Value;

class Complexes {
 public:
  Complexes(Emission& emission, llvm::ArrayRef<Number> operands)
      : emission_(emission),
        builder_(emission.builder),
        a_(operands[0]),
        b_(operands.size() > 1 ? operands[1] : Number()),
        is_binary_(operands.size() > 1),
        type_(a_.value->getType()) {}

  Number Emit(OpCode op) {
    const Number number = is_binary_ ? Binary(op) : Unary(op);
    return number.value != nullptr ? number : Number{Test(op), nullptr};
  }

 private:
  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Nan() { return llvm::ConstantFP::getNaN(type_); }
  Value* IsNan(Value* value) { return builder_.CreateFCmpUNO(value, value); }
  Value* Magnitude(Value* value) {
    return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  }
  Value* Math(const char* name, llvm::ArrayRef<Value*> operands) {
    return emission_.math->Call(emission_, name, operands);
  }
  Number Select(Value* condition, const Number& yes, const Number& no) {
    return {builder_.CreateSelect(condition, yes.value, no.value),
            builder_.CreateSelect(condition, yes.imag, no.imag)};
  }
  Number Scaled(const Number& z, double factor) {
    return {builder_.CreateFMul(z.value, Float(factor)),
            builder_.CreateFMul(z.imag, Float(factor))};
  }
  Number Named(const char* name, const Number& z) {
    return EmitComplexFunction(emission_, name, z);
  }
  Number Named(const char* name) { return Named(name, a_); }

  Number Unary(OpCode op) {
    switch (op) {
      case OpCode::kNeg: return {builder_.CreateFNeg(a_.value), builder_.CreateFNeg(a_.imag)};
      case OpCode::kAbs: return {Math("hypot", {a_.value, a_.imag}), nullptr};
      case OpCode::kSign: return Sign();
      case OpCode::kReal: return {a_.value, nullptr};
      case OpCode::kImag: return {a_.imag, nullptr};
      case OpCode::kConj: return {a_.value, builder_.CreateFNeg(a_.imag)};
      case OpCode::kRint:
        return {builder_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, a_.value),
                builder_.CreateUnaryIntrinsic(llvm::Intrinsic::rint, a_.imag)};
      default: return Function(op);
    }
  }

  Number Function(OpCode op) {
    switch (op) {
      case OpCode::kSqrt: return Named("csqrt");
      case OpCode::kExp: return Named("cexp");
      case OpCode::kExp2: return Named("cexp", Scaled(a_, std::numbers::ln2));
      case OpCode::kExpm1: return Expm1();
      case OpCode::kLog: return Named("clog");
      case OpCode::kLog2: return Scaled(Named("clog"), std::numbers::log2e);
      case OpCode::kLog10: return Scaled(Named("clog"), std::numbers::log10e);
      case OpCode::kLog1p: return Log1p();
      case OpCode::kSin: return Named("csin");
      case OpCode::kCos: return Named("ccos");
      case OpCode::kTan: return Named("ctan");
      case OpCode::kAsin: return Named("casin");
      case OpCode::kAcos: return Named("cacos");
      case OpCode::kAtan: return Named("catan");
      case OpCode::kSinh: return Named("csinh");
      case OpCode::kCosh: return Named("ccosh");
      case OpCode::kTanh: return Named("ctanh");
      case OpCode::kAsinh: return Named("casinh");
      case OpCode::kAcosh: return Named("cacosh");
      case OpCode::kAtanh: return Named("catanh");
      default: return {};
    }
  }

  Number Binary(OpCode op) {
    switch (op) {
      case OpCode::kAdd:
        return {builder_.CreateFAdd(a_.value, b_.value), builder_.CreateFAdd(a_.imag, b_.imag)};
      case OpCode::kSub:
        return {builder_.CreateFSub(a_.value, b_.value), builder_.CreateFSub(a_.imag, b_.imag)};
      case OpCode::kMul: return EmitComplexProduct(emission_, a_, b_);
      case OpCode::kDiv: return EmitComplexQuotient(emission_, a_, b_);
      case OpCode::kPow: return EmitComplexPower(emission_, a_, b_);
      case OpCode::kMin: return Extreme(HasNan(a_), LessOrEqual(a_, b_));
      case OpCode::kMax: return Extreme(HasNan(a_), LessOrEqual(b_, a_));
      case OpCode::kFmin: return Extreme(HasNan(b_), LessOrEqual(a_, b_));
      case OpCode::kFmax: return Extreme(HasNan(b_), LessOrEqual(b_, a_));
      default: return {};
    }
  }

  Number Extreme(Value* is_nan, Value* is_before) {
    return Select(builder_.CreateOr(is_nan, is_before), a_, b_);
  }

  Value* Test(OpCode op) {
    switch (op) {
      case OpCode::kIsNan: return HasNan(a_);
      case OpCode::kIsInf: return builder_.CreateOr(IsInf(a_.value), IsInf(a_.imag));
      case OpCode::kIsFinite: return builder_.CreateAnd(IsFinite(a_.value), IsFinite(a_.imag));
      case OpCode::kEq: return Equal(a_, b_);
      case OpCode::kNe: return builder_.CreateNot(Equal(a_, b_));
      case OpCode::kLt: return Less(a_, b_);
      case OpCode::kLe: return LessOrEqual(a_, b_);
      case OpCode::kGt: return Less(b_, a_);
      case OpCode::kGe: return LessOrEqual(b_, a_);
      default: return nullptr;
    }
  }

  Value* HasNan(const Number& z) { return builder_.CreateFCmpUNO(z.value, z.imag); }
  Value* IsInf(Value* value) {
    return builder_.CreateFCmpOEQ(Magnitude(value), llvm::ConstantFP::getInfinity(type_));
  }
  Value* IsFinite(Value* value) {
    return builder_.CreateFCmpOLT(Magnitude(value), llvm::ConstantFP::getInfinity(type_));
  }
  Value* Equal(const Number& a, const Number& b) {
    return builder_.CreateAnd(builder_.CreateFCmpOEQ(a.value, b.value),
                              builder_.CreateFCmpOEQ(a.imag, b.imag));
  }

  // The order of real parts, then of imaginary parts; nothing is in order with a nan.
  Value* Less(const Number& a, const Number& b) {
    Value* by_imag = builder_.CreateAnd(builder_.CreateFCmpOEQ(a.value, b.value),
                                        builder_.CreateFCmpOLT(a.imag, b.imag));
    Value* less = builder_.CreateOr(builder_.CreateFCmpOLT(a.value, b.value), by_imag);
    return builder_.CreateAnd(less, builder_.CreateFCmpORD(a.imag, b.imag));
  }
  Value* LessOrEqual(const Number& a, const Number& b) {
    return builder_.CreateOr(Less(a, b), Equal(a, b));
  }

  // z / |z|, with the limits at infinity along an axis; see ir/evaluate_complex.cc.
  Number Sign() {
    Value* size = Math("hypot", {a_.value, a_.imag});
    Value *real_is_inf = IsInf(a_.value), *imag_is_inf = IsInf(a_.imag);
    Value* unit_real =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, Float(1), a_.value);
    Value* unit_imag = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, Float(1), a_.imag);
    Number result = {builder_.CreateFDiv(a_.value, size), builder_.CreateFDiv(a_.imag, size)};
    result = Select(imag_is_inf, {Float(0), unit_imag}, result);
    result = Select(real_is_inf, {unit_real, Float(0)}, result);
    Value* is_zero = builder_.CreateFCmpOEQ(size, Float(0));
    result = Select(is_zero, {Float(0), Float(0)}, result);
    Value* has_none = builder_.CreateOr(IsNan(size), builder_.CreateAnd(real_is_inf, imag_is_inf));
    return Select(has_none, {Nan(), Nan()}, result);
  }

  Number Expm1() {
    Value* half = builder_.CreateFDiv(a_.imag, Float(2));
    Value* half_sine = Math("sin", {half});
    Value* lost = builder_.CreateFMul(builder_.CreateFMul(Float(2), half_sine), half_sine);
    Value* grown = builder_.CreateFMul(Math("expm1", {a_.value}), Math("cos", {a_.imag}));
    return {builder_.CreateFSub(grown, lost),
            builder_.CreateFMul(Math("exp", {a_.value}), Math("sin", {a_.imag}))};
  }

  Number Log1p() {
    Value* real = builder_.CreateFAdd(a_.value, Float(1));
    return {Math("log", {Math("hypot", {real, a_.imag})}), Math("atan2", {a_.imag, real})};
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Number a_;
  Number b_;
  bool is_binary_;
  llvm::Type* type_;
};

}  // namespace

Number EmitComplexOp(Emission& emission, OpCode op, llvm::ArrayRef<Number> operands) {
  return Complexes(emission, operands).Emit(op);
}

Number EmitComplexProduct(Emission& emission, const Number& a, const Number& b) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* real =
      builder.CreateFSub(builder.CreateFMul(a.value, b.value), builder.CreateFMul(a.imag, b.imag));
  Value* imag =
      builder.CreateFAdd(builder.CreateFMul(a.value, b.imag), builder.CreateFMul(a.imag, b.value));
  return {real, imag};
}

// Smith's method, with the divisor's larger part in place of two branches. A zero divisor gives
// infinities or nan.
Number EmitComplexQuotient(Emission& emission, const Number& a, const Number& b) {
  llvm::IRBuilder<>& builder = emission.builder;
  const auto size = [&](Value* part) {
    return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part);
  };
  const auto multiply_add = [&](Value* x, Value* y, Value* z) {
    return builder.CreateFAdd(builder.CreateFMul(x, y), z);
  };
  Value *real_size = size(b.value), *imag_size = size(b.imag);
  Value* by_real = builder.CreateFCmpOGE(real_size, imag_size);
  Value* large = builder.CreateSelect(by_real, b.value, b.imag);
  Value* small = builder.CreateSelect(by_real, b.imag, b.value);
  Value* ratio = builder.CreateFDiv(small, large);
  Value* one = llvm::ConstantFP::get(ratio->getType(), 1.0);
  Value* scale = builder.CreateFDiv(one, multiply_add(small, ratio, large));
  // By the real part: (ar + ai * ratio, ai - ar * ratio); else (ar * ratio + ai, ai * ratio - ar).
  Value* first = builder.CreateSelect(by_real, a.value, a.imag);
  Value* second = builder.CreateSelect(by_real, a.imag, a.value);
  Value* real = multiply_add(second, ratio, first);
  Value* product = builder.CreateFMul(first, ratio);
  Value* imag = builder.CreateSelect(by_real, builder.CreateFSub(second, product),
                                     builder.CreateFSub(product, second));
  Number result = {builder.CreateFMul(real, scale), builder.CreateFMul(imag, scale)};
  Value* zero = llvm::ConstantFP::get(ratio->getType(), 0.0);
  Value* by_zero = builder.CreateAnd(builder.CreateFCmpOEQ(real_size, zero),
                                     builder.CreateFCmpOEQ(imag_size, zero));
  result.value =
      builder.CreateSelect(by_zero, builder.CreateFDiv(a.value, real_size), result.value);
  result.imag = builder.CreateSelect(by_zero, builder.CreateFDiv(a.imag, imag_size), result.imag);
  return result;
}

}  // namespace parakeet::backends
