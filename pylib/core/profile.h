// What the calls under parakeet.profile() took. One profile at a time, of all threads.
#ifndef PARAKEET_PYLIB_CORE_PROFILE_H_
#define PARAKEET_PYLIB_CORE_PROFILE_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "pylib/core/function.h"
#include "pylib/python.h"
#include "runtime/profile.h"

namespace parakeet::pylib {

// Of the calls of one specialization in one profile.
struct CallTotals {
  int64_t profile = 0;  // the profile's number
  int64_t calls = 0;
  int64_t failed = 0;  // of the calls, those that raised
  int64_t ns = 0;
  int64_t allocated = 0;  // bytes of buffers
  std::vector<runtime::RegionTotals> regions;
};

// Set while a profile runs; read at each call.
extern std::atomic<bool> is_profiling;

// The functions below are used with the GIL held.

// False with an exception set where one runs already.
bool StartProfile();
// A list with a dictionary for each specialization that was called: what RecordOf says of it, its
// "function", and "profile" with its totals. Null with an exception set.
PyObject* StopProfile();

// Adds a call that has ended, its last region too. Nothing where no profile runs.
void RecordCall(const FunctionState& function, Specialization* code, const runtime::Profile& call,
                int64_t ns, bool has_failed);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_PROFILE_H_
