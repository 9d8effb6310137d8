#include "backends/llvm/runtime_calls.h"

#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

llvm::Function* Declare(Emission& emission, const char* name, llvm::Type* result,
                        llvm::ArrayRef<llvm::Type*> params) {
  llvm::Function* function = emission.Declare(name, result, params);
  function->setMemoryEffects(llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  return function;
}

}  // namespace

llvm::Function* PkAlloc(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Function* function =
      Declare(emission, "pk_alloc", builder.getPtrTy(), {builder.getPtrTy(), builder.getInt64Ty()});
  llvm::AttrBuilder attributes(emission.context());
  attributes.addAttribute(llvm::Attribute::NoAlias);
  attributes.addAlignmentAttr(kPkBufferAlignment);
  function->addRetAttrs(attributes);
  return function;
}

llvm::Function* PkFree(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  return Declare(emission, "pk_free", builder.getVoidTy(),
                 {builder.getPtrTy(), builder.getPtrTy()});
}

llvm::Function* PkFail(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *pointer = builder.getPtrTy(), *count = builder.getInt32Ty();
  llvm::Function* function = Declare(emission, "pk_fail", builder.getVoidTy(),
                                     {pointer, count, count, pointer, count, pointer});
  function->addFnAttr(llvm::Attribute::Cold);
  return function;
}

llvm::Function* PkFork(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty(),
             *number = builder.getInt32Ty();
  // What it runs may do anything to arrays.
  return emission.Declare("pk_fork", builder.getVoidTy(),
                          {pointer, pointer, pointer, word, word, number});
}

llvm::Function* PkFindStack(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  return Declare(emission, "pk_find_stack", builder.getInt32Ty(),
                 {builder.getPtrTy(), builder.getPtrTy()});
}

llvm::Function* PkTooDeep(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Function* function = Declare(emission, "pk_too_deep", builder.getVoidTy(),
                                     {builder.getPtrTy(), builder.getInt32Ty()});
  function->addFnAttr(llvm::Attribute::Cold);
  return function;
}

llvm::Function* PkMark(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* wide = builder.getInt64Ty();
  return emission.Declare("pk_mark", builder.getVoidTy(),
                          {builder.getPtrTy(), builder.getInt32Ty(), wide, wide});
}

llvm::Function* PkLibraryCall(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_library_call", emission.builder.getInt64Ty(),
                          {pointer, pointer, pointer, pointer});
}

llvm::Function* PkDeviceAlloc(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  return emission.Declare("pk_device_alloc", builder.getPtrTy(),
                          {builder.getPtrTy(), builder.getInt64Ty()});
}

llvm::Function* PkDeviceFree(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  return emission.Declare("pk_device_free", builder.getVoidTy(),
                          {builder.getPtrTy(), builder.getPtrTy()});
}

llvm::Function* PkDeviceRead(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_device_read", emission.builder.getInt32Ty(),
                          {pointer, pointer, pointer, emission.builder.getInt64Ty()});
}

llvm::Function* PkDeviceWrite(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_device_write", emission.builder.getInt32Ty(),
                          {pointer, pointer, pointer, emission.builder.getInt64Ty()});
}

llvm::Function* PkDeviceLaunch(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty();
  return emission.Declare("pk_device_launch", builder.getInt32Ty(),
                          {pointer, pointer, word, builder.getInt32Ty(), pointer, word});
}

llvm::Function* PkDeviceCopyToHost(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_device_copy_to_host", pointer,
                          {pointer, pointer, emission.builder.getInt32Ty()});
}

llvm::Function* PkDeviceEndCopies(Emission& emission) {
  return emission.Declare("pk_device_end_copies", emission.builder.getInt32Ty(),
                          {emission.builder.getPtrTy()});
}

llvm::Function* PkDeviceLibraryCall(Emission& emission) {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_device_library_call", emission.builder.getInt64Ty(),
                          {pointer, pointer, pointer, pointer});
}

llvm::Function* PkDeviceMatmul(Emission& emission) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* pointer = builder.getPtrTy();
  return emission.Declare("pk_device_matmul", builder.getInt64Ty(),
                          {pointer, builder.getInt32Ty(), pointer});
}

}  // namespace parakeet::backends
