// How large arrays are that the host had better store past its caches, and how much of one it had
// better work on at a time.
#ifndef PARAKEET_BACKENDS_HOST_CACHES_H_
#define PARAKEET_BACKENDS_HOST_CACHES_H_

#include <cstdint>

namespace parakeet::backends {

// Arrays of `least` bytes or more that have `of_thread` bytes for each thread that stores to them.
struct StreamedBytes {
  int64_t least = 0;  // 0 where the host does not say what caches it has
  int64_t of_thread = 0;
};

// Of a processor whose caches are `second` bytes a core and `third` bytes for all (0: none).
StreamedBytes StreamedBytesOf(int64_t second, int64_t third);
StreamedBytes HostStreamedBytes();

// Of what a thread goes through again and again, so much as stays in its core's second cache beside
// what another thread of the core has there.
int64_t HostBandBytes();

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_HOST_CACHES_H_
