// The small tier of the buffer pool: each thread's own free blocks of the first kCachedClasses, and
// its own counts, so that a small buffer costs no lock.
#ifndef PARAKEET_RUNTIME_THREAD_CACHE_H_
#define PARAKEET_RUNTIME_THREAD_CACHE_H_

#include <atomic>
#include <cstdint>

#include "runtime/buffer_block.h"

namespace parakeet::runtime {

// A number that one thread writes and others read: an increment is a plain load and store.
class OwnedCount {
 public:
  void Add(int64_t amount) { value_.store(Get() + amount, std::memory_order_relaxed); }
  int64_t Get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

// Used by its own thread only, but for the counts.
class ThreadCache {
 public:
  // A live block of the class, or null. Assumes size_class < kCachedClasses.
  Block* Take(uint32_t size_class) {
    List& list = lists_[size_class];
    Block* block = list.first;
    if (block == nullptr) return nullptr;
    list.first = block->next;
    list.bytes -= block->capacity;
    pooled_bytes.Add(-int64_t(block->capacity));
    block->state = BlockState::kLive;
    return block;
  }

  // Keeps a live block of a cached class, or returns false: the class has its share.
  bool Put(Block* block) {
    List& list = lists_[block->size_class];
    if (list.bytes + block->capacity > kBytesPerClass) return false;
    block->state = BlockState::kPooled;
    block->next = list.first;
    list.first = block;
    list.bytes += block->capacity;
    pooled_bytes.Add(int64_t(block->capacity));
    return true;
  }

  // Deletes all blocks.
  void Clear() {
    for (uint32_t size_class = 0; size_class < kCachedClasses; ++size_class) {
      while (Block* block = Take(size_class)) DeleteBlock(block);
    }
  }

  OwnedCount allocations;
  OwnedCount releases;
  OwnedCount pooled_bytes;
  ThreadCache* next = nullptr;  // in the list of all caches, which buffers.cc keeps

  static constexpr uint64_t kBytesPerClass = 64 * 1024;

 private:
  struct List {
    Block* first = nullptr;
    uint64_t bytes = 0;
  };
  List lists_[kCachedClasses];
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_THREAD_CACHE_H_
