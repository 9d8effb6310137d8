// Work of the runtime's own, spread over the threads of a call.
#ifndef PARAKEET_RUNTIME_RUN_ON_TEAM_H_
#define PARAKEET_RUNTIME_RUN_ON_TEAM_H_

#include <cstdint>
#include <functional>

#include "runtime/abi.h"

namespace parakeet::runtime {

// How many threads the call may use here: its team, or 1 where a team is at work already or no
// OpenMP library can be had.
int32_t FreeThreads(const PkCall* call);

// Runs task(0) .. task(count - 1), each once, on at most `threads` threads, in any order; returns
// when all have run. A task throws nothing. Assumes 1 <= threads <= FreeThreads of the call.
void RunOnTeam(int32_t threads, int64_t count, const std::function<void(int64_t)>& task);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_RUN_ON_TEAM_H_
