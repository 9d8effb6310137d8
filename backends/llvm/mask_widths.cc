#include "backends/llvm/mask_widths.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace parakeet::backends {
namespace {

constexpr unsigned kMostRegisters = 8;

bool IsMask(const llvm::Value& value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return type != nullptr && type->getElementType()->isIntegerTy(1);
}

// True for what makes a mask of masks alone.
bool IsLogic(const llvm::Value& value) {
  if (!IsMask(value)) return false;
  const auto* made = llvm::dyn_cast<llvm::Instruction>(&value);
  if (made == nullptr) return false;
  return made->isBitwiseLogicOp() ||
         (llvm::isa<llvm::SelectInst>(made) && IsMask(*made->getOperand(0)));
}

// Of how many bits the elements are that the use takes by the mask; 0 where it takes none.
unsigned WidthOfUse(const llvm::Use& use) {
  const llvm::User* user = use.getUser();
  const llvm::Value* taken = nullptr;
  if (llvm::isa<llvm::SelectInst>(user) && use.getOperandNo() == 0) taken = user;
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(user)) {
    switch (call->getIntrinsicID()) {
      case llvm::Intrinsic::masked_load:
      case llvm::Intrinsic::masked_gather: taken = call; break;
      case llvm::Intrinsic::masked_store:
      case llvm::Intrinsic::masked_scatter: taken = call->getArgOperand(0); break;
      default: break;
    }
  }
  return taken == nullptr ? 0 : taken->getType()->getScalarSizeInBits();
}

// Of how many bits the elements are that it compares; 0 for masks from elsewhere.
unsigned WidthOfMaker(const llvm::Value& mask) {
  const auto* made = llvm::dyn_cast<llvm::Instruction>(&mask);
  if (made == nullptr || !llvm::isa<llvm::CmpInst, llvm::TruncInst>(made)) return 0;
  const llvm::Type* compared = made->getOperand(0)->getType()->getScalarType();
  return compared->isPointerTy() ? 64 : compared->getScalarSizeInBits();
}

class MaskWidener {
 public:
  MaskWidener(llvm::Function& function, unsigned bytes_of_register)
      : function_(function), bytes_of_register_(bytes_of_register) {}

  void Run() {
    for (llvm::BasicBlock& block : function_) {
      for (llvm::Instruction& each : block) {
        if (IsLogic(each)) Join(each);
        if (llvm::isa<llvm::CmpInst>(each) && IsMask(each) && IsUsedElsewhere(each))
          groups_.insert(&each);
      }
    }
    for (auto group = groups_.begin(); group != groups_.end(); ++group) {
      if (!group->isLeader()) continue;
      const llvm::SmallVector<llvm::Value*> masks(groups_.member_begin(group),
                                                  groups_.member_end());
      if (const unsigned width = WidthOf(masks); width != 0) {
        for (llvm::Value* mask : masks) widths_[mask] = width;
      }
    }
    llvm::SmallVector<llvm::Instruction*> all;
    for (llvm::BasicBlock& block : function_) {
      for (llvm::Instruction& each : block) {
        if (widths_.contains(&each)) all.push_back(&each);
      }
    }
    for (llvm::Instruction* mask : all) Replace(*mask);
    for (llvm::Instruction* mask : llvm::reverse(all)) {
      if (mask->use_empty()) mask->eraseFromParent();
    }
  }

 private:
  void Join(llvm::Instruction& logic) {
    for (llvm::Value* operand : logic.operands()) {
      if (!llvm::isa<llvm::Constant>(operand)) groups_.unionSets(&logic, operand);
    }
  }

  static bool IsUsedElsewhere(const llvm::Instruction& mask) {
    return llvm::any_of(mask.users(), [&](const llvm::User* user) {
      return llvm::cast<llvm::Instruction>(user)->getParent() != mask.getParent();
    });
  }

  // As wide as what is taken by them, but no wider nor narrower than what they compare; 0 where
  // they stay.
  unsigned WidthOf(llvm::ArrayRef<llvm::Value*> masks) const {
    unsigned taken = 0, least = 64, most = 0;
    for (const llvm::Value* mask : masks) {
      if (llvm::isa<llvm::PHINode>(mask)) return 0;
      for (const llvm::Use& use : mask->uses()) taken = std::max(taken, WidthOfUse(use));
      const unsigned made = WidthOfMaker(*mask);
      if (made == 0) continue;
      least = std::min(least, made);
      most = std::max(most, made);
    }
    if (most == 0) return 0;
    const unsigned width = std::clamp(taken, least, most);
    const bool is_whole = width == 8 || width == 16 || width == 32 || width == 64;
    const auto* type = llvm::cast<llvm::FixedVectorType>(masks[0]->getType());
    const unsigned bytes = type->getNumElements() * width / 8;
    return is_whole && bytes <= kMostRegisters * bytes_of_register_ ? width : 0;
  }

