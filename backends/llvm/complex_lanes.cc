// Functions of complex lanes: by the vector functions of their parts where all lanes are ordinary,
// else lane by lane by C's function, which knows the limits. Of fifty nanoseconds an element C's
// functions take, five are left.
#include <string>
#include <string_view>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

class ComplexLanes {
 public:
  ComplexLanes(Emission& emission, const Number& z)
      : emission_(emission),
        builder_(emission.builder),
        z_(z),
        type_(z.value->getType()),
        is_double_(type_->getScalarType()->isDoubleTy()) {}

  // Whether `Make` is right in every lane.
  Value* AreOrdinary(std::string_view name) {
    if (name == "cexp" || name == "csinh" || name == "ccosh")
      return All(IsBelow(z_.value, is_double_ ? 700.0 : 80.0), IsFinite(z_.imag));
    if (name == "csin" || name == "ccos")
      return All(IsFinite(z_.value), IsBelow(z_.imag, is_double_ ? 700.0 : 80.0));
    // Squares of what these grow to are there still.
    if (name == "ctanh")
      return All(IsBelow(z_.value, is_double_ ? 300.0 : 40.0), IsFinite(z_.imag));
    if (name == "ctan") return All(IsFinite(z_.value), IsBelow(z_.imag, is_double_ ? 300.0 : 40.0));
    return HasUsualSize();
  }

  Number Make(std::string_view name) {
    if (name == "cexp") {
      Value* radius = Real("exp", z_.value);
      return {Times(radius, Real("cos", z_.imag)), Times(radius, Real("sin", z_.imag))};
    }
    if (name == "csqrt") return Root();
    if (name == "clog") return {LogOfSize(), Real("atan2", z_.imag, z_.value)};
    // What grows, of the one part, and what turns, of the other.
    const bool turns_with_real = name == "csin" || name == "ccos" || name == "ctan";
    Value* growing = turns_with_real ? z_.imag : z_.value;
    Value* turning = turns_with_real ? z_.value : z_.imag;
    Value *sinh = Real("sinh", growing), *cosh = Real("cosh", growing);
    Value *sine = Real("sin", turning), *cosine = Real("cos", turning);
    if (name == "csin") return {Times(sine, cosh), Times(cosine, sinh)};
    if (name == "ccos") return {Times(cosine, cosh), builder_.CreateFNeg(Times(sine, sinh))};
    if (name == "csinh") return {Times(sinh, cosine), Times(cosh, sine)};
    if (name == "ccosh") return {Times(cosh, cosine), Times(sinh, sine)};
    Value* below = builder_.CreateFAdd(Times(sinh, sinh), Times(cosine, cosine));
    Value* grown = builder_.CreateFDiv(Times(sinh, cosh), below);
    Value* turned = builder_.CreateFDiv(Times(sine, cosine), below);
    return turns_with_real ? Number{turned, grown} : Number{grown, turned};
  }

