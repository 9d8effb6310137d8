#include "backends/llvm/kernel_math.h"

#include <string>

#include "backends/llvm/complex_math.h"
#include "backends/llvm/expm1_series.h"
#include "backends/llvm/lane_loops.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {
namespace {

using llvm::Function;
using llvm::Value;

// libdevice's has two ways, and a warp mostly goes both.
Function* TanhFunction(Emission& emission) {
  const std::string name = emission.HelperName("tanh.f64");
  if (Function* known = emission.module.getFunction(name)) return known;
  llvm::Type* type = emission.builder.getDoubleTy();
  Function* function = NewPureFunction(emission, name, type, {type});
  const llvm::IRBuilder<>::InsertPointGuard place(emission.builder);
  emission.builder.SetInsertPoint(&function->getEntryBlock());
  emission.builder.CreateRet(EmitTanh(emission.builder, function->getArg(0)));
  return function;
}

}  // namespace

Value* KernelMath::Call(Emission& emission, std::string_view name,
                        llvm::ArrayRef<Value*> operands) const {
  if (name != "tanh" || !operands[0]->getType()->isDoubleTy()) {
    return CallReal(emission, name, operands);
  }
  return emission.builder.CreateCall(TanhFunction(emission), operands);
}

Value* KernelMath::Extreme(Emission& emission, bool is_least, Value* a, Value* b) const {
  constexpr int kFirstWithNan = 80;
  if (architecture_ < kFirstWithNan || !a->getType()->isFloatTy()) return nullptr;
  const auto id = is_least ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  return emission.builder.CreateBinaryIntrinsic(id, a, b);
}

Number KernelMath::CallComplex(Emission& emission, std::string_view name,
                               llvm::ArrayRef<Number> operands) const {
  if (const auto result = CallByParts(emission, *this, name, operands)) return *result;
  ir::FailLimitation("there is no " + std::string(name.substr(1)) +
                         " of complex numbers on a GPU; use target='parallel'",
                     emission.span);
}

}  // namespace parakeet::backends
