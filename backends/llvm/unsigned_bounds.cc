#include "backends/llvm/unsigned_bounds.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace parakeet::backends {
namespace {

using llvm::ICmpInst;
using llvm::Value;

// One condition of several that are to hold, or of which one is to: where it is an operand.
struct Leaf {
  llvm::Instruction* user;
  unsigned operand;
  ICmpInst* comparison;  // null of another condition
};

class BoundsJoiner {
 public:
  BoundsJoiner(llvm::Function& function, const llvm::LoopInfo& loops)
      : function_(function), loops_(loops) {}

  void Run() {
    llvm::SmallVector<llvm::Instruction*> roots;
    for (llvm::BasicBlock& block : function_) {
      if (loops_.getLoopFor(&block) == nullptr) continue;
      for (llvm::Instruction& each : block) {
        for (const bool all : {true, false}) {
          if (Joins(&each, all) && !IsPart(each, all)) roots.push_back(&each);
        }
      }
    }
    for (llvm::Instruction* root : roots) Visit(*root);
  }

 private:
  static bool Joins(Value* value, bool all) {
    using namespace llvm::PatternMatch;
    if (!value->getType()->isIntegerTy(1)) return false;
    return all ? match(value, m_LogicalAnd(m_Value(), m_Value()))
               : match(value, m_LogicalOr(m_Value(), m_Value()));
  }

  // Whether it is read by another one of its kind alone, in its block.
  static bool IsPart(llvm::Instruction& each, bool all) {
    if (!each.hasOneUse()) return false;
    auto* user = llvm::cast<llvm::Instruction>(*each.user_begin());
    return user->getParent() == each.getParent() && Joins(user, all);
  }

  void Visit(llvm::Instruction& root) {
    const bool all = Joins(&root, true);
    llvm::SmallVector<Leaf> leaves;
    Collect(root, all, leaves);
    for (size_t k = 0; k < leaves.size(); ++k) {
      for (size_t other = k + 1; other < leaves.size(); ++other) Join(leaves, k, other, all);
    }
  }

  // In the order in which they are asked.
  static void Collect(llvm::Instruction& node, bool all, llvm::SmallVector<Leaf>& leaves) {
    const bool is_select = llvm::isa<llvm::SelectInst>(node);
    const unsigned second = !is_select ? 1 : all ? 1 : 2;
    for (const unsigned at : {0U, second}) {
      auto* operand = llvm::dyn_cast<llvm::Instruction>(node.getOperand(at));
      const bool is_here = operand != nullptr && operand->getParent() == node.getParent();
      if (is_here && Joins(operand, all) && operand->hasOneUse()) {
        Collect(*operand, all, leaves);
        continue;
      }
      leaves.push_back({&node, at, is_here ? llvm::dyn_cast<ICmpInst>(operand) : nullptr});
    }
  }

  // What is asked whether it is negative, of a comparison that is to hold, or not to.
  static Value* FromZero(const ICmpInst& comparison, bool all) {
    using namespace llvm::PatternMatch;
    const ICmpInst::Predicate asked = comparison.getPredicate();
    const bool is_from =
        all ? asked == ICmpInst::ICMP_SGT && match(comparison.getOperand(1), m_AllOnes())
            : asked == ICmpInst::ICMP_SLT && match(comparison.getOperand(1), m_ZeroInt());
    return is_from ? comparison.getOperand(0) : nullptr;
  }

  // What the number is to be less than, or not to be.
  static Value* EndOf(const ICmpInst& comparison, const Value* number, bool all) {
    for (const unsigned side : {0U, 1U}) {
      const ICmpInst::Predicate asked =
          side == 0 ? comparison.getPredicate() : comparison.getSwappedPredicate();
      if (comparison.getOperand(side) == number &&
          asked == (all ? ICmpInst::ICMP_SLT : ICmpInst::ICMP_SGE))
        return comparison.getOperand(1 - side);
    }
    return nullptr;
  }

  void Join(llvm::SmallVector<Leaf>& leaves, size_t first, size_t second, bool all) {
    ICmpInst *one = leaves[first].comparison, *other = leaves[second].comparison;
    if (one == nullptr || other == nullptr) return;
    for (const bool swapped : {false, true}) {
      const ICmpInst& zero = swapped ? *other : *one;
      const ICmpInst& border = swapped ? *one : *other;
      Value* number = FromZero(zero, all);
      Value* end = number == nullptr ? nullptr : EndOf(border, number, all);
      llvm::Instruction* behind = end == nullptr ? nullptr : BehindOf(*end, *zero.getParent());
      if (behind == nullptr) continue;
      llvm::IRBuilder<> builder(one);
      Value* joined = all ? builder.CreateICmpULT(number, Greater(*end, *behind))
                          : builder.CreateICmpUGE(number, Greater(*end, *behind));
      leaves[first].user->setOperand(leaves[first].operand, joined);
      leaves[second].user->setOperand(leaves[second].operand, builder.getInt1(all));
      leaves[first].comparison = leaves[second].comparison = nullptr;
      return;
    }
  }

  // Where something may be made of a value once, in front of the loop of the block; null where that
  // is not known to be.
  llvm::Instruction* BehindOf(Value& value, const llvm::BasicBlock& block) const {
    if (llvm::isa<llvm::Argument>(value)) return &*function_.getEntryBlock().getFirstInsertionPt();
    auto* made = llvm::dyn_cast<llvm::Instruction>(&value);
    if (made == nullptr || made->isTerminator() || loops_.getLoopFor(&block)->contains(made))
      return nullptr;
    return llvm::isa<llvm::PHINode>(made) ? &*made->getParent()->getFirstInsertionPt()
                                          : made->getNextNode();
  }

  // Of the value and 0. Where the number is negative nobody has asked what the value is: it may be
  // none.
  Value* Greater(Value& value, llvm::Instruction& before) {
    Value*& greater = greater_[&value];
    if (greater != nullptr) return greater;
    llvm::IRBuilder<> builder(&before);
    Value* zero = llvm::ConstantInt::get(value.getType(), 0);
    return greater = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax,
                                                   builder.CreateFreeze(&value), zero);
  }

  llvm::Function& function_;
  const llvm::LoopInfo& loops_;
  llvm::DenseMap<Value*, Value*> greater_;
};

}  // namespace

void JoinBounds(llvm::Function& function, const llvm::LoopInfo& loops) {
  BoundsJoiner(function, loops).Run();
}

}  // namespace parakeet::backends
