// Parallel regions as compiled code runs them: through the bound library's __kmpc_ functions.
#ifndef PARAKEET_TESTS_RUNTIME_PARALLEL_REGION_H_
#define PARAKEET_TESTS_RUNTIME_PARALLEL_REGION_H_

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "runtime/openmp_library.h"
#include "runtime/symbols.h"

namespace parakeet::runtime {

// The library that the package would carry; empty where this machine has none.
inline std::string TestOpenMpPath() {
  if (const char* path = std::getenv("PARAKEET_TEST_LIBOMP")) return path;
  const char* debian = "/usr/lib/llvm-19/lib/libomp.so.5";
  return access(debian, R_OK) == 0 ? debian : "";
}

// As OpenMP's ident_t.
struct Location {
  int32_t reserved1 = 0;
  int32_t flags = 2;
  int32_t reserved2 = 0;
  int32_t reserved3 = 22;
  const char* source = ";test;test;0;0;;";
};

// What one region has seen.
struct Region {
  std::atomic<int> threads{0};
  std::atomic<uint64_t> members{0};  // bit k: thread number k of the team took part
  std::atomic<int64_t> sum{0};
};

inline void RegionBody(int32_t* /*global*/, int32_t* number, Region* region) {
  ++region->threads;
  region->members |= uint64_t{1} << *number;
  for (int i = 1; i <= 100; ++i) region->sum += i;
}

// Runs RegionBody on `team` threads. Assumes BindOpenMp has succeeded.
inline void RunRegion(int32_t team, Region* region) {
  static Location location;
  using ThreadNumber = int32_t (*)(Location*);
  using PushNumThreads = void (*)(Location*, int32_t, int32_t);
  using ForkCall = void (*)(Location*, int32_t, void (*)(int32_t*, int32_t*, Region*), ...);
  const auto find = [](const char* name) { return const_cast<void*>(Table()->symbol(name)); };
  const auto number = reinterpret_cast<ThreadNumber>(find("__kmpc_global_thread_num"));
  const auto push = reinterpret_cast<PushNumThreads>(find("__kmpc_push_num_threads"));
  const auto fork_call = reinterpret_cast<ForkCall>(find("__kmpc_fork_call"));
  push(&location, number(&location), team);
  fork_call(&location, 1, RegionBody, region);
}

// Whether a region on `team` threads does what it should.
inline bool RegionWorks(int32_t team) {
  Region region;
  RunRegion(team, &region);
  return region.threads == team && region.members == (uint64_t{1} << team) - 1 &&
         region.sum == 5050 * team;
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_TESTS_RUNTIME_PARALLEL_REGION_H_
