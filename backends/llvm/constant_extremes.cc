#include "backends/llvm/constant_extremes.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace parakeet::backends {
namespace {

using Late = llvm::SmallPtrSet<const llvm::Value*, 32>;

// Whether the node is a counter of the loop: it runs ahead of what else the loop carries.
bool IsCounter(const llvm::PHINode& phi, const llvm::Loop& loop) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* next =
      latch == nullptr ? nullptr
                       : llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch));
  return next != nullptr && next->getOpcode() == llvm::Instruction::Add &&
         ((next->getOperand(0) == &phi && loop.isLoopInvariant(next->getOperand(1))) ||
          (next->getOperand(1) == &phi && loop.isLoopInvariant(next->getOperand(0))));
}

// What follows from what the loop carries.
Late FindLate(const llvm::Loop& loop) {
  Late late;
  llvm::SmallVector<const llvm::Instruction*> left;
  const auto add = [&](const llvm::Instruction* each) {
    if (loop.contains(each) && late.insert(each).second) left.push_back(each);
  };
  for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
    if (phi.getType()->isIntegerTy() && !IsCounter(phi, loop)) add(&phi);
  }
  while (!left.empty()) {
    const llvm::Instruction* each = left.pop_back_val();
    for (const llvm::User* user : each->users()) add(llvm::cast<llvm::Instruction>(user));
  }
  return late;
}

void Visit(llvm::MinMaxIntrinsic& last, Late& late) {
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(last.getRHS());
  auto* inner = llvm::dyn_cast<llvm::MinMaxIntrinsic>(last.getLHS());
  if (constant == nullptr || inner == nullptr || !inner->hasOneUse() ||
      inner->getIntrinsicID() != last.getIntrinsicID())
    return;
  llvm::Value *early = inner->getLHS(), *carried = inner->getRHS();
  if (late.contains(early)) std::swap(early, carried);
  if (late.contains(early) || !late.contains(carried)) return;
  llvm::IRBuilder<> builder(&last);
  llvm::Value* beyond = builder.CreateICmp(last.getPredicate(), early, constant);
  llvm::Value* joined = builder.CreateSelect(beyond, early, constant);
  llvm::Value* all = builder.CreateBinaryIntrinsic(last.getIntrinsicID(), joined, carried);
  late.insert(all);
  last.replaceAllUsesWith(all);
  last.eraseFromParent();
  // The inner one is left to the code generator, which drops what nothing reads.
}

}  // namespace

void JoinConstantsFirst(llvm::Function& function, const llvm::LoopInfo& loops) {
  llvm::SmallVector<llvm::MinMaxIntrinsic*> extremes;
  for (llvm::BasicBlock& block : function) {
    const llvm::Loop* loop = loops.getLoopFor(&block);
    if (loop == nullptr || !loop->isInnermost()) continue;
    for (llvm::Instruction& each : block) {
      auto* extreme = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&each);
      if (extreme != nullptr && extreme->getType()->isIntegerTy()) extremes.push_back(extreme);
    }
  }
  const llvm::Loop* found = nullptr;
  Late late;
  for (llvm::MinMaxIntrinsic* extreme : extremes) {
    const llvm::Loop* loop = loops.getLoopFor(extreme->getParent());
    if (loop != found) late = FindLate(*loop);
    found = loop;
    Visit(*extreme, late);
  }
}

}  // namespace parakeet::backends
