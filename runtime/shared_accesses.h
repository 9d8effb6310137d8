// Who has accessed a block's shared memory since its threads last waited for one another.
#ifndef PARAKEET_RUNTIME_SHARED_ACCESSES_H_
#define PARAKEET_RUNTIME_SHARED_ACCESSES_H_

#include <cstdint>
#include <vector>

namespace parakeet::runtime {

// Used by one thread of the host, block after block.
class SharedAccesses {
 public:
  // Another block begins, with so much shared memory.
  void BeginBlock(int64_t bytes) {
    if (uint64_t(bytes) > cells_.size()) cells_.resize(uint64_t(bytes));
    PassBarrier();
  }

  // Accesses before and after are in order from here on.
  void PassBarrier() { ++interval_; }

  // Those of each warp's threads are.
  void PassWarpBarrier() { ++step_; }

  static constexpr int32_t kNone = -1;

  // Notes an access of `thread` to `bytes` from `offset` on, and says which other thread's it races
  // with, or kNone: of two accesses between the same barriers one is a store.
  int32_t Note(int64_t thread, int64_t offset, int64_t bytes, bool is_store);

 private:
  struct Accessor {
    int32_t thread = 0;
    uint64_t step = 0;
  };
  // Of a byte. What is of an earlier interval is nothing.
  struct Cell {
    uint64_t stored_in = 0;
    uint64_t loaded_in = 0;
    Accessor storer;
    Accessor loader;
    // Loads of several threads; `loader` and this one are two of them.
    Accessor other_loader;
  };

  int32_t NoteStore(Cell& cell, int32_t thread) const;
  int32_t NoteLoad(Cell& cell, int32_t thread) const;
  // Whether an access of this interval was before the last barrier of the thread's warp.
  bool IsBehind(const Accessor& earlier, int32_t thread) const;
  bool IsConcurrent(const Accessor& earlier, int32_t thread) const {
    return earlier.thread != thread && !IsBehind(earlier, thread);
  }

  uint64_t interval_ = 0;
  uint64_t step_ = 0;  // Counts barriers of warps.
  std::vector<Cell> cells_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SHARED_ACCESSES_H_
