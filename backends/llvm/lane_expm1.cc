// exp(x) - 1 of lanes. Of floats near 0 by its series, else by the vector library's exp, which has
// lost nothing there; of doubles by one series. The library's own takes twice the time, and more.
#include "backends/llvm/double_expm1.h"
#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/lane_doubles.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

constexpr double kNear = 0.5;
constexpr int kTerms = 7;  // Behind the first; the next is below 1e-8 of the sum.

// x + x^2 / 2 + x^3 / 6 + ..., with the sign of x, which a sum with 0 would lose.
Value* Series(llvm::IRBuilder<>& builder, Value* x) {
  llvm::Type* type = x->getType();
  double factorial = 40320;  // of kTerms + 1
  Value* sum = llvm::ConstantFP::get(type, 1 / factorial);
  for (int k = kTerms; k >= 2; --k) {
    factorial /= k + 1;
    sum = builder.CreateIntrinsic(type, llvm::Intrinsic::fma,
                                  {sum, x, llvm::ConstantFP::get(type, 1 / factorial)});
  }
  Value* made =
      builder.CreateIntrinsic(type, llvm::Intrinsic::fma, {builder.CreateFMul(x, x), sum, x});
  return builder.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, made, x);
}

// A lane's value does not depend on whether others are far from 0.
Value* Expm1OfDoubles(Emission& emission, Value* x) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* is_near = builder.CreateFCmpOLE(size, llvm::ConstantFP::get(x->getType(), kMostOfExpm1));
  Value* made = EmitDoubleExpm1(builder, x);
  return ChooseWay(
      emission, builder.CreateAndReduce(is_near), [&] { return made; },
      [&] {
        return builder.CreateSelect(is_near, made, emission.math->Call(emission, "expm1", {x}));
      });
}

}  // namespace

Value* EmitLaneExpm1(Emission& emission, Value* x) {
  llvm::IRBuilder<>& builder = emission.builder;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  if (x->getType()->getScalarType()->isDoubleTy()) return Expm1OfDoubles(emission, x);
  const auto limit = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* far = builder.CreateFSub(emission.math->Call(emission, "exp", {x}), limit(1));
  return builder.CreateSelect(builder.CreateFCmpOLT(size, limit(kNear)), Series(builder, x), far);
}

Value* EmitLaneTanh(Emission& emission, Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(emission.builder);
  emission.builder.clearFastMathFlags();
  return EmitDoubleTanh(emission.builder, x);
}

}  // namespace parakeet::backends
