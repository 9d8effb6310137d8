// Loops of kind "parallel": as a function that a team runs on ranges of trips, or as a plain loop.
//
// Both run the same body on the same trips, so their results are the same bits. Inside the body of
// a parallel loop others are plain: the team is at work already.
#include "backends/llvm/even_trips.h"
#include "backends/llvm/function_emitter.h"
#include "ir/diagnostics.h"
#include "ir/uses.h"

namespace parakeet::backends {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

namespace {

constexpr int64_t kMostDirect = 96;  // Bindings of a loop that is written twice.

}  // namespace

void FunctionEmitter::EmitParallel(const ir::Binding& loop) {
  if (!loop.results.empty()) ir::FailBug("a parallel loop carries no values", loop.span);
  llvm::AllocaInst* flag = OnStack(builder_.getInt32Ty());
  llvm::StoreInst* clear = builder_.CreateStore(builder_.getInt32(0), flag);
  if (emission_.parallel != nullptr && !in_parallel_) {
    EmitForked(loop, flag);
  } else {
    EmitTrips(loop, I64(0), TripCount(loop), flag);
  }
  if (!flag->hasNUsesOrMore(2)) {  // nothing in the loop can fail
    clear->eraseFromParent();
    flag->eraseFromParent();
    return;
  }
  FailIfSet(flag);
}

void FunctionEmitter::EmitTeam(const ir::Binding& team) {
  const bool is_forked = emission_.parallel != nullptr && !in_parallel_;
  Value* threads = is_forked ? emission_.parallel->Team(emission_, call_) : I64(1);
  numbers_[team.result()] = {threads, nullptr};
}

void FunctionEmitter::FailIfSet(llvm::AllocaInst* flag) {
  ContinueUnless(builder_.CreateIsNotNull(builder_.CreateLoad(builder_.getInt32Ty(), flag)));
}

// ceil((hi - lo) / step), and 0 for an end behind the start, however far.
Value* FunctionEmitter::TripCount(const ir::Binding& loop) {
  const int64_t step = loop.operands[2].constant().integer, size = std::abs(step);
  Value *lo = ValueOf(loop.operands[step > 0 ? 0 : 1]),
        *hi = ValueOf(loop.operands[step > 0 ? 1 : 0]);
  hi = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, hi, lo);
  Value* distance = builder_.CreateSub(hi, lo);
  return builder_.CreateUDiv(builder_.CreateAdd(distance, I64(size - 1)), I64(size));
}

// The trips from `begin` to `end`; a failing one sets `flag` and the next goes on.
void FunctionEmitter::EmitTrips(const ir::Binding& loop, Value* begin, Value* end, Value* flag) {
  const ir::Block& body = *loop.blocks[0];
  BasicBlock *before = builder_.GetInsertBlock(), *head = NewBlock("trip"),
             *latch = NewBlock("next"), *after = NewBlock("after");
  builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), head, after);
  builder_.SetInsertPoint(head);
  PHINode* trip = builder_.CreatePHI(builder_.getInt64Ty(), 2);
  Value* moved = builder_.CreateNSWMul(trip, ValueOf(loop.operands[2]));
  numbers_[body.params[0]] = {builder_.CreateNSWAdd(ValueOf(loop.operands[0]), moved), nullptr};
  const FailureTarget outer = failure_;
  failure_ = {latch, flag};
  BasicBlock* const loop_around = std::exchange(emission_.loop, head);
  EmitBlock(body);
  emission_.loop = loop_around;
  failure_ = outer;
  builder_.CreateBr(latch);
  builder_.SetInsertPoint(latch);
  Value* next = builder_.CreateNSWAdd(trip, I64(1));
  builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), head, after);
  trip->addIncoming(begin, before);
  trip->addIncoming(next, latch);
  builder_.SetInsertPoint(after);
}

// Where a sequential loop around begins it again and again, and there is little in it, one thread
// does it without a call.
void FunctionEmitter::EmitForked(const ir::Binding& loop, llvm::AllocaInst* flag) {
  Value* trips = TripCount(loop);
  const auto outline = [&] { return Outlined(loop, flag); };
  const auto direct = [&] {
    in_parallel_ = true;
    EmitTrips(loop, I64(0), trips, flag);
    in_parallel_ = false;
  };
  int64_t length = 0;
  ir::ForEachBinding(*loop.blocks[0], [&](const ir::Binding&) { ++length; });
  const bool is_direct = loops_around_ > 0 && length <= kMostDirect;
  emission_.parallel->Run(emission_, call_, trips, loop.attrs.Int(ir::Attr::kCost),
                          HasEvenTrips(loop), outline,
                          is_direct ? llvm::function_ref<void()>(direct) : nullptr);
}

ParallelRunner::Body FunctionEmitter::Outlined(const ir::Binding& loop, llvm::AllocaInst* flag) {
  llvm::Type *pointer = builder_.getPtrTy(), *word = builder_.getInt64Ty();
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, word, word}, false);
  auto* body = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                      function_->getName() + ".parallel", &emission_.module);
  body->addParamAttr(1, llvm::Attribute::NoAlias);
  body->addParamAttr(1, llvm::Attribute::ReadOnly);
  const CaptureMemory captures = WriteInside(body, [&] {
    in_parallel_ = true;
    EmitTrips(TakeConstants(loop), body->getArg(2), body->getArg(3), flag);
    builder_.CreateRetVoid();
    in_parallel_ = false;
  });
  return {emission_.merger.Merged(body), captures.memory};
}

}  // namespace parakeet::backends
