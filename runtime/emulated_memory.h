// The memory of the emulated device: the host's, of which it is known what is live.
#ifndef PARAKEET_RUNTIME_EMULATED_MEMORY_H_
#define PARAKEET_RUNTIME_EMULATED_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "runtime/device.h"

namespace parakeet::runtime {

// Called by any thread.
class EmulatedMemory {
 public:
  // The live allocations that were found last, as long as none has been freed since: a kernel
  // touches a few in turn, and to look one up takes long.
  class Found {
   public:
    bool Holds(uintptr_t begin, uintptr_t end, uint64_t frees) const {
      for (const Range& range : ranges_) {
        if (begin >= range.begin && end <= range.end) return frees == frees_;
      }
      return false;
    }
    void Add(uintptr_t begin, uintptr_t end, uint64_t frees) {
      if (frees != frees_) *this = Found();
      frees_ = frees;
      ranges_[next_++ % kKept] = {begin, end};
    }

   private:
    static constexpr unsigned kKept = 8;
    struct Range {
      uintptr_t begin = 1;
      uintptr_t end = 0;
    };
    Range ranges_[kKept];
    unsigned next_ = 0;
    uint64_t frees_ = 0;
  };

  // Null where there is not enough, also beside the limit.
  void* Allocate(int64_t bytes);
  // Ends the process where it is no live allocation.
  void Free(void* buffer);
  void SetLimit(int64_t bytes);
  void ResetPeak();
  // All but the launches.
  DeviceCounters Counters() const;

  // Whether all of [address, address + bytes) lies in one live allocation, which is then noted.
  bool Holds(const void* address, int64_t bytes, Found* found) const {
    const auto begin = reinterpret_cast<uintptr_t>(address);
    const uint64_t frees = frees_.load(std::memory_order_acquire);
    return found->Holds(begin, begin + uint64_t(bytes), frees) || Find(begin, bytes, found);
  }

 private:
  bool Find(uintptr_t begin, int64_t bytes, Found* found) const;

  mutable std::shared_mutex mutex_;
  std::map<uintptr_t, int64_t> live_;
  std::atomic<uint64_t> frees_{0};
  int64_t live_bytes_ = 0;
  int64_t peak_bytes_ = 0;
  int64_t limit_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_EMULATED_MEMORY_H_
