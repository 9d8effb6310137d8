// The run-time error of a call: which check failed first in program order, and what its message
// shows.
#ifndef PARAKEET_RUNTIME_ERROR_SLOT_H_
#define PARAKEET_RUNTIME_ERROR_SLOT_H_

#include <cstdint>
#include <vector>

namespace parakeet::runtime {

struct ErrorRecord {
  int32_t site = 0;              // of the manifest, or a PkReservedSite
  std::vector<int64_t> place;    // statement numbers and loop indexes, outermost first
  std::vector<int64_t> scalars;  // encoded as slots (abi.h)
};

// Keeps the record with the lexicographically least place; the first recorded among equals. Not
// thread-safe: the call holds a lock. Costs nothing to make while nothing fails.
class ErrorSlot {
 public:
  // Never throws: where memory for the record is exhausted, it becomes a kPkSiteMemory.
  void Record(int32_t site, int32_t place_count, const int64_t* place, int32_t scalar_count,
              const int64_t* scalars) noexcept;

  bool is_set() const { return is_set_; }
  const ErrorRecord& record() const { return record_; }

 private:
  bool is_set_ = false;
  ErrorRecord record_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_ERROR_SLOT_H_
