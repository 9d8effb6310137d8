// The shared tier of the buffer pool: free blocks above kCachedCapacity, for all threads.
//
// Blocks that users give back stay here up to a cap of bytes; beyond it the ones released longest
// ago go back to the system, so that a program that changes its sizes keeps what it uses now.
#ifndef PARAKEET_RUNTIME_BUFFER_POOL_H_
#define PARAKEET_RUNTIME_BUFFER_POOL_H_

#include <cstdint>

#include "runtime/buffer_block.h"

namespace parakeet::runtime {

// Not thread-safe: its owner holds a lock around each call. Blocks that are to be deleted come back
// as a chain through `next`, so that the owner deletes them (milliseconds) without the lock.
class BufferPool {
 public:
  // The block of the class that was released last, live again; null when there is none.
  Block* Take(uint32_t size_class);

  // Keeps a live block. Returns the blocks that the cap pushes out, possibly this one.
  [[nodiscard]] Block* Put(Block* block);

  // Bytes of capacity to keep at most. Returns the blocks that a lower cap pushes out.
  [[nodiscard]] Block* SetCap(uint64_t bytes);

  // All blocks.
  [[nodiscard]] Block* TakeAll();

  uint64_t cap() const { return cap_; }
  uint64_t pooled_bytes() const { return pooled_bytes_; }

 private:
  void Link(Block* block);
  void Unlink(Block* block);
  Block* EvictDownTo(uint64_t bytes);

  Block* of_class_[kSizeClasses] = {};  // newest first
  Block* newest_ = nullptr;
  Block* oldest_ = nullptr;
  uint64_t pooled_bytes_ = 0;
  uint64_t cap_ = 0;
};

// Deletes a chain of blocks.
void DeleteChain(Block* first);

// What a cap should be when nobody sets one: an eighth of the memory this process may use, by the
// machine or by its control group.
uint64_t DefaultPoolCap();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_BUFFER_POOL_H_