  static llvm::Type* WideType(const llvm::Value& mask, unsigned width) {
    return mask.getType()->getWithNewType(llvm::Type::getIntNTy(mask.getContext(), width));
  }

  // The mask in wide lanes, made behind it or, of masks alone, in its place.
  llvm::Value* Wide(llvm::Value& mask, unsigned width) {
    llvm::Type* type = WideType(mask, width);
    if (llvm::isa<llvm::Constant>(mask)) {
      llvm::IRBuilder<> builder(function_.getContext());
      return builder.CreateSExt(&mask, type);
    }
    llvm::Value*& wide = wide_[&mask];
    if (wide != nullptr) return wide;
    auto* made = llvm::dyn_cast<llvm::Instruction>(&mask);
    if (made == nullptr || !IsLogic(mask)) {
      llvm::Instruction* behind =
          made == nullptr ? &*function_.getEntryBlock().getFirstInsertionPt() : made->getNextNode();
      llvm::IRBuilder<> builder(behind);
      return wide = builder.CreateSExt(&mask, type);
    }
    llvm::SmallVector<llvm::Value*> operands;
    for (llvm::Value* operand : made->operands()) operands.push_back(Wide(*operand, width));
    llvm::IRBuilder<> builder(made);
    llvm::Value* result = nullptr;
    if (auto* logic = llvm::dyn_cast<llvm::BinaryOperator>(made)) {
      result = builder.CreateBinOp(logic->getOpcode(), operands[0], operands[1]);
    } else {
      result = builder.CreateOr(builder.CreateAnd(operands[0], operands[1]),
                                builder.CreateAnd(builder.CreateNot(operands[0]), operands[2]));
    }
    return wide_[&mask] = result;
  }

  // Those that use it but for other such masks are given what its wide lanes say.
  void Replace(llvm::Instruction& mask) {
    const unsigned width = widths_[&mask];
    llvm::Value* wide = Wide(mask, width);
    llvm::DenseMap<llvm::BasicBlock*, llvm::Value*> made;
    for (llvm::Use& use : llvm::make_early_inc_range(mask.uses())) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (user == wide || widths_.contains(user)) continue;
      if (auto* cast = llvm::dyn_cast<llvm::CastInst>(user); cast != nullptr && Extend(*cast, wide))
        continue;
      const bool is_join = llvm::isa<llvm::PHINode>(user);
      llvm::BasicBlock* block = is_join ? mask.getParent() : user->getParent();
      if (block == mask.getParent() && !IsLogic(mask)) continue;
      llvm::Value*& again = made[block];
      if (again == nullptr) {
        llvm::IRBuilder<> builder(block, block == mask.getParent()
                                             ? mask.getNextNode()->getIterator()
                                             : block->getFirstInsertionPt());
        again = builder.CreateICmpSLT(wide, llvm::Constant::getNullValue(wide->getType()));
      }
      use.set(again);
    }
  }

  // Gives the lanes of a mask as numbers; false where the cast makes something else of them.
  static bool Extend(llvm::CastInst& cast, llvm::Value* wide) {
    if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast)) return false;
    llvm::IRBuilder<> builder(&cast);
    llvm::Value* lanes = builder.CreateSExtOrTrunc(wide, cast.getType());
    if (llvm::isa<llvm::ZExtInst>(cast)) lanes = builder.CreateNeg(lanes);
    cast.replaceAllUsesWith(lanes);
    cast.eraseFromParent();
    return true;
  }

  llvm::Function& function_;
  const unsigned bytes_of_register_;
  llvm::EquivalenceClasses<llvm::Value*> groups_;  // that are made of one another
  llvm::DenseMap<llvm::Value*, unsigned> widths_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> wide_;
};

}  // namespace

void WidenMasks(llvm::Function& function, unsigned bytes_of_register) {
  MaskWidener(function, bytes_of_register).Run();
}

}  // namespace parakeet::backends
