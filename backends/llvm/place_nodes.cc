#include "backends/llvm/place_nodes.h"

#include "backends/llvm/runtime_calls.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::PHINode;
using llvm::Value;

// The body of FailBehind: two walks over the nodes, inner to outer; one adds up how long the whole
// place is, one fills it from its end.
class FailWriter {
 public:
  FailWriter(Emission& emission, llvm::Function* function)
      : emission_(emission),
        function_(function),
        builder_(BasicBlock::Create(emission.context(), "entry", function)),
        word_(builder_.getInt64Ty()),
        own_count_(builder_.CreateSExt(function->getArg(2), word_)) {}

  void Write() {
    Value* total = Walk(own_count_, [&](Value* node, Value* sum) {
      return builder_.CreateAdd(sum, Word(node, 1));
    });
    Value* place = builder_.CreateAlloca(word_, total);
    Value* own_start = builder_.CreateSub(total, own_count_);
    Copy(place, own_start, function_->getArg(3), own_count_);
    Walk(own_start, [&](Value* node, Value* end) {
      Value* count = Word(node, 1);
      Value* start = builder_.CreateSub(end, count);
      Value* from = builder_.CreateConstGEP1_64(word_, node, kPlaceNodeHeader);
      Copy(place, start, from, count);
      return start;
    });
    Value* count = builder_.CreateTrunc(total, builder_.getInt32Ty());
    builder_.CreateCall(PkFail(emission_), {function_->getArg(0), function_->getArg(1), count,
                                            place, function_->getArg(4), function_->getArg(5)});
    builder_.CreateRetVoid();
  }

 private:
  BasicBlock* NewBlock(const char* name) {
    return BasicBlock::Create(emission_.context(), name, function_);
  }

  Value* Word(Value* node, int64_t index) {
    return builder_.CreateLoad(word_, builder_.CreateConstGEP1_64(word_, node, index));
  }

  // From the innermost node to the outermost; `step` makes each next value. Returns the last.
  template <typename Step>
  Value* Walk(Value* first, Step step) {
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock *head = NewBlock("head"), *body = NewBlock("body"), *done = NewBlock("done");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    PHINode* node = builder_.CreatePHI(builder_.getPtrTy(), 2);
    PHINode* value = builder_.CreatePHI(word_, 2);
    builder_.CreateCondBr(builder_.CreateIsNotNull(node), body, done);
    builder_.SetInsertPoint(body);
    Value* next = step(node, value);
    Value* outer = builder_.CreateLoad(builder_.getPtrTy(), node);
    node->addIncoming(function_->getArg(6), before);
    node->addIncoming(outer, builder_.GetInsertBlock());
    value->addIncoming(first, before);
    value->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(done);
    return value;
  }

  void Copy(Value* place, Value* start, Value* from, Value* count) {
    Value* to = builder_.CreateGEP(word_, place, start);
    BasicBlock* before = builder_.GetInsertBlock();
    BasicBlock *head = NewBlock("head"), *body = NewBlock("body"), *done = NewBlock("done");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    PHINode* i = builder_.CreatePHI(word_, 2);
    builder_.CreateCondBr(builder_.CreateICmpSLT(i, count), body, done);
    builder_.SetInsertPoint(body);
    builder_.CreateStore(builder_.CreateLoad(word_, builder_.CreateGEP(word_, from, i)),
                         builder_.CreateGEP(word_, to, i));
    i->addIncoming(builder_.getInt64(0), before);
    i->addIncoming(builder_.CreateAdd(i, builder_.getInt64(1)), body);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(done);
  }

  Emission& emission_;
  llvm::Function* function_;
  llvm::IRBuilder<> builder_;
  llvm::Type* word_;
  Value* own_count_;
};

}  // namespace

llvm::Function* FailBehind(Emission& emission) {
  const char* const name = "parakeet.fail_behind";
  if (llvm::Function* known = emission.module.getFunction(name)) return known;
  std::vector<llvm::Type*> params(PkFail(emission)->getFunctionType()->params());
  params.push_back(emission.builder.getPtrTy());
  auto* type = llvm::FunctionType::get(emission.builder.getVoidTy(), params, false);
  auto* function =
      llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, &emission.module);
  function->addFnAttr(llvm::Attribute::Cold);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->setDoesNotThrow();
  FailWriter(emission, function).Write();
  return function;
}

}  // namespace parakeet::backends
