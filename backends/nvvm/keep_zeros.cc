#include "backends/nvvm/keep_zeros.h"

#include <string>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

namespace parakeet::backends {
namespace {

using llvm::CmpInst;
using llvm::Value;

bool IsZero(const Value* value) {
  return llvm::PatternMatch::match(value, llvm::PatternMatch::m_AnyZeroFP());
}

// The same, or zeros of either sign.
bool IsAlike(const Value* a, const Value* b) { return a == b || (IsZero(a) && IsZero(b)); }

bool IsLess(CmpInst::Predicate predicate) {
  return predicate == CmpInst::FCMP_OLT || predicate == CmpInst::FCMP_ULT;
}

bool IsGreater(CmpInst::Predicate predicate) {
  return predicate == CmpInst::FCMP_OGT || predicate == CmpInst::FCMP_UGT;
}

// True of `x if x > 0.0 else 0.0` and `x if x < -0.0 else -0.0`.
bool IsExtreme(const llvm::FCmpInst& test, const llvm::SelectInst& select) {
  const auto* zero = llvm::dyn_cast<llvm::ConstantFP>(select.getFalseValue());
  if (zero == nullptr || test.getOperand(0) != select.getTrueValue()) return false;
  return zero->isNegative() ? IsLess(test.getPredicate()) : IsGreater(test.getPredicate());
}

// The comparison by which the select chooses between a number and a zero, where it could be made a
// min or max that has other bits.
llvm::FCmpInst* TestOf(llvm::SelectInst& select) {
  auto* test = llvm::dyn_cast<llvm::FCmpInst>(select.getCondition());
  if (test == nullptr || !(IsLess(test->getPredicate()) || IsGreater(test->getPredicate())))
    return nullptr;
  Value *a = test->getOperand(0), *b = test->getOperand(1);
  Value *then = select.getTrueValue(), *other = select.getFalseValue();
  const bool chooses =
      (IsAlike(a, then) && IsAlike(b, other)) || (IsAlike(a, other) && IsAlike(b, then));
  return chooses && (IsZero(a) || IsZero(b)) && !IsExtreme(*test, select) ? test : nullptr;
}

void TurnAround(llvm::SelectInst& select, llvm::FCmpInst& test) {
  Value *then = select.getTrueValue(), *other = select.getFalseValue();
  llvm::IRBuilder<> builder(&select);
  select.setCondition(
      builder.CreateFCmp(test.getInversePredicate(), test.getOperand(0), test.getOperand(1)));
  select.setTrueValue(other);
  select.setFalseValue(then);
}

// Numbers of 16 bits have no min and max on all architectures, and none is made.
void WriteAsPtx(llvm::SelectInst& select, llvm::FCmpInst& test) {
  llvm::Type* type = select.getType();
  if (!type->isFloatTy() && !type->isDoubleTy()) return;
  const std::string suffix = type->isFloatTy() ? ".f32" : ".f64";
  const std::string name = IsLess(test.getPredicate()) ? "setp.lt" : "setp.gt";
  const std::string unordered = CmpInst::isUnordered(test.getPredicate()) ? "u" : "";
  const std::string text = "{ .reg .pred chosen; " + name + unordered + suffix +
                           " chosen, $1, $2; selp" + suffix + " $0, $3, $4, chosen; }";
  const char* constraints = type->isFloatTy() ? "=f,f,f,f,f" : "=d,d,d,d,d";
  auto* takes = llvm::FunctionType::get(type, {type, type, type, type}, false);
  llvm::IRBuilder<> builder(&select);
  auto* chosen = builder.CreateCall(
      llvm::InlineAsm::get(takes, text, constraints, /*hasSideEffects=*/false),
      {test.getOperand(0), test.getOperand(1), select.getTrueValue(), select.getFalseValue()});
  select.replaceAllUsesWith(chosen);
  select.eraseFromParent();
}

void ForEachTest(llvm::Module& module,
                 llvm::function_ref<void(llvm::SelectInst&, llvm::FCmpInst&)> mend) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* select = llvm::dyn_cast<llvm::SelectInst>(&each);
      if (select == nullptr) continue;
      if (llvm::FCmpInst* test = TestOf(*select)) mend(*select, *test);
    }
  }
}

}  // namespace

void KeepZeros(llvm::Module& module) { ForEachTest(module, TurnAround); }

void KeepZerosInPtx(llvm::Module& module) { ForEachTest(module, WriteAsPtx); }

}  // namespace parakeet::backends