 private:
  Value* Float(double value) { return llvm::ConstantFP::get(type_, value); }
  Value* Times(Value* a, Value* b) { return builder_.CreateFMul(a, b); }
  Value* Size(Value* part) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, part); }
  Value* Fma(Value* a, Value* b, Value* c) {
    return builder_.CreateIntrinsic(type_, llvm::Intrinsic::fma, {a, b, c});
  }
  Value* Real(std::string_view name, Value* part) {
    return emission_.math->Call(emission_, name, {part});
  }
  Value* Real(std::string_view name, Value* a, Value* b) {
    return emission_.math->Call(emission_, name, {a, b});
  }

  Value* IsFinite(Value* part) {
    return builder_.CreateFCmpOLT(Size(part), llvm::ConstantFP::getInfinity(type_));
  }
  Value* IsBelow(Value* part, double most) {
    return builder_.CreateFCmpOLE(Size(part), Float(most));
  }
  Value* All(Value* a, Value* b) { return builder_.CreateAndReduce(builder_.CreateAnd(a, b)); }

  // Neither the sum of squares nor a half of anything is out of range.
  Value* HasUsualSize() {
    Value *x = Size(z_.value), *y = Size(z_.imag);
    Value* most = builder_.CreateSelect(builder_.CreateFCmpOGT(x, y), x, y);
    Value* is_numbers = builder_.CreateAnd(IsFinite(x), IsFinite(y));
    Value* is_below = builder_.CreateFCmpOLT(most, Float(is_double_ ? 1e140 : 1e17));
    Value* is_above = builder_.CreateFCmpOGT(most, Float(is_double_ ? 1e-140 : 1e-17));
    return All(is_numbers, builder_.CreateAnd(is_below, is_above));
  }

  Number Root() {
    Value* size = Real("hypot", z_.value, z_.imag);
    Value* half = Times(Float(0.5), builder_.CreateFAdd(Size(z_.value), size));
    Value* root = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, half);
    Value* other = builder_.CreateFDiv(Size(z_.imag), Times(Float(2), root));
    Value* is_right = builder_.CreateFCmpOGE(z_.value, Float(0));
    Value* imag = builder_.CreateSelect(is_right, other, root);
    return {builder_.CreateSelect(is_right, root, other),
            builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, imag, z_.imag)};
  }

  // Near 1 it is that of what the squares are beyond 1, which is found exactly: with what their
  // rounding has left.
  Value* LogOfSize() {
    Value *x = Size(z_.value), *y = Size(z_.imag);
    Value* x_is_more = builder_.CreateFCmpOGT(x, y);
    Value* most = builder_.CreateSelect(x_is_more, x, y);
    Value* least = builder_.CreateSelect(x_is_more, y, x);
    Value *large = Times(most, most), *small = Times(least, least);
    Value* rest = builder_.CreateFAdd(Fma(most, most, builder_.CreateFNeg(large)),
                                      Fma(least, least, builder_.CreateFNeg(small)));
    Value* beyond = builder_.CreateFAdd(builder_.CreateFSub(large, Float(1)), small);
    beyond = builder_.CreateFAdd(beyond, rest);
    Value* is_near = builder_.CreateAnd(builder_.CreateFCmpOGT(beyond, Float(-0.5)),
                                        builder_.CreateFCmpOLT(beyond, Float(1)));
    Value* in_range = builder_.CreateSelect(is_near, beyond, Float(0));
    Value* near = Times(Float(0.5), Real("log1p", in_range));
    Value* far = Real("log", Real("hypot", z_.value, z_.imag));
    return builder_.CreateSelect(is_near, near, far);
  }

  Emission& emission_;
  llvm::IRBuilder<>& builder_;
  Number z_;
  llvm::Type* type_;
  bool is_double_;
};

void WriteFunction(Emission& emission, Function* function, std::string_view name) {
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
  ComplexLanes lanes(emission, z);
  builder.CreateCondBr(lanes.AreOrdinary(name), ordinary, special);
  builder.SetInsertPoint(ordinary);
  finish(lanes.Make(name));
  builder.SetInsertPoint(special);
  finish(emission.math->CallComplex(emission, name, {z}));
}

bool IsMadeOfParts(std::string_view name) {
  for (const std::string_view known :
       {"cexp", "clog", "csqrt", "csin", "ccos", "ctan", "csinh", "ccosh", "ctanh"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

Number EmitComplexFunction(Emission& emission, std::string_view name, const Number& z) {
  llvm::Type* type = z.value->getType();
  if (!type->isVectorTy() || !IsMadeOfParts(name))
    return emission.math->CallComplex(emission, name, {z});
  const std::string symbol = "parakeet.complex." + std::string(name) + "." + SuffixOf(type);
  Function* function = emission.module.getFunction(symbol);
  if (function == nullptr) {
    auto* pair = llvm::StructType::get(type, type);
    function = NewPureFunction(emission, symbol, pair, {type, type});
    const llvm::IRBuilder<>::InsertPointGuard guard(emission.builder);
    WriteFunction(emission, function, name);
  }
  Value* both = emission.builder.CreateCall(function, {z.value, z.imag});
  return {emission.builder.CreateExtractValue(both, 0),
          emission.builder.CreateExtractValue(both, 1)};
}

}  // namespace parakeet::backends
