#include "backends/llvm/kernel_runner.h"

#include "llvm/IR/Constants.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

llvm::StructType* KernelType(llvm::LLVMContext& context) {
  llvm::Type *word = llvm::Type::getInt64Ty(context), *half = llvm::Type::getInt32Ty(context),
             *pointer = llvm::PointerType::get(context, 0);
  return llvm::StructType::get(context, {half, half, word, pointer, word, pointer});
}

}  // namespace

llvm::GlobalVariable* DeclareKernelConstant(Emission& emission, llvm::StringRef name) {
  return new llvm::GlobalVariable(emission.module, KernelType(emission.context()),
                                  /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, nullptr,
                                  name + ".described");
}

void DefineKernelConstant(llvm::GlobalVariable* constant, int kind, const KernelTraits& traits,
                          llvm::Constant* code, int64_t code_bytes, llvm::StringRef name) {
  llvm::LLVMContext& context = constant->getContext();
  const auto number = [&](unsigned bits, int64_t value) {
    return llvm::ConstantInt::get(llvm::Type::getIntNTy(context, bits), value);
  };
  const int flags = (traits.may_fail ? kPkKernelMayFail : 0) |
                    (traits.has_barriers ? kPkKernelBarriers : 0) |
                    (traits.any_order ? kPkKernelAnyOrder : 0) |
                    (traits.captures_elsewhere ? kPkKernelCapturesElsewhere : 0);
  auto* bytes = llvm::ConstantDataArray::getString(context, name);
  auto* text =
      new llvm::GlobalVariable(*constant->getParent(), bytes->getType(),
                               /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, bytes);
  constant->setInitializer(llvm::ConstantStruct::get(
      KernelType(context), {number(32, kind), number(32, flags), number(64, traits.shared_bytes),
                            code, number(64, code_bytes), text}));
  constant->setLinkage(llvm::GlobalValue::InternalLinkage);
}

}  // namespace parakeet::backends
