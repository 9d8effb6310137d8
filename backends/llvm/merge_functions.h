// Finds functions that say the same, so that one of them is compiled.
#ifndef PARAKEET_BACKENDS_LLVM_MERGE_FUNCTIONS_H_
#define PARAKEET_BACKENDS_LLVM_MERGE_FUNCTIONS_H_

#include <unordered_map>
#include <vector>

#include "llvm/IR/Function.h"
#include "llvm/Transforms/Utils/FunctionComparator.h"

namespace parakeet::backends {

class FunctionMerger {
 public:
  // A function seen before that does the same, and then `function`, which nothing may use yet, is
  // erased; else `function` itself. It is finished, apart from its target's attributes.
  llvm::Function* Merged(llvm::Function* function);

 private:
  std::unordered_map<uint64_t, std::vector<llvm::Function*>> known_;
  llvm::GlobalNumberState numbers_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_MERGE_FUNCTIONS_H_
