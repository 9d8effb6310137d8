// One compiled form of a function, and the table in which calls find theirs.
#ifndef PARAKEET_PYLIB_CORE_SPECIALIZATION_H_
#define PARAKEET_PYLIB_CORE_SPECIALIZATION_H_

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/core/expected_call.h"
#include "pylib/core/outside.h"
#include "pylib/manifest.h"
#include "pylib/python.h"
#include "runtime/image.h"

namespace parakeet::pylib {

struct CallTotals;

uint64_t HashKey(const uint64_t* words, size_t count);

// Written once when it is made, apart from its counters. All members are used with the GIL held,
// `image` and `program` excepted.
class Specialization {
 public:
  Specialization();
  ~Specialization();
  Specialization(const Specialization&) = delete;
  Specialization& operator=(const Specialization&) = delete;

  bool Matches(const Arguments& call) const;
  // Whether the call may take so long that others should run meanwhile.
  bool IsLong(const uint64_t* slots) const {
    if (is_never_long) return false;
    if (!manifest.is_bounded) return true;
    double total = 0;
    for (const CostTerm& term : manifest.cost) {
      double cycles = term.cycles;
      for (uint32_t slot : term.extents) cycles *= double(slots[slot]);
      total += cycles;
    }
    return total > kLongCycles;
  }
  // Runs the code. As PkEntry, or -1 with a Python exception set.
  int32_t Run(PkCall* call, const uint64_t* args, uint64_t* results) const {
    if (image != nullptr) return image->entry()(call, args, results);
    return RunProgram(call, args, results);
  }

  ExpectedCall expected;  // what `key` and `manifest` say; no call of the interpreter
  std::vector<uint64_t> key;
  uint64_t hash = 0;
  std::vector<Ref> statics;
  Manifest manifest;
  OutsideObjects outside;
  bool writes_arguments = false;
  bool is_never_long = false;             // whatever the sizes
  bool is_of_numbers = false;             // takes numbers and gives one (number_calls.h)
  std::unique_ptr<runtime::Image> image;  // or, for the interpreter:
  void* program = nullptr;

  const int64_t number;  // of all in the process, in the order in which they were made
  std::shared_ptr<CallTotals> profile;  // of the calls under profile() (profile.h)
  bool is_from_disk = false;
  double compile_ms = 0;  // from the miss to the first run
  int64_t calls = 0;
  int64_t timed_calls = 0;  // of `calls`, those with config.timing
  int64_t run_ns = 0;       // in timed calls
  int32_t running = 0;      // calls that are in its code now

 private:
  // Above this the GIL is worth giving up: 20 microseconds of a core at 3 GHz.
  static constexpr double kLongCycles = 60e3;

  int32_t RunProgram(PkCall* call, const uint64_t* args, uint64_t* results) const;
};

// Keeps a specialization from being freed while code of it runs without the GIL.
class Running {
 public:
  explicit Running(Specialization* specialization) : specialization_(specialization) {
    ++specialization_->running;
    ++specialization_->calls;
  }
  ~Running() { --specialization_->running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  Specialization* specialization_;
};

// A function's specializations by key. Readers take no lock: a table is never changed, only
// replaced by a larger one. A specialization that is replaced (an outside name has changed) is kept
// until no call runs in it.
class SpecializationTable {
 public:
  SpecializationTable();
  ~SpecializationTable();

  // Those that calls have found, each in the place it came to, then nulls. They are in the table.
  static constexpr size_t kRecent = 16;
  Specialization* recent(size_t at) const { return recent_[at]; }
  // The place of the one that came last behind the one that was taken last: calls repeat, or take
  // turns.
  size_t expected() const { return expected_; }
  // That the call in hand takes the one in a place, which is returned.
  Specialization* Took(size_t at) const {
    follower_[last_] = uint8_t(at);
    last_ = uint8_t(at);
    expected_ = follower_[at];
    return recent_[at];
  }
  // Null where there is none.
  Specialization* Find(const Arguments& call) const;
  // Takes the place of one with the same key and statics, if there is one.
  void Insert(std::unique_ptr<Specialization> specialization);
  // Takes out one that is stale.
  void Drop(const Specialization* specialization);
  void Clear();
  // In the order in which they were made.
  const std::vector<std::unique_ptr<Specialization>>& all() const { return all_; }

 private:
  struct Slots;
  void Retire(const Specialization& like);
  void Publish();
  // Puts one among the recent ones, as if it had been taken there.
  void Remember(Specialization* found) const;
  void ForgetRecent();

  mutable std::array<Specialization*, kRecent> recent_ = {};
  mutable std::array<uint8_t, kRecent> follower_ = {};  // by place, that of the one taken next
  mutable uint8_t last_ = 0;
  mutable uint8_t expected_ = 0;
  mutable size_t remembered_ = 0;  // how many have come to places; the oldest place is next
  std::atomic<const Slots*> slots_;
  std::vector<std::unique_ptr<Specialization>> all_;
  std::vector<std::unique_ptr<Specialization>> retired_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_SPECIALIZATION_H_
