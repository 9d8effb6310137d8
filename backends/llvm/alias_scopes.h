// Tells LLVM which accesses cannot meet in memory, by the roots of the arrays accessed.
#ifndef PARAKEET_BACKENDS_LLVM_ALIAS_SCOPES_H_
#define PARAKEET_BACKENDS_LLVM_ALIAS_SCOPES_H_

#include <map>
#include <set>
#include <vector>

#include "backends/llvm/array_facts.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"

namespace parakeet::backends {

// The metadata of accesses to one set of roots; null where nothing is known.
struct AccessScopes {
  llvm::MDNode* scopes = nullptr;
  llvm::MDNode* others = nullptr;

  void Mark(llvm::Instruction* access) const;
};

// One scope a root of a function; parallel bodies share the function's.
class AliasScopes {
 public:
  AliasScopes(llvm::LLVMContext& context, int root_count);

  AccessScopes Of(const ArrayFacts& facts);

 private:
  // Each access lists the roots it does not touch; above this many roots the lists cost more than
  // they bring.
  static constexpr int kMostRoots = 64;

  llvm::LLVMContext& context_;
  std::vector<llvm::Metadata*> scopes_;
  std::map<std::set<int>, AccessScopes> known_;
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_ALIAS_SCOPES_H_
