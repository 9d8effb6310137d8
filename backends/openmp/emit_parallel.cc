#include "backends/openmp/emit_parallel.h"

#include "llvm/Frontend/OpenMP/OMPIRBuilder.h"
#include "runtime/abi.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::Function;
using llvm::OpenMPIRBuilder;
using llvm::Value;
using InsertPoint = OpenMPIRBuilder::InsertPointTy;

// A fork and a join take about 440 ns; a loop of fewer cycles is sooner done by one thread.
constexpr int64_t kWorthForking = 20'000;

// Pieces a thread, where the cost of a trip is unknown: enough that one long piece at the end does
// not leave the others idle.
constexpr int64_t kPiecesPerThread = 16;

Value* LoadTeam(llvm::IRBuilder<>& builder, Value* call) {
  Value* address =
      builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), call, offsetof(PkCall, team));
  return builder.CreateLoad(builder.getInt32Ty(), address, "team");
}

// fork(call, body, captures, trips, team): one region for all loops of the module that are
// scheduled alike; bodies are called by address.
class ForkWriter {
 public:
  ForkWriter(Emission& emission, Function* function, bool is_dynamic)
      : function_(function),
        is_dynamic_(is_dynamic),
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
    llvm::Type* word = builder_.getInt64Ty();
    trips_ = function_->getArg(3);
    Value* team = builder_.CreateSExt(function_->getArg(4), word);
    if (is_dynamic_) team = builder_.CreateMul(team, builder_.getInt64(kPiecesPerThread));
    pieces_ = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, team, trips_);
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
        keep, [](InsertPoint) {}, nullptr, function_->getArg(4), llvm::omp::OMP_PROC_BIND_default,
        false);
    builder_.restoreIP(after);
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

  Function* function_;
  bool is_dynamic_;
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

Function* ForkFunction(Emission& emission, bool is_dynamic) {
  const char* const name = is_dynamic ? "parakeet.fork_dynamic" : "parakeet.fork_static";
  if (Function* known = emission.module.getFunction(name)) return known;
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* pointer = builder.getPtrTy();
  auto* type = llvm::FunctionType::get(
      builder.getVoidTy(), {pointer, pointer, pointer, builder.getInt64Ty(), builder.getInt32Ty()},
      false);
  auto* function =
      Function::Create(type, llvm::GlobalValue::InternalLinkage, name, &emission.module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
  ForkWriter(emission, function, is_dynamic).Write();
  LeaveForksAsWritten(emission.module, function->getName());
  return function;
}

}  // namespace

void OpenMpRunner::Run(Emission& emission, Value* call, Function* body, Value* captures,
                       Value* trips, int64_t cost) const {
  llvm::IRBuilder<>& builder = emission.builder;
  const int64_t enough = cost <= 0 ? 1 : kWorthForking / cost;
  Value* team = LoadTeam(builder, call);
  Value* is_worth = builder.CreateAnd(
      builder.CreateICmpSGT(team, builder.getInt32(1)),
      builder.CreateICmpSGT(trips, builder.getInt64(std::max<int64_t>(enough, 1))));
  Function* function = builder.GetInsertBlock()->getParent();
  BasicBlock* fork = BasicBlock::Create(emission.context(), "fork", function);
  BasicBlock* direct = BasicBlock::Create(emission.context(), "direct", function);
  BasicBlock* after = BasicBlock::Create(emission.context(), "joined", function);
  builder.CreateCondBr(is_worth, fork, direct);
  builder.SetInsertPoint(fork);
  builder.CreateCall(ForkFunction(emission, cost <= 0), {call, body, captures, trips, team});
  builder.CreateBr(after);
  builder.SetInsertPoint(direct);
  builder.CreateCall(body, {call, captures, builder.getInt64(0), trips});
  builder.CreateBr(after);
  builder.SetInsertPoint(after);
}

}  // namespace parakeet::backends
