// Where the time of one call of profiled code goes.
#ifndef PARAKEET_RUNTIME_PROFILE_H_
#define PARAKEET_RUNTIME_PROFILE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/clock.h"

namespace parakeet::runtime {

// What one region took, or several calls of it together. Bytes and operations are what its code
// says of itself by the sizes at hand; where it did not know, in one entry or more, they are
// less than what it did, and `knows_...` is false.
struct RegionTotals {
  int64_t entries = 0;
  int64_t ns = 0;
  int64_t bytes = 0;       // of arrays read and written
  int64_t operations = 0;  // on floats
  int64_t allocated = 0;   // bytes of buffers
  bool knows_bytes = true;
  bool knows_operations = true;

  void Add(const RegionTotals& more);
};

// The clock of one call. Regions begin on the thread that called; buffers are made on any, and the
// call locks for them.
class Profile {
 public:
  static constexpr int64_t kNoEntry = -2;

  explicit Profile(size_t regions) : regions_(regions) {}

  // From here on time and buffers are the region's; -1 where a number is not known. With kNoEntry
  // for `bytes` what comes is made for it, and it is still to be entered.
  void Begin(int32_t region, int64_t bytes, int64_t operations);
  void Allocate(int64_t bytes);
  // The end of the region that runs, if one does: now, or when the clock said `now`.
  void End(int64_t now = NowNanoseconds());

  const std::vector<RegionTotals>& regions() const { return regions_; }
  // Bytes of all buffers, in regions or not.
  int64_t allocated() const { return allocated_; }

 private:
  std::vector<RegionTotals> regions_;
  int64_t before_first_ = 0;  // bytes of buffers made where no region ran: the next one's
  RegionTotals* current_ = nullptr;
  int64_t since_ = 0;
  int64_t allocated_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_PROFILE_H_
