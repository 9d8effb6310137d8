// What raises: checks, failures of the runtime, and the way out.
//
// A failure is recorded in the call's error slot with its place, of which the least wins. In
// sequential code control then leaves the function. In a parallel loop it ends the iteration only:
// an iteration before this one may still fail and must be run. What follows the loop is skipped.
#include "backends/llvm/function_emitter.h"
#include "backends/llvm/place_nodes.h"
#include "backends/llvm/runtime_calls.h"
#include "llvm/IR/MDBuilder.h"

namespace parakeet::backends {

using ir::Attr;
using ir::Operand;
using llvm::Value;

void FunctionEmitter::GoToFailure() {
  if (failure_.flag != nullptr) {
    Value* flag = Local(failure_.flag);
    auto* store = builder_.CreateStore(builder_.getInt32(1), flag);
    // Threads may set a captured one at the same moment; all write the same value.
    if (flag != failure_.flag) store->setAtomic(llvm::AtomicOrdering::Monotonic);
  }
  builder_.CreateBr(failure_.block);
}

void FunctionEmitter::ContinueUnless(Value* failed) {
  llvm::BasicBlock* fail = NewBlock("fail");
  llvm::BasicBlock* go_on = NewBlock("go_on");
  llvm::MDNode* unlikely = llvm::MDBuilder(emission_.context()).createUnlikelyBranchWeights();
  builder_.CreateCondBr(failed, fail, go_on, unlikely);
  builder_.SetInsertPoint(fail);
  GoToFailure();
  builder_.SetInsertPoint(go_on);
}

Value* FunctionEmitter::StoreSlots(llvm::ArrayRef<Operand> operands, Value*& count) {
  std::vector<Value*> words;
  for (const Operand& operand : operands) {
    const Number number = NumberOf(operand);
    words.push_back(AsSlot(number.value, DTypeOf(operand)));
    if (number.imag != nullptr) words.push_back(AsSlot(number.imag, DTypeOf(operand)));
  }
  count = builder_.getInt32(words.size());
  if (words.empty()) return llvm::ConstantPointerNull::get(builder_.getPtrTy());
  Value* slots = OnStack(llvm::ArrayType::get(builder_.getInt64Ty(), words.size()));
  for (size_t i = 0; i < words.size(); ++i) {
    builder_.CreateStore(words[i], SlotAddress(slots, i));
  }
  return slots;
}

void FunctionEmitter::EmitCheck(const ir::Binding& check) {
  llvm::BasicBlock* fail = NewBlock("fail");
  llvm::BasicBlock* go_on = NewBlock("go_on");
  llvm::MDNode* likely = llvm::MDBuilder(emission_.context()).createLikelyBranchWeights();
  builder_.CreateCondBr(ValueOf(check.operands[0]), go_on, fail, likely);
  builder_.SetInsertPoint(fail);
  const int64_t at = check.attrs.Int(Attr::kAt);
  const llvm::ArrayRef<Operand> operands(check.operands);
  Value *place_count, *scalar_count;
  Value* place = StoreSlots(operands.slice(1, at), place_count);
  Value* scalars = StoreSlots(operands.drop_front(1 + at), scalar_count);
  Value* site = builder_.getInt32(check.attrs.Int(Attr::kSite));
  std::vector<Value*> arguments = {Local(call_), site, place_count, place, scalar_count, scalars};
  llvm::Function* function = FailFunction();
  if (caller_place_ != nullptr && !InKernel()) {
    function = FailBehind(emission_);
    arguments.push_back(Local(caller_place_));
  }
  builder_.CreateCall(function, arguments);
  GoToFailure();
  builder_.SetInsertPoint(go_on);
}

Value* FunctionEmitter::EmitPlaceNode(llvm::ArrayRef<Operand> place) {
  llvm::Type* word = builder_.getInt64Ty();
  Value* none = llvm::ConstantPointerNull::get(builder_.getPtrTy());
  Value* outer = caller_place_ == nullptr ? none : Local(caller_place_);
  if (place.empty()) return outer;
  Value* node = OnStack(llvm::ArrayType::get(word, kPlaceNodeHeader + place.size()));
  builder_.CreateStore(outer, SlotAddress(node, 0));
  builder_.CreateStore(I64(place.size()), SlotAddress(node, 1));
  for (size_t i = 0; i < place.size(); ++i) {
    builder_.CreateStore(ValueOf(place[i]), SlotAddress(node, kPlaceNodeHeader + i));
  }
  return node;
}

}  // namespace parakeet::backends
