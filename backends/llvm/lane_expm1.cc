// exp(x) - 1 of lanes of floats: near 0 by its series, else by the vector library's exp, which has
// lost nothing there. Its own expm1 takes twice the time.
#include "backends/llvm/emit_scalars.h"

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

}  // namespace

Value* EmitLaneExpm1(Emission& emission, Value* x) {
  llvm::IRBuilder<>& builder = emission.builder;
  const llvm::IRBuilder<>::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  const auto limit = [&](double value) { return llvm::ConstantFP::get(x->getType(), value); };
  Value* size = builder.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
  Value* far = builder.CreateFSub(emission.math->Call(emission, "exp", {x}), limit(1));
  return builder.CreateSelect(builder.CreateFCmpOLT(size, limit(kNear)), Series(builder, x), far);
}

}  // namespace parakeet::backends
