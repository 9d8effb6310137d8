// What the trips of parallel loops have taken. Compiled code guesses it: what elements say, as how
// long a row is, nobody knows before the loop runs. Answers do not depend on it, only who works.
#ifndef PARAKEET_RUNTIME_TRIP_COSTS_H_
#define PARAKEET_RUNTIME_TRIP_COSTS_H_

#include <atomic>
#include <cstdint>

#include "runtime/abi.h"

namespace parakeet::runtime {

// Cycles since an arbitrary start, at the processor's nominal rate. 7 ns, on virtual machines 25.
inline int64_t NowCycles() { return static_cast<int64_t>(__builtin_ia32_rdtsc()); }

// Of the loops that ran last, by the address of their body and the doubling that their number of
// trips is in: rows of small matrices are shorter than those of large ones. Loops that fall
// together take turns, and a loop may be told what another took that was at its address before:
// both are right again after one run. Any thread may ask and tell.
class TripCosts {
 public:
  static TripCosts& OfProcess();

  // Cycles of a trip where there are `trips` > 0 of them, at least 1; 0 for a loop not seen so.
  int64_t Of(PkForkBody body, int64_t trips) const;

  // Whether a run on one thread should be timed: the first one, and then every 16th.
  bool IsDue(PkForkBody body, int64_t trips);

  // All trips have taken `cycles`, on all threads together. What is less is taken at its word; more
  // may be somebody else's turn at the core, and counts by a quarter.
  void Note(PkForkBody body, int64_t trips, int64_t cycles);

 private:
  struct Entry {
    std::atomic<uint64_t> key{0};
    std::atomic<int64_t> cost{0};
    std::atomic<uint32_t> runs{0};
  };
  static constexpr int kBits = 10;

  static uint64_t KeyOf(PkForkBody body, int64_t trips);
  static uint64_t PlaceOf(uint64_t key);

  Entry entries_[1 << kBits];
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_TRIP_COSTS_H_
