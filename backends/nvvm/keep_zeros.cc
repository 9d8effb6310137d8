#include "backends/nvvm/keep_zeros.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
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

void Visit(llvm::SelectInst& select) {
  auto* test = llvm::dyn_cast<llvm::FCmpInst>(select.getCondition());
  if (test == nullptr || !(IsLess(test->getPredicate()) || IsGreater(test->getPredicate()))) return;
  Value *a = test->getOperand(0), *b = test->getOperand(1);
  Value *then = select.getTrueValue(), *other = select.getFalseValue();
  const bool chooses =
      (IsAlike(a, then) && IsAlike(b, other)) || (IsAlike(a, other) && IsAlike(b, then));
  if (!chooses || !(IsZero(a) || IsZero(b)) || IsExtreme(*test, select)) return;
  llvm::IRBuilder<> builder(&select);
  select.setCondition(builder.CreateFCmp(test->getInversePredicate(), a, b));
  select.setTrueValue(other);
  select.setFalseValue(then);
}

}  // namespace

void KeepZeros(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& each : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&each)) Visit(*select);
    }
  }
}

}  // namespace parakeet::backends
