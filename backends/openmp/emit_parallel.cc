#include "backends/openmp/emit_parallel.h"

#include "backends/llvm/runtime_calls.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::Value;

// Cycles that sharing a loop has to save to be worth a fork: of any team, and more for each
// thread. A fork and a join take 440 ns with 2 threads and 8 us with 16 of 8 cores, and what one
// core has in its caches goes to the others, which may take as long as half of the loop.
struct Worth {
  int64_t fork;
  int64_t thread;
};
constexpr Worth kWorthForking{16'000, 2'000};
// The same where workers sleep between regions and have to be woken.
constexpr Worth kWorthWaking{100'000, 20'000};

// Pieces a thread, where there is much to do or nobody knows: enough that one long piece at the end
// does not leave the others idle. A thread begins with its own and then takes those of others: one
// whose core has other work to do does not keep the rest waiting. With fewer than the least, a
// thread has what it had the last time.
constexpr int64_t kPiecesPerThread = 16;
constexpr int64_t kLeastPiecesPerThread = 4;
// Cycles of a piece that are worth asking for it. Few threads wait less for the last one where
// trips are even, and each finds its own part of what loops before have read in its core's caches:
// a matrix of 5 MB times a vector takes 2 threads half the time if each reads the same rows always.
constexpr int64_t kDearPiece = 20'000;
constexpr int64_t kFewThreads = 4;
constexpr int64_t kDearPieceOfFew = 200'000;

Value* LoadTeam(llvm::IRBuilder<>& builder, Value* call) {
  Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), call, offsetof(PkCall, team));
  return builder.CreateLoad(builder.getInt32Ty(), address, "team");
}

}  // namespace

void OpenMpRunner::Run(Emission& emission, Value* call, Value* trips, int64_t cost, bool is_even,
                       llvm::function_ref<Body()> outline,
                       llvm::function_ref<void()> direct) const {
  llvm::IRBuilder<>& builder = emission.builder;
  Body body{};
  if (!direct) body = outline();
  const Worth worth = yields_cores_ ? kWorthWaking : kWorthForking;
  Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* weigh = BasicBlock::Create(emission.context(), "weigh", function);
  BasicBlock* fork = BasicBlock::Create(emission.context(), "fork", function);
  BasicBlock* alone = BasicBlock::Create(emission.context(), "alone", function);
  BasicBlock* after = BasicBlock::Create(emission.context(), "joined", function);
  // What is worth no fork at all is not divided among threads first.
  const int64_t never = cost > 0 ? worth.fork / cost : 0;
  builder.CreateCondBr(builder.CreateICmpSGT(trips, builder.getInt64(never)), weigh, alone);
  builder.SetInsertPoint(weigh);
  Value* team = LoadTeam(builder, call);
  Value* threads = builder.CreateSExt(team, builder.getInt64Ty());
  // The thread with most trips is the last to end: all but those are saved.
  Value* most = builder.CreateUDiv(
      builder.CreateAdd(trips, builder.CreateSub(threads, builder.getInt64(1))), threads);
  Value* enough = builder.getInt64(0);
  if (cost > 0) {
    Value* cycles = builder.CreateAdd(builder.getInt64(worth.fork),
                                      builder.CreateMul(builder.getInt64(worth.thread), threads));
    enough = builder.CreateUDiv(cycles, builder.getInt64(cost));
  }
  Value* is_worth = builder.CreateICmpSGT(builder.CreateSub(trips, most), enough);
  builder.CreateCondBr(is_worth, fork, alone);
  builder.SetInsertPoint(fork);
  if (direct) body = outline();
  const int32_t yields = yields_cores_ ? kPkForkYields : 0;
  Value* how = builder.getInt32(kPkForkDynamic | yields);
  Value* pieces = builder.CreateMul(threads, builder.getInt64(kPiecesPerThread));
  const int64_t dear_of_few = is_even ? kDearPieceOfFew : kDearPiece;
  if (cost > 0 && cost < dear_of_few) {
    Value* are_few = builder.CreateICmpSLE(threads, builder.getInt64(kFewThreads));
    Value* trips_of_piece = builder.CreateSelect(are_few, builder.getInt64(1 + dear_of_few / cost),
                                                 builder.getInt64(1 + kDearPiece / cost));
    pieces = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, pieces,
                                           builder.CreateUDiv(trips, trips_of_piece));
    Value* least = builder.CreateMul(threads, builder.getInt64(kLeastPiecesPerThread));
    Value* are_many = builder.CreateICmpSGE(pieces, least);
    how = builder.CreateSelect(are_many, how, builder.getInt32(kPkForkStatic | yields));
    pieces = builder.CreateSelect(are_many, pieces, threads);
  }
  builder.CreateCall(PkFork(emission),
                     {call, body.function, body.captures, trips, pieces, team, how});
  builder.CreateBr(after);
  builder.SetInsertPoint(alone);
  if (direct) direct();
  else builder.CreateCall(body.function, {call, body.captures, builder.getInt64(0), trips});
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

Value* OpenMpRunner::Team(Emission& emission, Value* call) const {
  llvm::IRBuilder<>& builder = emission.builder;
  return builder.CreateSExt(LoadTeam(builder, call), builder.getInt64Ty());
}

}  // namespace parakeet::backends
