// The small tier of the buffer pool: each thread's own free blocks of the first kCachedClasses, the
// few larger ones that it released last, and its own counts, so that a small buffer costs no lock.
#ifndef PARAKEET_RUNTIME_THREAD_CACHE_H_
#define PARAKEET_RUNTIME_THREAD_CACHE_H_

#include <algorithm>
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

  // As Take, of the larger blocks that the thread released last: what a loop takes and gives back
  // in each iteration lies in the cache of the thread's own core.
  Block* TakeNear(uint32_t size_class) {
    for (int k = near_count_; k-- > 0;) {
      if (near_[k]->size_class != size_class) continue;
      Block* block = RemoveNear(k);
      block->state = BlockState::kLive;
      return block;
    }
    return nullptr;
  }

  static bool IsNear(const Block& block) { return block.capacity <= kNearBytes; }

  // Keeps a live block that IsNear. Returns those that it pushes out, a chain through `next`.
  [[nodiscard]] Block* PutNear(Block* block) {
    Block* pushed_out = nullptr;
    while (near_count_ == kNearBlocks || near_bytes_ + block->capacity > kNearBytes) {
      Block* oldest = RemoveNear(0);
      oldest->next = pushed_out;
      pushed_out = oldest;
    }
    block->state = BlockState::kPooled;
    near_[near_count_++] = block;
    near_bytes_ += block->capacity;
    pooled_bytes.Add(int64_t(block->capacity));
    return pushed_out;
  }

  // The block at its own colour if no live block of the thread has that, else at one that fewest
  // have, in turn. Assumes HasColour.
  Block* GiveColour(Block* block) {
    uint64_t colour = ColourOf(*block);
    if (live_of_colour_[colour] > 0) {
      for (uint64_t k = 1; k <= kColours; ++k) {
        const uint64_t other = (last_colour_ + k) % kColours;
        if (k == 1 || live_of_colour_[other] < live_of_colour_[colour]) colour = other;
      }
      block = Recolour(block, colour);
    }
    ++live_of_colour_[colour];
    last_colour_ = colour;
    return block;
  }

  // Behind the block's last use. One that another thread was given is not missed: the counts only
  // spread what a thread has at a time.
  void TakeBackColour(const Block& block) {
    int32_t& live = live_of_colour_[ColourOf(block)];
    live = std::max(live - 1, 0);
  }

  // Deletes all blocks.
  void Clear() {
    while (near_count_ > 0) DeleteBlock(RemoveNear(near_count_ - 1));
    for (uint32_t size_class = 0; size_class < kCachedClasses; ++size_class) {
      while (Block* block = Take(size_class)) DeleteBlock(block);
    }
  }

  OwnedCount allocations;
  OwnedCount releases;
  OwnedCount pooled_bytes;
  OwnedCount live_bytes;        // of cached classes: made by this thread, less what it released
  ThreadCache* next = nullptr;  // in the list of all caches, which buffers.cc keeps

  static constexpr uint64_t kBytesPerClass = 64 * 1024;
  static constexpr uint64_t kNearBytes = 1024 * 1024;
  static constexpr int kNearBlocks = 4;

 private:
  struct List {
    Block* first = nullptr;
    uint64_t bytes = 0;
  };

  Block* RemoveNear(int at) {
    Block* block = near_[at];
    std::copy(near_ + at + 1, near_ + near_count_, near_ + at);
    --near_count_;
    near_bytes_ -= block->capacity;
    pooled_bytes.Add(-int64_t(block->capacity));
    return block;
  }

  List lists_[kCachedClasses];
  Block* near_[kNearBlocks] = {};  // the newest last
  int near_count_ = 0;
  int32_t live_of_colour_[kColours] = {};
  uint64_t last_colour_ = 0;
  uint64_t near_bytes_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_THREAD_CACHE_H_
