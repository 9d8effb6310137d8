#include "backends/llvm/wide_masks.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace parakeet::backends {
namespace {

class MaskPasser {
 public:
  MaskPasser(llvm::Function& function, unsigned bytes_of_register) : function_(function) {
    for (llvm::BasicBlock& block : function) {
      for (llvm::Instruction& each : block) {
        const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(each.getType());
        const bool is_wide = type != nullptr && type->getElementType()->isIntegerTy(1) &&
                             type->getNumElements() > bytes_of_register;
        if (is_wide) masks_.push_back(&each);
      }
    }
  }

  void Run() {
    // All joins first: what is joined is itself a use.
    for (llvm::Instruction* mask : masks_) {
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(mask)) joins_[phi] = EmptyJoin(*phi);
    }
    for (llvm::Instruction* mask : masks_) {
      if (!llvm::isa<llvm::PHINode>(mask)) PassToBlocks(*mask, nullptr);
    }
    for (auto& [phi, join] : joins_) Fill(*phi, *join);
    for (auto& [phi, join] : joins_) PassToBlocks(*phi, join);
    for (auto& [phi, join] : joins_) {
      phi->replaceAllUsesWith(llvm::PoisonValue::get(phi->getType()));
      phi->eraseFromParent();
    }
  }

 private:
  static llvm::Type* BytesOf(const llvm::Value& mask) {
    llvm::LLVMContext& context = mask.getContext();
    return mask.getType()->getWithNewType(llvm::Type::getInt8Ty(context));
  }

  static llvm::PHINode* EmptyJoin(llvm::PHINode& phi) {
    llvm::IRBuilder<> builder(&phi);
    return builder.CreatePHI(BytesOf(phi), phi.getNumIncomingValues());
  }

  // The mask as bytes, made right behind it.
  llvm::Value* AsBytes(llvm::Value& mask) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(&mask)) {
      llvm::IRBuilder<> builder(function_.getContext());
      return builder.CreateSExt(constant, BytesOf(mask));
    }
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&mask)) return joins_[phi];
    llvm::Value*& bytes = bytes_[&mask];
    if (bytes == nullptr) {
      auto* made = llvm::dyn_cast<llvm::Instruction>(&mask);
      llvm::IRBuilder<> builder(made == nullptr ? &*function_.getEntryBlock().getFirstInsertionPt()
                                                : made->getNextNode());
      bytes = builder.CreateSExt(&mask, BytesOf(mask));
    }
    return bytes;
  }

  void Fill(llvm::PHINode& phi, llvm::PHINode& join) {
    for (unsigned k = 0; k < phi.getNumIncomingValues(); ++k)
      join.addIncoming(AsBytes(*phi.getIncomingValue(k)), phi.getIncomingBlock(k));
  }

  // In each block that uses it the mask is made of the bytes again; where `bytes` are given, in its
  // own block too.
  void PassToBlocks(llvm::Instruction& mask, llvm::Value* bytes) {
    llvm::DenseMap<llvm::BasicBlock*, llvm::Value*> made;
    for (llvm::Use& use : llvm::make_early_inc_range(mask.uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      llvm::BasicBlock* block = user->getParent();
      if (llvm::isa<llvm::PHINode>(user) || (bytes == nullptr && block == mask.getParent()))
        continue;
      llvm::Value*& again = made[block];
      if (again == nullptr) {
        llvm::Value* passed = bytes == nullptr ? AsBytes(mask) : bytes;
        llvm::IRBuilder<> builder(block, block->getFirstInsertionPt());
        again = builder.CreateICmpSLT(passed, llvm::Constant::getNullValue(passed->getType()));
      }
      use.set(again);
    }
  }

  llvm::Function& function_;
  llvm::SmallVector<llvm::Instruction*> masks_;
  llvm::MapVector<llvm::PHINode*, llvm::PHINode*> joins_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> bytes_;
};

}  // namespace

void PassMasksAsBytes(llvm::Function& function, unsigned bytes_of_register) {
  MaskPasser(function, bytes_of_register).Run();
}

}  // namespace parakeet::backends
