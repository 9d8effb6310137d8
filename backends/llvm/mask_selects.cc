#include "backends/llvm/mask_selects.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace parakeet::backends {
namespace {

// A register of the least width, of such elements.
llvm::Type* RegisterOf(llvm::Type* type) {
  return llvm::FixedVectorType::get(type, 128 / type->getPrimitiveSizeInBits().getFixedValue());
}

llvm::Value* InFirstLane(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* type = RegisterOf(value->getType());
  return builder.CreateInsertElement(llvm::PoisonValue::get(type), value, uint64_t{0});
}

bool IsExtreme(const llvm::SelectInst& select, const llvm::FCmpInst& comparison) {
  const llvm::Value *a = comparison.getOperand(0), *b = comparison.getOperand(1);
  const llvm::Value *then = select.getTrueValue(), *otherwise = select.getFalseValue();
  return (then == a && otherwise == b) || (then == b && otherwise == a);
}

void Replace(llvm::FCmpInst& comparison, llvm::ArrayRef<llvm::SelectInst*> selects) {
  llvm::IRBuilder<> builder(comparison.getNextNode());
  llvm::Value* mask =
      builder.CreateFCmp(comparison.getPredicate(), InFirstLane(builder, comparison.getOperand(0)),
                         InFirstLane(builder, comparison.getOperand(1)));
  for (llvm::SelectInst* select : selects) {
    builder.SetInsertPoint(select);
    llvm::Value* lanes = builder.CreateSelect(mask, InFirstLane(builder, select->getTrueValue()),
                                              InFirstLane(builder, select->getFalseValue()));
    select->replaceAllUsesWith(builder.CreateExtractElement(lanes, uint64_t{0}));
    select->eraseFromParent();
  }
}

void Visit(llvm::FCmpInst& comparison) {
  llvm::Type* type = comparison.getOperand(0)->getType();
  if (!type->isFloatTy() && !type->isDoubleTy()) return;
  llvm::SmallVector<llvm::SelectInst*> selects;
  for (llvm::User* user : comparison.users()) {
    auto* select = llvm::dyn_cast<llvm::SelectInst>(user);
    if (select != nullptr && select->getCondition() == &comparison && select->getType() == type &&
        !IsExtreme(*select, comparison))
      selects.push_back(select);
  }
  if (selects.empty() || comparison.hasOneUse()) return;
  Replace(comparison, selects);
}

}  // namespace

void SelectByMasks(llvm::Function& function) {
  llvm::SmallVector<llvm::FCmpInst*> comparisons;
  for (llvm::BasicBlock& block : function) {
    for (llvm::Instruction& each : block) {
      if (auto* comparison = llvm::dyn_cast<llvm::FCmpInst>(&each))
        comparisons.push_back(comparison);
    }
  }
  for (llvm::FCmpInst* comparison : comparisons) Visit(*comparison);
}

}  // namespace parakeet::backends
