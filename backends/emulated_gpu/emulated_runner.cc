#include "backends/emulated_gpu/emulated_runner.h"

#include "runtime/device_abi.h"

namespace parakeet::backends {
namespace {

using llvm::Value;

Value* LoadField(Emission& emission, Value* thread, llvm::Type* type, uint64_t offset) {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), thread, offset);
  return builder.CreateLoad(type, address);
}

}  // namespace

Value* EmulatedRunner::Context(Emission&, llvm::Function* kernel) const {
  return kernel->getArg(0);
}

Value* EmulatedRunner::BlockNumber(Emission& emission, Value* context) const {
  return LoadField(emission, context, emission.builder.getInt64Ty(), offsetof(PkThread, block));
}

Value* EmulatedRunner::ThreadNumber(Emission& emission, Value* context) const {
  return LoadField(emission, context, emission.builder.getInt64Ty(), offsetof(PkThread, thread));
}

void EmulatedRunner::Barrier(Emission& emission, Value* context) const {
  llvm::IRBuilder<>& builder = emission.builder;
  builder.CreateCall(
      emission.Declare("pk_thread_barrier", builder.getVoidTy(), {builder.getPtrTy()}), {context});
}

void EmulatedRunner::WarpBarrier(Emission& emission, Value* context) const {
  llvm::IRBuilder<>& builder = emission.builder;
  builder.CreateCall(
      emission.Declare("pk_thread_warp_barrier", builder.getVoidTy(), {builder.getPtrTy()}),
      {context});
}

Value* EmulatedRunner::Match(Emission& emission, Value* context, Value* number, int) const {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* bits = builder.getInt32Ty();
  return builder.CreateCall(emission.Declare("pk_thread_match", bits, {builder.getPtrTy(), bits}),
                            {context, number});
}

Value* EmulatedRunner::Shuffle(Emission& emission, Value* context, Value* number,
                               Value* lane) const {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *whole = builder.getInt64Ty(), *place = builder.getInt32Ty();
  Value* exchanged = builder.CreateCall(
      emission.Declare("pk_thread_shuffle", whole, {builder.getPtrTy(), whole, place}),
      {context, builder.CreateZExt(number, whole), lane});
  return builder.CreateTrunc(exchanged, number->getType());
}

Value* EmulatedRunner::Shared(Emission& emission, Value* context, int64_t offset) const {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* shared = LoadField(emission, context, builder.getPtrTy(), offsetof(PkThread, shared));
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), shared, offset);
}

llvm::Function* EmulatedRunner::Fail(Emission& emission) const {
  llvm::Type *pointer = emission.builder.getPtrTy(), *count = emission.builder.getInt32Ty();
  return emission.Declare("pk_thread_fail", emission.builder.getVoidTy(),
                          {pointer, count, count, pointer, count, pointer});
}

llvm::Function* EmulatedRunner::Allocate(Emission& emission) const {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_thread_alloc", pointer, {pointer, emission.builder.getInt64Ty()});
}

llvm::Function* EmulatedRunner::Free(Emission& emission) const {
  llvm::Type* pointer = emission.builder.getPtrTy();
  return emission.Declare("pk_thread_free", emission.builder.getVoidTy(), {pointer, pointer});
}

void EmulatedRunner::Check(Emission& emission, Value* context, Value* address, int64_t bytes,
                           int access) const {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty(),
             *flag = builder.getInt32Ty();
  builder.CreateCall(
      emission.Declare("pk_thread_check", builder.getVoidTy(), {pointer, pointer, word, flag}),
      {context, address, builder.getInt64(bytes), builder.getInt32(access)});
}

void EmulatedRunner::Fence(Emission& emission) const {
  emission.builder.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
}

llvm::Constant* EmulatedRunner::Describe(Emission& emission, llvm::Function* kernel,
                                         const KernelTraits& traits) {
  llvm::GlobalVariable* constant = DeclareKernelConstant(emission, kernel->getName());
  DefineKernelConstant(constant, kPkKernelEmulated, traits, kernel, 0, kernel->getName());
  return constant;
}

}  // namespace parakeet::backends
