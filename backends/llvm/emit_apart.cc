// Parts of a long function as functions of their own: (call, captures, results) -> failed.
//
// What LLVM does for a function grows faster than its length, and parts that say the same are
// compiled once.
#include <utility>

#include "backends/llvm/emit_scalars.h"
#include "backends/llvm/function_emitter.h"
#include "runtime/device_abi.h"

namespace parakeet::backends {

using llvm::BasicBlock;
using llvm::Value;

FunctionEmitter::CaptureMemory FunctionEmitter::WriteInside(llvm::Function* function,
                                                            llvm::function_ref<void()> write) {
  BasicBlock* entry = BasicBlock::Create(emission_.context(), "entry", function);
  const uint64_t reserved = RuntimeBytes();
  Captures captures(emission_, entry, function->getArg(1), reserved);
  const llvm::IRBuilder<>::InsertPoint here = builder_.saveIP();
  llvm::Function* const outer = std::exchange(function_, function);
  Value* const outer_call = std::exchange(call_, function->getArg(0));
  Captures* const outer_captures = std::exchange(captures_, &captures);
  const FailureTarget outer_failure = failure_;
  BasicBlock* start = NewBlock("start");
  builder_.SetInsertPoint(start);
  write();
  llvm::BranchInst::Create(start, entry);
  failure_ = outer_failure;
  captures_ = outer_captures;
  call_ = outer_call;
  function_ = outer;
  builder_.restoreIP(here);

  captures.Finish(reserved > 0 ? kPkMostCaptureBytes : UINT64_MAX);
  llvm::AllocaInst* memory = OnStack(llvm::ArrayType::get(builder_.getInt8Ty(), captures.bytes()));
  memory->setAlignment(captures.alignment());
  captures.Store(builder_, memory, [&](Value* value) { return Local(value); });
  return {memory, int64_t(captures.bytes()), int64_t(captures.own_bytes()),
          captures.are_elsewhere()};
}

void FunctionEmitter::EmitApart(const ir::Binding& binding) {
  llvm::Type* pointer = builder_.getPtrTy();
  auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer, pointer}, false);
  auto* part = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                      function_->getName() + ".part", &emission_.module);
  for (const unsigned i : {1u, 2u}) part->addParamAttr(i, llvm::Attribute::NoAlias);
  part->addParamAttr(1, llvm::Attribute::ReadOnly);
  PartResults results;
  Value* captures = WriteInside(part, [&] { results = WritePart(TakeConstants(binding)); }).memory;
  part = emission_.merger.Merged(part);
  Value* memory = OnStack(results.layout);
  Value* failed = builder_.CreateCall(part, {call_, captures, memory});
  if (results.can_fail) ContinueUnless(builder_.CreateIsNotNull(failed));
  unsigned next = 0;
  for (Value*& value : results.parts) {
    if (value != nullptr) continue;
    Value* address = builder_.CreateStructGEP(results.layout, memory, next);
    value = builder_.CreateLoad(results.layout->getElementType(next++), address);
  }
  DefineFromParts(binding.results, results.parts);
}

const ir::Binding& FunctionEmitter::TakeConstants(const ir::Binding& binding) {
  const auto shared = shared_.find(&binding);
  if (shared == shared_.end()) return binding;
  for (const auto& [value, constant] : shared->second.constants) {
    numbers_[value] = {captures_->Take(EmitConstant(emission_, constant).value), nullptr};
  }
  return *shared->second.binding;
}

// The part's body. Constants are not handed over: the function around it knows them.
FunctionEmitter::PartResults FunctionEmitter::WritePart(const ir::Binding& binding) {
  failure_ = {NewBlock("failed"), nullptr};
  EmitBinding(binding);
  PartResults results;
  const std::vector<ir::Operand> operands(binding.results.begin(), binding.results.end());
  results.parts = PartsOf(binding.results, operands);
  std::vector<Value*> handed;
  std::vector<llvm::Type*> types;
  for (Value*& value : results.parts) {
    if (llvm::isa<llvm::Constant>(value)) continue;
    types.push_back(value->getType());
    handed.push_back(std::exchange(value, nullptr));
  }
  results.layout = llvm::StructType::get(emission_.context(), types);
  for (unsigned i = 0; i < handed.size(); ++i) {
    Value* address = builder_.CreateStructGEP(results.layout, function_->getArg(2), i);
    builder_.CreateStore(handed[i], address);
  }
  builder_.CreateRet(builder_.getInt32(0));
  results.can_fail = !failure_.block->use_empty();
  builder_.SetInsertPoint(failure_.block);
  if (results.can_fail) builder_.CreateRet(builder_.getInt32(1));
  else failure_.block->eraseFromParent();
  return results;
}

}  // namespace parakeet::backends
