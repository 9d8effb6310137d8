#include "backends/llvm/late_selects.h"

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/DenseMap.h"
#include "llvm/Analysis/LoopIterator.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace parakeet::backends {
namespace {

// How many operations lie between a value and what the loop carries, and which of that it follows
// from, a bit each.
struct Wait {
  int steps = 0;
  uint64_t carried = 0;
};

constexpr unsigned kMostCarried = 64;

int StepsOf(const llvm::Instruction& each) {
  if (llvm::isa<llvm::CastInst>(each) || llvm::isa<llvm::PHINode>(each)) return 0;
  if (llvm::isa<llvm::LoadInst>(each) || llvm::isa<llvm::CallBase>(each)) return 4;
  return each.getOpcode() == llvm::Instruction::Mul ? 3 : 1;
}

// Whether the loop counts by it: that runs ahead of what else the loop carries.
bool IsCountedBy(const llvm::PHINode& phi, const llvm::Loop& loop) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  const auto* next =
      latch == nullptr ? nullptr
                       : llvm::dyn_cast<llvm::BinaryOperator>(phi.getIncomingValueForBlock(latch));
  return next != nullptr && next->getOpcode() == llvm::Instruction::Add &&
         next->getOperand(0) == &phi && loop.isLoopInvariant(next->getOperand(1));
}

class LateSelects {
 public:
  LateSelects(const llvm::Loop& loop, const llvm::LoopInfo& loops) {
    unsigned count = 0;
    for (const llvm::PHINode& phi : loop.getHeader()->phis()) {
      const bool is_late = phi.getType()->isIntegerTy() && !IsCountedBy(phi, loop);
      if (is_late && count < kMostCarried) waits_[&phi] = {0, uint64_t{1} << count++};
    }
    if (count == 0) return;
    llvm::LoopBlocksRPO order(const_cast<llvm::Loop*>(&loop));
    order.perform(&loops);
    for (llvm::BasicBlock* block : order) {
      for (llvm::Instruction& each : llvm::make_early_inc_range(*block)) {
        if (block == loop.getHeader() && llvm::isa<llvm::PHINode>(each)) continue;
        if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&each)) {
          if (Rewrite(*operation)) continue;
        }
        Keep(each);
      }
    }
  }

 private:
  Wait WaitOf(const llvm::Value* value) const { return waits_.lookup(value); }

  void Keep(const llvm::Instruction& each) {
    Wait wait;
    for (const llvm::Value* operand : each.operands()) {
      const Wait own = WaitOf(operand);
      if (own.carried == 0) continue;
      wait.steps = std::max(wait.steps, own.steps);
      wait.carried |= own.carried;
    }
    if (wait.carried == 0) return;
    wait.steps += StepsOf(each);
    waits_[&each] = wait;
  }

  // Nothing that may not be made where it is not chosen, as quotients.
  bool Rewrite(llvm::BinaryOperator& operation) {
    const unsigned code = operation.getOpcode();
    const bool is_cheap = code == llvm::Instruction::Add || code == llvm::Instruction::Sub ||
                          operation.isBitwiseLogicOp();
    if (!is_cheap || !operation.getType()->isIntegerTy()) return false;
    return Rewrite(operation, 1) || (operation.isCommutative() && Rewrite(operation, 0));
  }

  // Where the operand chooses whether anything is done to the other one at all.
  bool Rewrite(llvm::BinaryOperator& operation, unsigned which) {
    auto* choice = llvm::dyn_cast<llvm::SelectInst>(operation.getOperand(which));
    if (choice == nullptr || !choice->hasOneUse()) return false;
    llvm::Value* other = operation.getOperand(1 - which);
    const auto* nothing = llvm::ConstantExpr::getBinOpIdentity(
        operation.getOpcode(), operation.getType(), /*AllowRHSConstant=*/which == 1);
    if (nothing == nullptr) return false;
    const bool second = choice->getFalseValue() == nothing;
    if (!second && choice->getTrueValue() != nothing) return false;
    const Wait condition = WaitOf(choice->getCondition()), own = WaitOf(other);
    if ((condition.carried & own.carried) == 0 || condition.steps <= own.steps) return false;
    llvm::Value* joins = second ? choice->getTrueValue() : choice->getFalseValue();
    if (WaitOf(joins).carried != 0) return false;
    llvm::IRBuilder<> builder(&operation);
    llvm::Value* sides[] = {which == 1 ? other : joins, which == 1 ? joins : other};
    llvm::Value* joined = builder.CreateBinOp(operation.getOpcode(), sides[0], sides[1]);
    llvm::Value* chosen = builder.CreateSelect(choice->getCondition(), second ? joined : other,
                                               second ? other : joined);
    for (llvm::Value* made : {joined, chosen}) {
      if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(made)) Keep(*instruction);
    }
    operation.replaceAllUsesWith(chosen);
    for (llvm::Instruction* gone :
         {static_cast<llvm::Instruction*>(&operation), static_cast<llvm::Instruction*>(choice)}) {
      waits_.erase(gone);
      gone->eraseFromParent();
    }
    return true;
  }

  llvm::DenseMap<const llvm::Value*, Wait> waits_;
};

}  // namespace

void SelectLast(llvm::Function& function, const llvm::LoopInfo& loops) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->isInnermost() && loop->getHeader()->getParent() == &function)
      LateSelects(*loop, loops);
  }
}

}  // namespace parakeet::backends
