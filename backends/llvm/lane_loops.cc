#include "backends/llvm/lane_loops.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::FixedVectorType;
using llvm::Function;
using llvm::Value;

// Writes the loop at the emission's builder: vectors lie on the stack, where a lane has an address.
class LaneLoop {
 public:
  LaneLoop(Emission& emission, Function* function, unsigned results)
      : builder_(emission.builder),
        function_(function),
        results_(results),
        type_(llvm::cast<FixedVectorType>(function->getArg(0)->getType())) {}

  void Write(const std::function<Scalars(llvm::ArrayRef<Value*>)>& one) {
    BasicBlock* entry = &function_->getEntryBlock();
    builder_.SetInsertPoint(entry);
    std::vector<Value*> inputs, outputs;
    for (llvm::Argument& argument : function_->args()) {
      inputs.push_back(builder_.CreateAlloca(type_));
      builder_.CreateStore(&argument, inputs.back());
    }
    for (unsigned i = 0; i < results_; ++i) outputs.push_back(builder_.CreateAlloca(type_));
    BasicBlock* head = BasicBlock::Create(builder_.getContext(), "lane", function_);
    BasicBlock* done = BasicBlock::Create(builder_.getContext(), "done", function_);
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* lane = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    WriteLane(lane, inputs, outputs, one);
    Value* next = builder_.CreateNUWAdd(lane, builder_.getInt64(1));
    lane->addIncoming(builder_.getInt64(0), entry);
    lane->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpULT(next, builder_.getInt64(type_->getNumElements())),
                          head, done);
    builder_.SetInsertPoint(done);
    Value* all = llvm::PoisonValue::get(function_->getReturnType());
    for (unsigned i = 0; i < results_; ++i) {
      all = builder_.CreateInsertValue(all, builder_.CreateLoad(type_, outputs[i]), i);
    }
    builder_.CreateRet(all);
  }

 private:
  void WriteLane(Value* lane, llvm::ArrayRef<Value*> inputs, llvm::ArrayRef<Value*> outputs,
                 const std::function<Scalars(llvm::ArrayRef<Value*>)>& one) {
    llvm::Type* element = type_->getElementType();
    const auto address = [&](Value* vector) {
      return builder_.CreateInBoundsGEP(element, vector, lane);
    };
    Scalars scalars;
    for (Value* input : inputs) scalars.push_back(builder_.CreateLoad(element, address(input)));
    const Scalars values = one(scalars);
    for (unsigned i = 0; i < results_; ++i) builder_.CreateStore(values[i], address(outputs[i]));
  }

  llvm::IRBuilder<>& builder_;
  Function* function_;
  unsigned results_;
  FixedVectorType* type_;
};

}  // namespace

std::string SuffixOf(llvm::Type* type) {
  std::string suffix;
  if (auto* vector = llvm::dyn_cast<FixedVectorType>(type)) {
    suffix = "v" + std::to_string(vector->getNumElements());
  }
  const char kind = type->isIntOrIntVectorTy() ? 'i' : 'f';
  return suffix + kind + std::to_string(type->getScalarSizeInBits());
}

Function* NewPureFunction(Emission& emission, const std::string& name, llvm::Type* result,
                          llvm::ArrayRef<llvm::Type*> params) {
  auto* type = llvm::FunctionType::get(result, params, false);
  auto* function =
      Function::Create(type, llvm::GlobalValue::InternalLinkage, name, &emission.module);
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->setWillReturn();
  BasicBlock::Create(emission.context(), "entry", function);
  return function;
}

Scalars CallByLane(Emission& emission, const std::string& name, llvm::ArrayRef<Value*> operands,
                   unsigned results, const std::function<Scalars(llvm::ArrayRef<Value*>)>& one) {
  llvm::Type* type = operands[0]->getType();
  const std::string full_name = "parakeet.lanes." + name + "." + SuffixOf(type);
  Function* function = emission.module.getFunction(full_name);
  if (function == nullptr) {
    auto* result =
        llvm::StructType::get(emission.context(), llvm::SmallVector<llvm::Type*, 2>(results, type));
    function = NewPureFunction(emission, full_name, result,
                               llvm::SmallVector<llvm::Type*, 4>(operands.size(), type));
    const llvm::IRBuilder<>::InsertPointGuard guard(emission.builder);
    LaneLoop(emission, function, results).Write(one);
  }
  Value* all = emission.builder.CreateCall(function, operands);
  Scalars vectors;
  for (unsigned i = 0; i < results; ++i) {
    vectors.push_back(emission.builder.CreateExtractValue(all, i));
  }
  return vectors;
}

}  // namespace parakeet::backends
