#include "backends/llvm/alias_scopes.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/MDBuilder.h"

namespace parakeet::backends {

void AccessScopes::Mark(llvm::Instruction* access) const {
  if (scopes == nullptr) return;
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, scopes);
  if (others != nullptr) access->setMetadata(llvm::LLVMContext::MD_noalias, others);
}

AliasScopes::AliasScopes(llvm::LLVMContext& context, int root_count) : context_(context) {
  if (root_count < 2 || root_count > kMostRoots) return;
  llvm::MDBuilder builder(context);
  llvm::MDNode* domain = builder.createAnonymousAliasScopeDomain("roots");
  for (int root = 0; root < root_count; ++root) {
    scopes_.push_back(builder.createAnonymousAliasScope(domain));
  }
}

AccessScopes AliasScopes::Of(const ArrayFacts& facts) {
  if (scopes_.empty() || facts.anywhere) return {};
  const auto [place, is_new] = known_.emplace(facts.roots, AccessScopes());
  if (!is_new) return place->second;
  std::vector<llvm::Metadata*> own;
  std::vector<llvm::Metadata*> others;
  for (int root = 0; root < int(scopes_.size()); ++root) {
    (facts.roots.count(root) > 0 ? own : others).push_back(scopes_[root]);
  }
  place->second.scopes = llvm::MDNode::get(context_, own);
  if (!others.empty()) place->second.others = llvm::MDNode::get(context_, others);
  return place->second;
}

}  // namespace parakeet::backends
