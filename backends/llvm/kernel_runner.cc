#include "backends/llvm/kernel_runner.h"

#include "llvm/IR/Constants.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {

llvm::Constant* KernelConstant(Emission& emission, int kind, const KernelTraits& traits,
                               llvm::Constant* code, llvm::Constant* code_bytes,
                               llvm::StringRef name) {
  llvm::IRBuilder<>& builder = emission.builder;
  const int flags =
      (traits.may_fail ? kPkKernelMayFail : 0) | (traits.has_barriers ? kPkKernelBarriers : 0);
  auto* text = llvm::cast<llvm::Constant>(emission.Text(name.str()));
  llvm::Constant* value = llvm::ConstantStruct::getAnon(
      {builder.getInt32(kind), builder.getInt32(flags), builder.getInt64(traits.shared_bytes), code,
       code_bytes, text});
  return new llvm::GlobalVariable(emission.module, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::InternalLinkage, value, name + ".kernel");
}

}  // namespace parakeet::backends
