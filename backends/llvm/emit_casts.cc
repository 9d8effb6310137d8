#include <llvm/IR/IntrinsicsX86.h>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using ir::DType;
using llvm::Value;

// The double or float just outside what an integer register of `bits` bits takes when truncated:
// values above `low` (or equal, where `low` itself fits) and below `high` have a truncation.
struct Range {
  double low;
  bool takes_low;
  double high;
};

Range RangeOf(llvm::Type* type, int bits) {
  if (bits == 64) return {-0x1p63, true, 0x1p63};
  if (type->getScalarType()->isFloatTy()) return {-0x1p31, true, 0x1p31};
  return {-0x1p31 - 1, false, 0x1p31};
}

// The instruction for one float or double, which takes the first element of a register.
Value* TruncateOne(llvm::IRBuilder<>& builder, Value* operand, int bits) {
  const bool is_float = operand->getType()->isFloatTy();
  const llvm::Intrinsic::ID narrow =
      is_float ? llvm::Intrinsic::x86_sse_cvttss2si : llvm::Intrinsic::x86_sse2_cvttsd2si;
  const llvm::Intrinsic::ID wide =
      is_float ? llvm::Intrinsic::x86_sse_cvttss2si64 : llvm::Intrinsic::x86_sse2_cvttsd2si64;
  auto* const type = llvm::FixedVectorType::get(operand->getType(), is_float ? 4 : 2);
  Value* whole = builder.CreateInsertElement(llvm::PoisonValue::get(type), operand, uint64_t{0});
  return builder.CreateIntrinsic(bits == 64 ? wide : narrow, {}, {whole});
}

// Lanes by instructions for one, or by their bits where all of them are small enough.
bool GoesByBits(const Emission& emission, Value* operand) {
  return emission.is_x86 && !emission.converts_lanes && operand->getType()->isVectorTy();
}

// x86's cvttsd2si into a register of 32 or 64 bits: what does not fit is the least integer. LLVM's
// own conversion, which lanes take, has no value there, so the operand is replaced first.
Value* TruncateToRegister(Emission& emission, Value* operand, int bits) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* type = operand->getType();
  if (emission.is_x86 && !type->isVectorTy()) return TruncateOne(builder, operand, bits);
  const Range range = RangeOf(type, bits);
  Value* low = llvm::ConstantFP::get(type, range.low);
  Value* above =
      range.takes_low ? builder.CreateFCmpOGE(operand, low) : builder.CreateFCmpOGT(operand, low);
  Value* below = builder.CreateFCmpOLT(operand, llvm::ConstantFP::get(type, range.high));
  Value* fits = builder.CreateAnd(above, below);
  Value* safe = builder.CreateSelect(fits, operand, llvm::ConstantFP::get(type, 0.0));
  llvm::Type* integer = WithElement(type, builder.getIntNTy(bits));
  Value* least = llvm::ConstantInt::get(integer, llvm::APInt::getSignedMinValue(bits));
  return builder.CreateSelect(fits, builder.CreateFPToSI(safe, integer), least);
}

// The upper half of the range is moved down and back.
Value* TruncateToU64(Emission& emission, Value* operand) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* half = llvm::ConstantFP::get(operand->getType(), 0x1p63);
  Value* is_upper = builder.CreateFCmpOGE(operand, half);
  Value* moved = builder.CreateSelect(is_upper, builder.CreateFSub(operand, half), operand);
  Value* lower = TruncateToRegister(emission, moved, 64);
  Value* top = llvm::ConstantInt::get(lower->getType(), uint64_t{1} << 63);
  return builder.CreateSelect(is_upper, builder.CreateXor(lower, top), lower);
}

Value* TruncateByBits(Emission& emission, Value* operand, llvm::function_ref<Value*()> slow) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* doubles = WithElement(operand->getType(), builder.getDoubleTy());
  Value* wide = builder.CreateFPExt(operand, doubles);
  const auto quick = [&] {
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
    builder.clearFastMathFlags();
    return DoublesToWords(builder, builder.CreateUnaryIntrinsic(llvm::Intrinsic::trunc, wide));
  };
  return ChooseWay(emission, AreBelowExact(builder, wide), quick, slow);
}

