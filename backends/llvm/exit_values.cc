#include "backends/llvm/exit_values.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace parakeet::backends {
namespace {

// The values of integers that a loop leaves have names of their own now.
void HideIn(llvm::BasicBlock& exit, std::vector<llvm::WeakTrackingVH>& hidden) {
  for (llvm::PHINode& phi : exit.phis()) {
    if (phi.getNumIncomingValues() != 1 || !phi.getType()->isIntegerTy()) continue;
    auto* hides = new llvm::FreezeInst(&phi, "", exit.getFirstInsertionPt());
    phi.replaceUsesWithIf(hides, [&](const llvm::Use& use) { return use.getUser() != hides; });
    hidden.emplace_back(hides);
  }
}

}  // namespace

std::vector<llvm::WeakTrackingVH> HideExitValues(llvm::LoopInfo& loops, llvm::DominatorTree& tree) {
  std::vector<llvm::WeakTrackingVH> hidden;
  for (llvm::Loop* loop : loops) llvm::formLCSSARecursively(*loop, tree, &loops, nullptr);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<llvm::BasicBlock*, 4> exits;
    if (loop->isInnermost()) loop->getUniqueExitBlocks(exits);
    for (llvm::BasicBlock* exit : exits) HideIn(*exit, hidden);
  }
  return hidden;
}

void ShowExitValues(llvm::ArrayRef<llvm::WeakTrackingVH> hidden) {
  for (const llvm::WeakTrackingVH& each : hidden) {
    auto* hides = llvm::dyn_cast_or_null<llvm::FreezeInst>(each);
    if (hides == nullptr) continue;
    hides->replaceAllUsesWith(hides->getOperand(0));
    hides->eraseFromParent();
  }
}

}  // namespace parakeet::backends
