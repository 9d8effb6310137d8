// How many threads a parallel region gets.
//
// The number is ours alone: it goes into PkCall.team of each call, and compiled code asks for it
// region by region (__kmpc_push_num_threads), so other users of the same OpenMP library keep their
// own settings.
#ifndef PARAKEET_RUNTIME_TEAM_H_
#define PARAKEET_RUNTIME_TEAM_H_

#include <cstdint>
#include <string>

namespace parakeet::runtime {

inline constexpr int32_t kMaxThreads = 1024;

// The number for the next call, 1 .. kMaxThreads. At first PARAKEET_NUM_THREADS where that is a
// number in this range, else the cores this process may run on.
int32_t ThreadCount();

// Returns false, changing nothing, when `count` is out of range.
bool SetThreadCount(int32_t count);

// Empty, or what is wrong with PARAKEET_NUM_THREADS, for the caller to show once.
std::string ThreadCountProblem();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_TEAM_H_
