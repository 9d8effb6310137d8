#include "backends/nvvm/cheapen_tests.h"

#include <optional>
#include <string_view>
#include <vector>

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/SimplifyQuery.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"

namespace parakeet::backends {
namespace {

using llvm::CmpInst;
using llvm::Value;

// As unsigned integers, +0.0 to +inf are in order, and all that is nan is above: where nan is to be
// below, it takes more operations than are saved.
std::optional<CmpInst::Predicate> OfBits(CmpInst::Predicate predicate) {
  switch (predicate) {
    case CmpInst::FCMP_OLE: return CmpInst::ICMP_ULE;
    case CmpInst::FCMP_OLT: return CmpInst::ICMP_ULT;
    case CmpInst::FCMP_UGT: return CmpInst::ICMP_UGT;
    case CmpInst::FCMP_UGE: return CmpInst::ICMP_UGE;
    default: return std::nullopt;
  }
}

Value* CompareBits(const llvm::FCmpInst& test, const llvm::DataLayout& layout) {
  Value* value = test.getOperand(0);
  const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(test.getOperand(1));
  const auto predicate = OfBits(test.getPredicate());
  if (constant == nullptr || !value->getType()->isDoubleTy() || !predicate) return nullptr;
  const llvm::APFloat& bound = constant->getValueAPF();
  if (!bound.isFiniteNonZero() || bound.isNegative()) return nullptr;
  const auto known =
      llvm::computeKnownFPClass(value, llvm::fcNegative, 0, llvm::SimplifyQuery(layout));
  if (!known.isKnownNever(llvm::fcNegative)) return nullptr;
  llvm::IRBuilder<> builder(const_cast<llvm::FCmpInst*>(&test));
  Value* bits = builder.CreateBitCast(value, builder.getInt64Ty());
  return builder.CreateICmp(*predicate, bits,
                            builder.getInt64(bound.bitcastToAPInt().getZExtValue()));
}

Value* CompareHalves(const llvm::ICmpInst& test) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(test.getOperand(1));
  if (constant == nullptr || !test.isEquality() || !constant->getType()->isIntegerTy(64) ||
      !constant->getValue().isIntN(32))
    return nullptr;
  llvm::IRBuilder<> builder(const_cast<llvm::ICmpInst*>(&test));
  llvm::Type* half = builder.getInt32Ty();
  Value* whole = test.getOperand(0);
  Value* low = builder.CreateTrunc(whole, half);
  Value* high = builder.CreateTrunc(builder.CreateLShr(whole, 32), half);
  Value* apart = builder.CreateXor(low, builder.getInt32(constant->getZExtValue()));
  return builder.CreateICmp(test.getPredicate(), builder.CreateOr(apart, high),
                            builder.getInt32(0));
}

// What a branch of a loop asks, alone or with others.
bool DecidesBranch(const CmpInst& test) {
  return llvm::any_of(test.users(), [](const llvm::User* user) {
    if (llvm::isa<llvm::BranchInst>(user)) return true;
    return user->getType()->isIntegerTy(1) &&
           llvm::any_of(user->users(),
                        [](const llvm::User* next) { return llvm::isa<llvm::BranchInst>(next); });
  });
}

}  // namespace

void CheapenTests(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    std::vector<CmpInst*> tests;
    for (llvm::BasicBlock& block : function) {
      if (loops.getLoopFor(&block) == nullptr) continue;
      for (llvm::Instruction& instruction : block) {
        auto* test = llvm::dyn_cast<CmpInst>(&instruction);
        if (test != nullptr && DecidesBranch(*test)) tests.push_back(test);
      }
    }
    for (CmpInst* test : tests) {
      const auto* of_doubles = llvm::dyn_cast<llvm::FCmpInst>(test);
      Value* cheaper = of_doubles != nullptr ? CompareBits(*of_doubles, module.getDataLayout())
                                             : CompareHalves(*llvm::cast<llvm::ICmpInst>(test));
      if (cheaper == nullptr) continue;
      test->replaceAllUsesWith(cheaper);
      test->eraseFromParent();
    }
  }
}

// Both operations stand together, as "and.b64 \t%rd2, %rd1, 1;" and "setp.eq.b64 \t%p1, %rd2, 1;".
std::string TestBitsAgainstZero(std::string ptx) {
  constexpr std::string_view kTest = "\tsetp.eq.b", kAnd = "\tand.b", kOne = ", 1;";
  const std::string_view text = ptx;
  std::vector<size_t> tests;
  for (size_t at = text.find(kTest); at != text.npos; at = text.find(kTest, at + 1)) {
    const std::string_view test = text.substr(at, text.find('\n', at) - at);
    const size_t before = text.rfind('\n', at - 2) + 1;
    const std::string_view masked = text.substr(before, at - 1 - before);
    if (!test.ends_with(kOne) || !masked.starts_with(kAnd) || !masked.ends_with(kOne)) continue;
    const size_t name = masked.find('%');
    const std::string_view result = masked.substr(name, masked.find(',') - name);
    const std::string_view tested = test.substr(0, test.size() - kOne.size());
    if (tested.ends_with(result) && tested[tested.size() - result.size() - 1] == ' ')
      tests.push_back(at);
  }
  for (const size_t at : tests) {
    ptx.replace(at, kTest.size(), "\tsetp.ne.b");
    ptx[ptx.find(kOne, ptx.find(", %", at)) + 2] = '0';
  }
  return ptx;
}

}  // namespace parakeet::backends
