// The exponential of complex lanes, which Fourier transforms live on: by the vector functions of
// its parts where all lanes are ordinary, else lane by lane by C's cexp, which knows the limits.
#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

// No infinity nor nan, and e to the real part neither overflows nor underflows.
Value* AllOrdinary(llvm::IRBuilder<>& builder, const Number& z) {
  llvm::Type* type = z.value->getType();
  const bool is_double = type->getScalarType()->isDoubleTy();
  const auto size = [&](Value* part) {
    return builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part);
  };
  Value* most = llvm::ConstantFP::get(type, is_double ? 700.0 : 80.0);
  Value* real = builder.CreateFCmpOLE(size(z.value), most);
  Value* imag = builder.CreateFCmpOLT(size(z.imag), llvm::ConstantFP::getInfinity(type));
  return builder.CreateAndReduce(builder.CreateAnd(real, imag));
}

Number ByParts(Emission& emission, const Number& z) {
  Value* radius = emission.math->Call(emission, "exp", {z.value});
  Value* cosine = emission.math->Call(emission, "cos", {z.imag});
  Value* sine = emission.math->Call(emission, "sin", {z.imag});
  return {emission.builder.CreateFMul(radius, cosine), emission.builder.CreateFMul(radius, sine)};
}

void WriteExp(Emission& emission, Function* function) {
  llvm::IRBuilder<>& builder = emission.builder;
  const Number z = {function->getArg(0), function->getArg(1)};
  const auto finish = [&](const Number& result) {
    Value* both = llvm::PoisonValue::get(function->getReturnType());
    both = builder.CreateInsertValue(both, result.value, 0);
    builder.CreateRet(builder.CreateInsertValue(both, result.imag, 1));
  };
  BasicBlock* ordinary = BasicBlock::Create(emission.context(), "ordinary", function);
  BasicBlock* special = BasicBlock::Create(emission.context(), "special", function);
  builder.SetInsertPoint(&function->getEntryBlock());
  builder.CreateCondBr(AllOrdinary(builder, z), ordinary, special);
  builder.SetInsertPoint(ordinary);
  finish(ByParts(emission, z));
  builder.SetInsertPoint(special);
  finish(emission.math->CallComplex(emission, "cexp", {z}));
}

}  // namespace

Number EmitComplexExp(Emission& emission, const Number& z) {
  llvm::Type* type = z.value->getType();
  if (!type->isVectorTy()) return emission.math->CallComplex(emission, "cexp", {z});
  const std::string name = "parakeet.complex_exp." + SuffixOf(type);
  Function* function = emission.module.getFunction(name);
  if (function == nullptr) {
    auto* pair = llvm::StructType::get(type, type);
    function = NewPureFunction(emission, name, pair, {type, type});
    const llvm::IRBuilder<>::InsertPointGuard guard(emission.builder);
    WriteExp(emission, function);
  }
  Value* both = emission.builder.CreateCall(function, {z.value, z.imag});
  return {emission.builder.CreateExtractValue(both, 0),
          emission.builder.CreateExtractValue(both, 1)};
}

}  // namespace parakeet::backends
