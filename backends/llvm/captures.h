// The values that a function written apart, as the body of a parallel loop is, takes from the
// function around it.
#ifndef PARAKEET_BACKENDS_LLVM_CAPTURES_H_
#define PARAKEET_BACKENDS_LLVM_CAPTURES_H_

#include <unordered_map>
#include <vector>

#include "backends/llvm/emission.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace parakeet::backends {

class Captures {
 public:
  // `body` reads them from `memory`, its argument, in the block `entry`, which is still open. They
  // begin behind `reserved` bytes.
  Captures(Emission& emission, llvm::BasicBlock* entry, llvm::Value* memory, uint64_t reserved)
      : emission_(emission),
        entry_(entry),
        memory_(memory),
        reserved_(reserved),
        bytes_(reserved) {}

  // The outer value inside the body.
  llvm::Value* Take(llvm::Value* outer);

  // Drops what the finished body does not use and gives the rest their places. Where they take more
  // than `most` bytes, the body finds them in memory of the same layout that a pointer behind the
  // reserved bytes leads to; nothing else stands in its own then.
  void Finish(uint64_t most = UINT64_MAX);

  // After Finish, in the outer function: fills memory of `bytes()` bytes, aligned to `alignment()`.
  // `local` is a value as the outer function sees it, which may have captured it in turn.
  void Store(llvm::IRBuilder<>& builder, llvm::Value* memory,
             llvm::function_ref<llvm::Value*(llvm::Value*)> local) const;
  uint64_t bytes() const { return bytes_; }
  // Of `memory`, as far as the body reads it.
  uint64_t own_bytes() const { return are_elsewhere_ ? reserved_ + sizeof(void*) : bytes_; }
  bool are_elsewhere() const { return are_elsewhere_; }
  llvm::Align alignment() const { return alignment_; }

 private:
  struct Entry {
    llvm::Value* outer;
    llvm::GetElementPtrInst* address;
    llvm::LoadInst* inner;
    uint64_t offset = 0;
  };

  void DropUnused();
  void PlaceFrom(uint64_t first);
  void ReadElsewhere();

  Emission& emission_;
  llvm::BasicBlock* entry_;
  llvm::Value* memory_;
  std::vector<Entry> entries_;
  std::unordered_map<llvm::Value*, llvm::Value*> inner_of_;
  uint64_t reserved_;
  uint64_t bytes_;
  bool are_elsewhere_ = false;
  llvm::Align alignment_{8};
};

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CAPTURES_H_
