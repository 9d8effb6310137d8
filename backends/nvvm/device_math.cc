#include "backends/nvvm/device_math.h"

#include <string>

#include "backends/llvm/complex_math.h"
#include "backends/nvvm/device_functions.h"
#include "ir/diagnostics.h"

namespace parakeet::backends {

llvm::Value* DeviceMath::Call(Emission& emission, std::string_view name,
                              llvm::ArrayRef<llvm::Value*> operands) const {
  llvm::Type* type = operands[0]->getType();
  std::string symbol = "__nv_" + std::string(name) + (type->isFloatTy() ? "f" : "");
  if (name == "tanh" && type->isDoubleTy()) symbol = kTanhFunction;
  const llvm::SmallVector<llvm::Type*, 2> params(operands.size(), type);
  return emission.builder.CreateCall(emission.DeclarePure(symbol, type, params), operands);
}

llvm::Value* DeviceMath::Extreme(Emission& emission, bool is_least, llvm::Value* a,
                                 llvm::Value* b) const {
  constexpr int kFirstWithNan = 80;
  if (architecture_ < kFirstWithNan || !a->getType()->isFloatTy()) return nullptr;
  const auto id = is_least ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum;
  return emission.builder.CreateBinaryIntrinsic(id, a, b);
}

Number DeviceMath::CallComplex(Emission& emission, std::string_view name,
                               llvm::ArrayRef<Number> operands) const {
  if (const auto result = CallByParts(emission, *this, name, operands)) return *result;
  ir::FailLimitation("there is no " + std::string(name.substr(1)) +
                         " of complex numbers on a GPU; use target='parallel'",
                     {});
}

}  // namespace parakeet::backends
