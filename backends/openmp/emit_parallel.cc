#include "backends/openmp/emit_parallel.h"

#include <optional>

#include "llvm/Frontend/OpenMP/OMPIRBuilder.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::OpenMPIRBuilder;
using llvm::Value;
using InsertPoint = OpenMPIRBuilder::InsertPointTy;

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

// Workers that wait for the next region of their own call keep a core busy; a library that comes
// first wants it. How long they wait is set for the regions of this thread, and then as it was.
class Waiting {
 public:
  Waiting(Emission& emission, llvm::IRBuilder<>& builder) : builder_(builder) {
    llvm::Type* word = builder.getInt32Ty();
    set_ = emission.Declare("kmp_set_blocktime", builder.getVoidTy(), {word});
    before_ = builder.CreateCall(emission.Declare("kmp_get_blocktime", word, {}));
    builder.CreateCall(set_, {builder.getInt32(0)});
  }
  void Restore() { builder_.CreateCall(set_, {before_}); }

 private:
  llvm::IRBuilder<>& builder_;
  Function* set_;
  Value* before_;
};

// fork(call, body, captures, trips, pieces, team): one region for all loops of the module that are
// scheduled alike; bodies are called by address.
class ForkWriter {
 public:
  ForkWriter(Emission& emission, Function* function, bool is_dynamic, bool yields_cores)
      : emission_(emission),
        function_(function),
        is_dynamic_(is_dynamic),
        yields_cores_(yields_cores),
        builder_(BasicBlock::Create(emission.context(), "entry", function)),
        openmp_(emission.module) {
    llvm::OpenMPIRBuilderConfig config;
    config.setIsTargetDevice(false);
    config.setIsGPU(false);
    config.setOpenMPOffloadMandatory(false);
    openmp_.setConfig(config);
    openmp_.initialize();
  }

  void Write() {
    trips_ = function_->getArg(3);
    pieces_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, function_->getArg(4), trips_);
    std::optional<Waiting> waiting;
    if (yields_cores_) waiting.emplace(emission_, builder_);
    BasicBlock* region = BasicBlock::Create(builder_.getContext(), "region", function_);
    builder_.CreateBr(region);
    const InsertPoint allocas(&function_->getEntryBlock(), function_->getEntryBlock().begin());
    builder_.SetInsertPoint(region);
    const auto keep = [](InsertPoint, InsertPoint code, Value&, Value& inner, Value*& replacement) {
      replacement = &inner;
      return code;
    };
    const InsertPoint after = openmp_.createParallel(
        OpenMPIRBuilder::LocationDescription(builder_), allocas,
        [&](InsertPoint inner_allocas, InsertPoint code) { WriteRegion(inner_allocas, code); },
        keep, [](InsertPoint) {}, nullptr, function_->getArg(5), llvm::omp::OMP_PROC_BIND_default,
        false);
    builder_.restoreIP(after);
    if (waiting) waiting->Restore();
    builder_.CreateRetVoid();
    openmp_.finalize();
  }

 private:
  void WriteRegion(InsertPoint allocas, InsertPoint code) {
    builder_.restoreIP(code);
    auto* loop = openmp_.createCanonicalLoop(
        OpenMPIRBuilder::LocationDescription(builder_),
        [&](InsertPoint inside, Value* piece) { WritePiece(inside, piece); }, pieces_, "piece");
    const auto schedule =
        is_dynamic_ ? llvm::omp::OMP_SCHEDULE_Dynamic : llvm::omp::OMP_SCHEDULE_Static;
    Value* chunk = is_dynamic_ ? builder_.getInt64(1) : nullptr;
    const InsertPoint after = openmp_.applyWorkshareLoop(llvm::DebugLoc(), loop, allocas,
                                                         /*NeedsBarrier=*/false, schedule, chunk);
    builder_.restoreIP(after);
  }

  // trips * piece / pieces .. trips * (piece + 1) / pieces
  void WritePiece(InsertPoint inside, Value* piece) {
    builder_.restoreIP(inside);
    const auto bound = [&](Value* index) {
      return builder_.CreateUDiv(builder_.CreateMul(trips_, index), pieces_);
    };
    Value* next = builder_.CreateAdd(piece, builder_.getInt64(1));
    llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt64Ty();
    auto* type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, word, word}, false);
    builder_.CreateCall(type, function_->getArg(1),
                        {function_->getArg(0), function_->getArg(2), bound(piece), bound(next)});
  }

  Emission& emission_;
  Function* function_;
  bool is_dynamic_;
  bool yields_cores_;
  llvm::IRBuilder<> builder_;
  OpenMPIRBuilder openmp_;
  Value* trips_ = nullptr;
  Value* pieces_ = nullptr;
};

// Forking costs far more than the code around it, and optimising that would cost a third of a small
// compilation. The outlined region's name begins with its function's.
void LeaveForksAsWritten(llvm::Module& module, llvm::StringRef name) {
  for (Function& function : module) {
    if (function.getName().starts_with(name)) LeaveAsWritten(function);
  }
}

Function* ForkFunction(Emission& emission, bool is_dynamic, bool yields_cores) {
  const char* const name = is_dynamic ? "parakeet.fork_dynamic" : "parakeet.fork_static";
  if (Function* known = emission.module.getFunction(name)) return known;
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type *pointer = builder.getPtrTy(), *word = builder.getInt64Ty();
  auto* type = llvm::FunctionType::get(
      builder.getVoidTy(), {pointer, pointer, pointer, word, word, builder.getInt32Ty()}, false);
  auto* function =
      Function::Create(type, llvm::GlobalValue::InternalLinkage, name, &emission.module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
  ForkWriter(emission, function, is_dynamic, yields_cores).Write();
  LeaveForksAsWritten(emission.module, function->getName());
  return function;
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
  Function* fork_function = ForkFunction(emission, true, yields_cores_);
  Value* chosen = fork_function;
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
    chosen =
        builder.CreateSelect(are_many, fork_function, ForkFunction(emission, false, yields_cores_));
    pieces = builder.CreateSelect(are_many, pieces, threads);
  }
  builder.CreateCall(fork_function->getFunctionType(), chosen,
                     {call, body.function, body.captures, trips, pieces, team});
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
