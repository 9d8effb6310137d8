// Whether and how the trips of a parallel loop are shared among the threads of a call's team.
#ifndef PARAKEET_RUNTIME_FORK_H_
#define PARAKEET_RUNTIME_FORK_H_

#include <cstdint>

#include "runtime/abi.h"

namespace parakeet::runtime {

// The trips as pieces of the same length, but for one trip. They depend on the team, never on which
// threads the OpenMP library grants.
struct Shares {
  int64_t pieces;   // 0 where a fork is not worth it
  bool is_dynamic;  // Threads take one piece after another; else the same ones each time.
};

// For a team of `team` threads; `cost` and `how` as pk_fork has them.
Shares SharesOf(int64_t trips, int64_t cost, int32_t team, int32_t how);

// An OpenMP region of `team` threads that runs `body` once for each piece. Assumes that there are.
void RunShared(PkCall* call, PkForkBody body, void* captures, int64_t trips, Shares shares,
               int32_t team, bool yields);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_FORK_H_
