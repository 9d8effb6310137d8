#include "backends/llvm/merge_functions.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/StructuralHash.h"

namespace parakeet::backends {
namespace {

using llvm::Function;
using llvm::Instruction;
using llvm::MDNode;

// LLVM's comparison takes any two lists of alias scopes for one, and leaves out flags of addresses;
// this says whether two functions that it takes for equal promise the same, too.
class Promises {
 public:
  bool AreSame(const Function& a, const Function& b) {
    if (a.size() != b.size()) return false;
    for (auto x = a.begin(), y = b.begin(); x != a.end(); ++x, ++y) blocks_[&*x] = &*y;
    for (auto x = llvm::inst_begin(a), y = llvm::inst_begin(b); x != llvm::inst_end(a); ++x, ++y) {
      if (y == llvm::inst_end(b) || !IsSame(*x, *y)) return false;
    }
    return true;
  }

 private:
  bool IsSame(const Instruction& a, const Instruction& b) {
    if (a.getOpcode() != b.getOpcode()) return false;
    if (a.getRawSubclassOptionalData() != b.getRawSubclassOptionalData()) return false;
    return HasSameTargets(a, b) && HasSameMetadata(a, b);
  }

  // Blocks stand in one order, so instructions of one place are each other's counterparts.
  bool HasSameTargets(const Instruction& a, const Instruction& b) const {
    if (!a.isTerminator()) return true;
    if (a.getNumSuccessors() != b.getNumSuccessors()) return false;
    for (unsigned i = 0; i < a.getNumSuccessors(); ++i) {
      if (blocks_.lookup(a.getSuccessor(i)) != b.getSuccessor(i)) return false;
    }
    return true;
  }

  bool HasSameMetadata(const Instruction& a, const Instruction& b) {
    llvm::SmallVector<std::pair<unsigned, MDNode*>, 4> of_a, of_b;
    a.getAllMetadataOtherThanDebugLoc(of_a);
    b.getAllMetadataOtherThanDebugLoc(of_b);
    if (of_a.size() != of_b.size()) return false;
    for (size_t i = 0; i < of_a.size(); ++i) {
      if (of_a[i].first != of_b[i].first) return false;
      if (!IsSameNode(of_a[i].first, of_a[i].second, of_b[i].second)) return false;
    }
    return true;
  }

  // The scopes of an access are those of its roots, and what it meets not are all others
  // (AliasScopes): it is enough that the former go together.
  bool IsSameNode(unsigned kind, const MDNode* a, const MDNode* b) {
    if (kind == llvm::LLVMContext::MD_noalias) return true;
    // A loop's node names itself first, then what it asks for.
    if (kind == llvm::LLVMContext::MD_loop)
      return std::equal(a->op_begin() + 1, a->op_end(), b->op_begin() + 1, b->op_end());
    if (kind != llvm::LLVMContext::MD_alias_scope) return a == b;
    if (a->getNumOperands() != b->getNumOperands()) return false;
    for (unsigned i = 0; i < a->getNumOperands(); ++i) {
      const llvm::Metadata *x = a->getOperand(i), *y = b->getOperand(i);
      if (there_.try_emplace(x, y).first->second != y) return false;
      if (back_.try_emplace(y, x).first->second != x) return false;
    }
    return true;
  }

  llvm::DenseMap<const llvm::BasicBlock*, const llvm::BasicBlock*> blocks_;
  llvm::DenseMap<const llvm::Metadata*, const llvm::Metadata*> there_, back_;
};

}  // namespace

Function* FunctionMerger::Merged(Function* function) {
  std::vector<Function*>& alike = known_[llvm::StructuralHash(*function, /*DetailedHash=*/true)];
  for (Function* known : alike) {
    if (llvm::FunctionComparator(function, known, &numbers_).compare() != 0) continue;
    if (!Promises().AreSame(*function, *known)) continue;
    function->eraseFromParent();
    return known;
  }
  alike.push_back(function);
  return function;
}

}  // namespace parakeet::backends
