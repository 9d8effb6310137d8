#include "backends/llvm/captures.h"

#include <algorithm>
#include <vector>

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

void Captures::Finish(uint64_t most) {
  DropUnused();
  PlaceFrom(reserved_);
  if (bytes_ <= most) return;
  PlaceFrom(reserved_ + sizeof(void*));
  ReadElsewhere();
}

void Captures::DropUnused() {
  std::erase_if(entries_, [](Entry& entry) {
    if (!entry.inner->use_empty()) return false;
    entry.inner->eraseFromParent();
    entry.address->eraseFromParent();
    return true;
  });
}

void Captures::PlaceFrom(uint64_t first) {
  const llvm::DataLayout& layout = emission_.module.getDataLayout();
  bytes_ = first;
  for (Entry& entry : entries_) {
    llvm::Type* type = entry.outer->getType();
    const llvm::Align alignment = layout.getABITypeAlign(type);
    alignment_ = std::max(alignment_, alignment);
    entry.offset = llvm::alignTo(bytes_, alignment);
    bytes_ = entry.offset + layout.getTypeAllocSize(type);
    entry.address->setOperand(1, emission_.builder.getInt64(entry.offset));
    entry.inner->setAlignment(alignment);
  }
}

// Nothing changes them while the body runs, and all of it reads the same ones.
void Captures::ReadElsewhere() {
  are_elsewhere_ = true;
  llvm::IRBuilder<> builder(entry_, entry_->begin());
  llvm::Value* place = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), memory_, reserved_);
  llvm::Value* memory = builder.CreateLoad(builder.getPtrTy(), place);
  llvm::MDNode* none = llvm::MDNode::get(emission_.context(), {});
  for (Entry& entry : entries_) {
    entry.address->setOperand(0, memory);
    entry.inner->setMetadata(llvm::LLVMContext::MD_invariant_load, none);
  }
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
