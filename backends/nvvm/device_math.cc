#include "backends/nvvm/device_math.h"

#include <string>

namespace parakeet::backends {

llvm::Value* DeviceMath::CallReal(Emission& emission, std::string_view name,
                                  llvm::ArrayRef<llvm::Value*> operands) const {
  llvm::Type* type = operands[0]->getType();
  const std::string symbol = "__nv_" + std::string(name) + (type->isFloatTy() ? "f" : "");
  const llvm::SmallVector<llvm::Type*, 2> params(operands.size(), type);
  return emission.builder.CreateCall(emission.DeclarePure(symbol, type, params), operands);
}

}  // namespace parakeet::backends
