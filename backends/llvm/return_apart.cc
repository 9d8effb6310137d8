#include "backends/llvm/return_apart.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;

constexpr size_t kMostInstructions = 8;  // of what returns: it is written more than once

bool HasCalls(const BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& each) {
    return llvm::isa<llvm::CallBase>(each) && !llvm::isa<llvm::IntrinsicInst>(each);
  });
}

// Those that are come to, and left, before anything is called.
llvm::SmallPtrSet<BasicBlock*, 16> BlocksWithoutCalls(llvm::Function& function) {
  llvm::SmallPtrSet<BasicBlock*, 16> found;
  llvm::SmallVector<BasicBlock*> open = {&function.getEntryBlock()};
  while (!open.empty()) {
    BasicBlock* block = open.pop_back_val();
    if (HasCalls(*block) || !found.insert(block).second) continue;
    llvm::append_range(open, llvm::successors(block));
  }
  return found;
}

// A block that returns what `from` gives.
BasicBlock* ReturnFrom(BasicBlock& from, BasicBlock& returning) {
  llvm::ValueToValueMapTy values;
  BasicBlock* own = llvm::CloneBasicBlock(&returning, values, ".apart", returning.getParent());
  for (llvm::PHINode& phi : returning.phis()) {
    auto* copy = llvm::cast<llvm::PHINode>(values[&phi]);
    values[&phi] = phi.getIncomingValueForBlock(&from);
    copy->eraseFromParent();
  }
  for (llvm::Instruction& each : *own) {
    llvm::RemapInstruction(&each, values,
                           llvm::RF_IgnoreMissingLocals | llvm::RF_NoModuleLevelChanges);
  }
  from.getTerminator()->replaceSuccessorWith(&returning, own);
  returning.removePredecessor(&from, /*KeepOneInputPHIs=*/true);
  return own;
}

// What LLVM asks for of the ways with calls: one place where all of them return.
void ReturnTogether(llvm::Function& function) {
  llvm::SmallPtrSet<BasicBlock*, 16> behind_calls;
  llvm::SmallVector<BasicBlock*> open;
  for (BasicBlock& block : function) {
    if (HasCalls(block)) open.push_back(&block);
  }
  while (!open.empty()) {
    BasicBlock* block = open.pop_back_val();
    if (behind_calls.insert(block).second) llvm::append_range(open, llvm::successors(block));
  }
  llvm::SmallVector<llvm::ReturnInst*> returns;
  for (BasicBlock& block : function) {
    auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
    if (end != nullptr && behind_calls.contains(&block)) returns.push_back(end);
  }
  if (returns.size() < 2) return;
  llvm::LLVMContext& context = function.getContext();
  BasicBlock* together = BasicBlock::Create(context, "together", &function);
  llvm::IRBuilder<> builder(together);
  llvm::PHINode* result = builder.CreatePHI(function.getReturnType(), unsigned(returns.size()));
  builder.CreateRet(result);
  for (llvm::ReturnInst* end : returns) {
    result->addIncoming(end->getReturnValue(), end->getParent());
    builder.SetInsertPoint(end);
    builder.CreateBr(together);
    end->eraseFromParent();
  }
}

}  // namespace

void ReturnApart(llvm::Function& function) {
  const auto without = BlocksWithoutCalls(function);
  llvm::SmallVector<BasicBlock*> returning;
  for (BasicBlock& block : function) {
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) returning.push_back(&block);
  }
  while (!returning.empty()) {
    BasicBlock* block = returning.pop_back_val();
    const llvm::SmallVector<BasicBlock*> before(llvm::predecessors(block));
    const bool all_alike =
        llvm::all_of(before, [&](BasicBlock* each) { return without.contains(each); });
    if (all_alike || HasCalls(*block) || block->size() > kMostInstructions) continue;
    for (BasicBlock* each : before) {
      if (!without.contains(each) || llvm::count(llvm::successors(each), block) != 1) continue;
      BasicBlock* own = ReturnFrom(*each, *block);
      // Ways with calls may come to the block before too.
      if (llvm::MergeBlockIntoPredecessor(own)) returning.push_back(each);
    }
  }
  ReturnTogether(function);
}

}  // namespace parakeet::backends
