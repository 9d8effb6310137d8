#include "backends/nvvm/ask_high_halves.h"

#include <utility>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/Local.h"

namespace parakeet::backends {
namespace {

using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Value;

// What must hold, or must not, for a loop to go on. A test of which the high half may be asked has
// `exact`: the comparison that must hold.
struct Condition {
  Value* value;
  bool holds;
  CmpInst::Predicate exact = CmpInst::BAD_FCMP_PREDICATE;

  bool IsTest() const { return exact != CmpInst::BAD_FCMP_PREDICATE; }
};

// What keeps a loop going: all of some conditions.
struct Latch {
  llvm::BranchInst* branch;
  unsigned onward;  // the successor that is the loop
  std::vector<Condition> conditions;
};

// True where a high half below the constant's says that the test holds: that of a negative number,
// or of a nan with that sign, is below it as a signed number. What nan ends is asked as cheaply by
// its bits (cheapen_tests.h), without a loop around the loop.
bool HasHalves(const llvm::FCmpInst& test, CmpInst::Predicate exact) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(test.getOperand(1));
  if (constant == nullptr || !constant->getType()->isDoubleTy()) return false;
  const llvm::APFloat& bound = constant->getValueAPF();
  if (!bound.isFiniteNonZero() || bound.isNegative()) return false;
  return exact == CmpInst::FCMP_ULT || exact == CmpInst::FCMP_ULE;
}

// That `value` holds, or does not: several conditions where it joins some, of which nothing else in
// the loop reads what joins them.
void AddConditions(Value* value, bool holds, std::vector<Condition>* conditions) {
  using llvm::PatternMatch::m_Value;
  Value *left = nullptr, *right = nullptr;
  const bool joins =
      holds ? llvm::PatternMatch::match(
                  value, llvm::PatternMatch::m_LogicalAnd(m_Value(left), m_Value(right)))
            : llvm::PatternMatch::match(
                  value, llvm::PatternMatch::m_LogicalOr(m_Value(left), m_Value(right)));
  if (!joins || !value->hasOneUse()) return conditions->push_back({value, holds});
  AddConditions(left, holds, conditions);
  AddConditions(right, holds, conditions);
}

int64_t UsesWithin(const llvm::Loop& loop, const llvm::Instruction& value) {
  return llvm::count_if(value.users(), [&](const llvm::User* user) {
    return loop.contains(llvm::cast<llvm::Instruction>(user));
  });
}

bool FindLatch(const llvm::Loop& loop, Latch* latch) {
  BasicBlock* block = loop.getLoopLatch();
  auto* branch =
      block == nullptr ? nullptr : llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (branch == nullptr || !branch->isConditional()) return false;
  const unsigned onward = branch->getSuccessor(0) == loop.getHeader() ? 0 : 1;
  if (loop.contains(branch->getSuccessor(1 - onward))) return false;
  *latch = {branch, onward, {}};
  AddConditions(branch->getCondition(), onward == 0, &latch->conditions);
  bool has_tests = false;
  for (Condition& condition : latch->conditions) {
    const auto* test = llvm::dyn_cast<llvm::FCmpInst>(condition.value);
    if (test == nullptr || !loop.contains(test) || UsesWithin(loop, *test) != 1) continue;
    const CmpInst::Predicate exact =
        condition.holds ? test->getPredicate() : test->getInversePredicate();
    if (HasHalves(*test, exact)) condition.exact = exact;
    has_tests |= condition.IsTest();
  }
  return has_tests;
}

// The values that the header takes from outside stand in `again` from now on, beside those that it
// takes from the latch.
void MoveEntries(BasicBlock* header, BasicBlock* again, const BasicBlock* latch,
                 BasicBlock* closer) {
  std::vector<BasicBlock*> outside;
  for (BasicBlock* before : llvm::predecessors(header)) {
    if (before != latch && before != again) outside.push_back(before);
  }
  for (llvm::PHINode& phi : header->phis()) {
    llvm::PHINode* entry =
        llvm::PHINode::Create(phi.getType(), unsigned(outside.size()) + 1, "", again->begin());
    for (BasicBlock* before : outside) {
      entry->addIncoming(phi.getIncomingValueForBlock(before), before);
      phi.removeIncomingValue(before, false);
    }
    entry->addIncoming(phi.getIncomingValueForBlock(latch), closer);
    phi.addIncoming(entry, again);
  }
  for (BasicBlock* before : outside) before->getTerminator()->replaceSuccessorWith(header, again);
}

Value* AskHalf(const Condition& condition, llvm::IRBuilder<>& builder) {
  const auto& test = llvm::cast<llvm::FCmpInst>(*condition.value);
  const auto& bound = llvm::cast<llvm::ConstantFP>(test.getOperand(1))->getValueAPF();
  Value* bits = builder.CreateBitCast(test.getOperand(0), builder.getInt64Ty());
  Value* high = builder.CreateTrunc(builder.CreateLShr(bits, 32), builder.getInt32Ty());
  const uint64_t limit = bound.bitcastToAPInt().getZExtValue() >> 32;
  return builder.CreateICmpSLT(high, builder.getInt32(uint32_t(limit)));
}

// True, as ptxas cannot know: it would make both tests at each turn of the loop, and no branch.
Value* HasThreads(llvm::IRBuilder<>& builder) {
  llvm::InlineAsm* mask = llvm::InlineAsm::get(llvm::FunctionType::get(builder.getInt32Ty(), false),
                                               "activemask.b32 $0;", "=r", /*hasSideEffects=*/true);
  llvm::CallInst* active = builder.CreateCall(mask);
  active->setConvergent();
  return builder.CreateICmpNE(active, builder.getInt32(0));
}

// LLVM would see through the difference of two counts to the count itself.
Value* Hidden(Value* count, llvm::IRBuilder<>& builder) {
  llvm::Type* type = count->getType();
  const bool is_wide = type->isIntegerTy(64);
  return builder.CreateCall(llvm::InlineAsm::get(llvm::FunctionType::get(type, {type}, false),
                                                 is_wide ? "mov.b64 $0, $1;" : "mov.b32 $0, $1;",
                                                 is_wide ? "=l,l" : "=r,r", false),
                            {count});
}

// What is read behind the loop of a number that each turn adds a constant to is made of the next
// one, for which it would have to be kept.
void LeaveNextOnes(const llvm::Loop& loop, const BasicBlock* latch, BasicBlock* closer,
                   const llvm::DominatorTree& dominators) {
  using llvm::PatternMatch::m_APInt;
  llvm::IRBuilder<> builder(closer, closer->getFirstInsertionPt());
  for (llvm::PHINode& counter : loop.getHeader()->phis()) {
    Value* next = counter.getIncomingValueForBlock(latch);
    const llvm::APInt* step = nullptr;
    if (!match(next, llvm::PatternMatch::m_c_Add(llvm::PatternMatch::m_Specific(&counter),
                                                 m_APInt(step))))
      continue;
    const auto is_behind = [&](const llvm::Use& use) {
      return dominators.dominates(closer->getTerminator(), use);
    };
    if (llvm::none_of(counter.uses(), is_behind)) continue;
    const unsigned bits = step->getBitWidth();
    if (bits != 32 && bits != 64) continue;
    Value* left = builder.CreateSub(Hidden(next, builder), builder.getInt(*step));
    counter.replaceUsesWithIf(left, is_behind);
  }
}

void Apply(const llvm::Loop& loop, const Latch& latch) {
  BasicBlock* block = latch.branch->getParent();
  BasicBlock* header = loop.getHeader();
  BasicBlock* after = latch.branch->getSuccessor(1 - latch.onward);
  llvm::Function* function = header->getParent();
  llvm::LLVMContext& context = function->getContext();
  BasicBlock* again = BasicBlock::Create(context, "again", function, header);
  BasicBlock* closer = BasicBlock::Create(context, "closer", function, after);
  llvm::IRBuilder<>(again).CreateBr(header);
  MoveEntries(header, again, block, closer);
  for (llvm::PHINode& phi : after->phis()) phi.replaceIncomingBlockWith(block, closer);

  llvm::IRBuilder<> at_latch(latch.branch), at_closer(closer);
  const auto holds = [](const Condition& condition, Value* value, llvm::IRBuilder<>& builder) {
    return condition.holds ? value : builder.CreateNot(value);
  };
  Value* by_half = at_latch.getTrue();
  Value* by_itself = HasThreads(at_closer);
  std::vector<std::pair<llvm::Instruction*, llvm::Instruction*>> moved;
  for (const Condition& condition : latch.conditions) {
    Value* itself = condition.value;
    if (condition.IsTest()) {
      auto* test = llvm::cast<llvm::Instruction>(condition.value);
      itself = at_closer.Insert(test->clone());
      moved.emplace_back(test, llvm::cast<llvm::Instruction>(itself));
    }
    Value* half = condition.IsTest() ? AskHalf(condition, at_latch)
                                     : holds(condition, condition.value, at_latch);
    by_half = at_latch.CreateAnd(by_half, half);
    by_itself = at_closer.CreateAnd(by_itself, holds(condition, itself, at_closer));
  }
  at_closer.CreateCondBr(by_itself, again, after);
  Value* before = latch.branch->getCondition();
  llvm::BranchInst* branch = at_latch.CreateCondBr(by_half, header, closer);
  branch->copyMetadata(*latch.branch, {llvm::LLVMContext::MD_loop});
  latch.branch->eraseFromParent();
  const llvm::DominatorTree dominators(*function);
  for (const auto& [test, itself] : moved) {
    test->replaceUsesWithIf(
        itself, [&](const llvm::Use& use) { return dominators.dominates(itself, use); });
  }
  LeaveNextOnes(loop, block, closer, dominators);
  llvm::RecursivelyDeleteTriviallyDeadInstructions(before);
}

}  // namespace

void AskHighHalves(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    std::vector<std::pair<const llvm::Loop*, Latch>> found;
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      Latch latch;
      if (loop->isInnermost() && FindLatch(*loop, &latch))
        found.emplace_back(loop, std::move(latch));
    }
    for (const auto& [loop, latch] : found) Apply(*loop, latch);
  }
}

}  // namespace parakeet::backends