Value* FloatToInteger(Emission& emission, Value* operand, DType to) {
  if (to == DType::kU64) return TruncateToU64(emission, operand);
  const bool is_wide = to == DType::kI64 || to == DType::kU32;
  const auto truncate = [&] { return TruncateToRegister(emission, operand, is_wide ? 64 : 32); };
  Value* whole = is_wide && GoesByBits(emission, operand)
                     ? TruncateByBits(emission, operand, truncate)
                     : truncate();
  llvm::Type* type = WithElement(whole->getType(), emission.builder.getIntNTy(ir::SizeInBits(to)));
  return emission.builder.CreateTrunc(whole, type);
}

llvm::Type* TypeLike(Emission& emission, Value* like, DType dtype) {
  return WithElement(like->getType(), RegisterType(emission, dtype));
}

Value* FloatToFloat(Emission& emission, Value* operand, DType to) {
  return emission.builder.CreateFPCast(operand, TypeLike(emission, operand, to));
}

// Half-precision numbers come from integers through float.
Value* IntegerToFloat(Emission& emission, Value* operand, DType from, DType to) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* type = TypeLike(emission, operand, to == DType::kF16 ? DType::kF32 : to);
  const bool is_signed = ir::IsSigned(from);
  const auto convert = [&]() -> Value* {
    return is_signed ? builder.CreateSIToFP(operand, type) : builder.CreateUIToFP(operand, type);
  };
  if (to != DType::kF64 || ir::SizeInBits(from) < 64 || !GoesByBits(emission, operand)) {
    return FloatToFloat(emission, convert(), to);
  }
  const auto quick = [&] {
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
    builder.clearFastMathFlags();
    return WordsToDoubles(builder, operand);
  };
  Value* beyond = builder.CreateOrReduce(BitsBeyondExact(builder, operand, is_signed));
  return ChooseWay(emission, builder.CreateICmpEQ(beyond, builder.getInt64(0)), quick, convert);
}

Value* IsNonzero(Emission& emission, const Number& operand, DType from) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* zero = llvm::Constant::getNullValue(operand.value->getType());
  if (ir::IsInteger(from)) return builder.CreateICmpNE(operand.value, zero);
  Value* result = builder.CreateFCmpUNE(operand.value, zero);
  if (operand.imag == nullptr) return result;
  return builder.CreateOr(result, builder.CreateFCmpUNE(operand.imag, zero));
}

// Of numbers without imaginary part.
Value* CastReal(Emission& emission, Value* operand, DType from, DType to) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (ir::IsFloat(from)) {
    if (ir::IsFloat(to)) return FloatToFloat(emission, operand, to);
    if (from == DType::kF16) operand = FloatToFloat(emission, operand, DType::kF32);
    return FloatToInteger(emission, operand, to);
  }
  if (ir::IsFloat(to)) return IntegerToFloat(emission, operand, from, to);
  return builder.CreateIntCast(operand, TypeLike(emission, operand, to), ir::IsSigned(from));
}

}  // namespace

Number EmitCast(Emission& emission, const Number& operand, DType from, DType to) {
  if (from == to) return operand;
  if (ir::IsBool(to)) return {IsNonzero(emission, operand, from), nullptr};
  const DType part = ir::IsComplex(from) ? ir::PartOf(from) : from;
  if (!ir::IsComplex(to)) return {CastReal(emission, operand.value, part, to), nullptr};
  Number result;
  result.value = CastReal(emission, operand.value, part, ir::PartOf(to));
  result.imag = operand.imag == nullptr ? llvm::Constant::getNullValue(result.value->getType())
                                        : CastReal(emission, operand.imag, part, ir::PartOf(to));
  return result;
}

Number EmitBitcast(Emission& emission, const Number& operand, DType to) {
  llvm::Type* type = TypeLike(emission, operand.value, to);
  return {emission.builder.CreateBitCast(operand.value, type), nullptr};
}

}  // namespace parakeet::backends
