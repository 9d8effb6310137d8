// The one clock of timings: monotonic, in nanoseconds since an arbitrary start.
#ifndef PARAKEET_RUNTIME_CLOCK_H_
#define PARAKEET_RUNTIME_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace parakeet::runtime {

// About 20 ns: Linux answers it without entering the kernel.
inline int64_t NowNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CLOCK_H_
