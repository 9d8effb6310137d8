#include "backends/llvm/kernel_runner.h"

#include "llvm/IR/Constants.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

llvm::StructType* KernelType(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *word = builder.getInt64Ty(), *half = builder.getInt32Ty(),
             *pointer = builder.getPtrTy();
  return llvm::StructType::get(emission.context(), {half, half, word, pointer, word, pointer});
}

}  // namespace

llvm::GlobalVariable* DeclareKernelConstant(Emission& emission, llvm::StringRef name) {
  return new llvm::GlobalVariable(emission.module, KernelType(emission), /*isConstant=*/true,
                                  llvm::GlobalValue::ExternalLinkage, nullptr, name + ".described");
}

void DefineKernelConstant(Emission& emission, llvm::GlobalVariable* constant, int kind,
                          const KernelTraits& traits, llvm::Constant* code, int64_t code_bytes,
                          llvm::StringRef name) {
  llvm::IRBuilder<>& builder = emission.builder;
  const int flags = (traits.may_fail ? kPkKernelMayFail : 0) |
                    (traits.has_barriers ? kPkKernelBarriers : 0) |
                    (traits.any_order ? kPkKernelAnyOrder : 0) |
                    (traits.captures_elsewhere ? kPkKernelCapturesElsewhere : 0);
  auto* bytes = llvm::ConstantDataArray::getString(emission.context(), name);
  auto* text = new llvm::GlobalVariable(emission.module, bytes->getType(), /*isConstant=*/true,
                                        llvm::GlobalValue::PrivateLinkage, bytes);
  constant->setInitializer(llvm::ConstantStruct::get(
      KernelType(emission),
      {builder.getInt32(kind), builder.getInt32(flags), builder.getInt64(traits.shared_bytes), code,
       builder.getInt64(code_bytes), text}));
  constant->setLinkage(llvm::GlobalValue::InternalLinkage);
}

}  // namespace parakeet::backends
