#include "backends/openmp/emit_parallel.h"

#include "backends/llvm/runtime_calls.h"
#include "runtime/abi.h"

namespace parakeet::backends {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

void OpenMpRunner::Run(Emission& emission, Value* call, Value* trips, int64_t cost, bool is_even,
                       llvm::function_ref<Body()> outline,
                       llvm::function_ref<void()> direct) const {
  llvm::IRBuilder<>& builder = emission.builder;
  const auto fork = [&] {
    const Body body = outline();
    const int32_t how = (is_even ? kPkForkEven : 0) | (yields_cores_ ? kPkForkYields : 0);
    builder.CreateCall(PkFork(emission), {call, body.function, body.captures, trips,
                                          builder.getInt64(cost), builder.getInt32(how)});
  };
  if (!direct) return fork();
  Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* long_enough = BasicBlock::Create(emission.context(), "fork", function);
  BasicBlock* alone = BasicBlock::Create(emission.context(), "alone", function);
  BasicBlock* after = BasicBlock::Create(emission.context(), "joined", function);
  const int64_t never = cost > 0 ? kPkLeastWorthForking / cost : 0;
  builder.CreateCondBr(builder.CreateICmpSGT(trips, builder.getInt64(never)), long_enough, alone);
  builder.SetInsertPoint(long_enough);
  fork();
  builder.CreateBr(after);
  builder.SetInsertPoint(alone);
  direct();
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

Value* OpenMpRunner::Team(Emission& emission, Value* call) const {
  llvm::IRBuilder<>& builder = emission.builder;
  Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), call, offsetof(PkCall, team));
  return builder.CreateSExt(builder.CreateLoad(builder.getInt32Ty(), address, "team"),
                            builder.getInt64Ty());
}

}  // namespace parakeet::backends
