#include "backends/llvm/near_insertions.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace parakeet::backends {
namespace {

bool Converts(const llvm::Instruction& each) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
  if (call == nullptr) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::x86_sse_cvttss2si:
    case llvm::Intrinsic::x86_sse_cvttss2si64:
    case llvm::Intrinsic::x86_sse2_cvttsd2si:
    case llvm::Intrinsic::x86_sse2_cvttsd2si64: return true;
    default: return false;
  }
}

}  // namespace

void InsertNear(llvm::Function& function) {
  for (llvm::Instruction& each : llvm::instructions(function)) {
    if (!Converts(each)) continue;
    auto* made = llvm::dyn_cast<llvm::InsertElementInst>(each.getOperand(0));
    if (made == nullptr || made->getParent() == each.getParent()) continue;
    llvm::Instruction* again = made->clone();
    again->insertBefore(each.getIterator());
    each.setOperand(0, again);
  }
}

}  // namespace parakeet::backends
