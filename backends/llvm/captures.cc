#include "backends/llvm/captures.h"

#include <algorithm>
#include <utility>

#include "llvm/IR/DataLayout.h"

namespace parakeet::backends {

llvm::Value* Captures::Take(llvm::Value* outer) {
  llvm::Value*& inner = inner_of_[outer];
  if (inner != nullptr) return inner;
  // The place is not known yet: Finish sets the index.
  llvm::Value* unset = emission_.builder.getInt64(0);
  auto* address =
      llvm::GetElementPtrInst::Create(emission_.builder.getInt8Ty(), memory_, {unset}, "", entry_);
  auto* load = new llvm::LoadInst(outer->getType(), address, outer->getName(), false,
                                  llvm::Align(1), entry_);
  if (IsSaidNotNegative(*outer)) SayNotNegative(*load);
  entries_.push_back({outer, address, load});
  return inner = load;
}

void Captures::Finish() {
  const llvm::DataLayout& layout = emission_.module.getDataLayout();
  std::vector<Entry> used;
  for (Entry& entry : entries_) {
    if (entry.inner->use_empty()) {
      entry.inner->eraseFromParent();
      entry.address->eraseFromParent();
      continue;
    }
    llvm::Type* type = entry.outer->getType();
    const llvm::Align alignment = layout.getABITypeAlign(type);
    alignment_ = std::max(alignment_, alignment);
    entry.offset = llvm::alignTo(bytes_, alignment);
    bytes_ = entry.offset + layout.getTypeAllocSize(type);
    entry.address->setOperand(1, emission_.builder.getInt64(entry.offset));
    entry.inner->setAlignment(alignment);
    used.push_back(entry);
  }
  entries_ = std::move(used);
}

void Captures::Store(llvm::IRBuilder<>& builder, llvm::Value* memory,
                     llvm::function_ref<llvm::Value*(llvm::Value*)> local) const {
  const llvm::DataLayout& layout = emission_.module.getDataLayout();
  for (const Entry& entry : entries_) {
    llvm::Value* address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory, entry.offset);
    builder.CreateAlignedStore(local(entry.outer), address,
                               layout.getABITypeAlign(entry.outer->getType()));
  }
}

}  // namespace parakeet::backends
