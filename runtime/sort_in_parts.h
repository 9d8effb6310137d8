// An array sorted in parts, one a thread, which are then merged, two by two, in rounds.
#ifndef PARAKEET_RUNTIME_SORT_IN_PARTS_H_
#define PARAKEET_RUNTIME_SORT_IN_PARTS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/buffers.h"
#include "runtime/merge_runs.h"
#include "runtime/run_on_team.h"

namespace parakeet::runtime {

// PyArray_SortFunc and PyArray_ArgSortFunc: the last argument is an array of the dtype, which the
// kernels of numbers do not look at.
using SortKernel = int (*)(void* data, int64_t count, void* array);
using ArgSortKernel = int (*)(void* data, int64_t* places, int64_t count, void* array);

// A part of fewer elements is sorted sooner than a thread is woken for it.
inline constexpr int64_t kFewestOfPart = 16384;
// Tasks of a round for each thread: the threads are seldom equally fast.
inline constexpr int64_t kTasksOfThread = 4;
// Merges that one thread does side by side: as many as have room in its registers.
template <typename T>
inline constexpr int kSideBySide = 4;
template <typename T>
inline constexpr int kSideBySide<Placed<T>> = 2;

// `count` elements as parts of equal length, but for the last ones.
struct Parts {
  int64_t count;
  int64_t parts;

  int64_t Begin(int64_t part) const {
    return int64_t(static_cast<__int128>(count) * std::min(part, parts) / parts);
  }
  int64_t Size(int64_t part) const { return Begin(part + 1) - Begin(part); }
  // How often runs are merged two by two until there is one.
  int Rounds() const {
    int rounds = 0;
    for (int64_t width = 1; width < parts; width *= 2) ++rounds;
    return rounds;
  }
};

template <typename T>
class PooledArray {
 public:
  explicit PooledArray(int64_t count) : memory_(Allocate(uint64_t(count) * sizeof(T))) {}
  T* get() const { return static_cast<T*>(memory_.get()); }

 private:
  struct Free {
    void operator()(void* buffer) const { Release(buffer); }
  };
  std::unique_ptr<void, Free> memory_;
};

// Merges runs of `width` parts each, two by two. The last run may have no other: it is merged with
// nothing.
template <typename T, typename Out>
void MergeRound(int32_t threads, const Parts& parts, int64_t width, const T* from, Out* out) {
  constexpr int kMerges = kSideBySide<T>;
  const int64_t pairs = (parts.parts + 2 * width - 1) / (2 * width);
  const int64_t tasks = std::max<int64_t>(1, kTasksOfThread * threads / pairs);
  RunOnTeam(threads, pairs * tasks, [&](int64_t number) {
    const int64_t first = number / tasks * 2 * width, task = number % tasks;
    const int64_t begin = parts.Begin(first), middle = parts.Begin(first + width),
                  end = parts.Begin(first + 2 * width);
    const Parts stretches = {end - begin, tasks * kMerges};
    Merge<T, Out> merges[kMerges];
    for (int k = 0; k < kMerges; ++k) {
      const int64_t stretch = task * kMerges + k;
      merges[k] = StretchOf(from + begin, middle - begin, from + middle, end - middle, out + begin,
                            stretches.Begin(stretch), stretches.Begin(stretch + 1));
    }
    MergeSideBySide<kMerges>(merges);
  });
}

// Does all rounds but the last, in two arrays by turns; says where the two runs are that are left.
template <typename T>
T* MergeToTwo(int32_t threads, const Parts& parts, T* from, T* other) {
  for (int64_t width = 1; 2 * width < parts.parts; width *= 2) {
    MergeRound(threads, parts, width, from, other);
    std::swap(from, other);
  }
  return from;
}

inline int64_t WidthOfLastRound(const Parts& parts) {
  int64_t width = 1;
  while (2 * width < parts.parts) width *= 2;
  return width;
}

// How many threads are worth having for so many elements.
inline int32_t ThreadsToSort(const PkCall* call, int64_t count) {
  if (count < 2 * kFewestOfPart) return 1;
  return int32_t(std::min<int64_t>(FreeThreads(call), count / kFewestOfPart));
}

// Sorts in place: `kernel` the parts, which are copied before where the rounds are an odd number.
// Gives the kernel's status.
template <typename T>
int64_t SortInParts(PkCall* call, SortKernel kernel, T* data, int64_t count) {
  const int32_t threads = ThreadsToSort(call, count);
  if (threads == 1) return kernel(data, count, nullptr);
  const PooledArray<T> scratch(count);
  if (scratch.get() == nullptr) return kernel(data, count, nullptr);
  const Parts parts = {count, threads};
  const bool is_copied = parts.Rounds() % 2 == 1;
  T *from = is_copied ? scratch.get() : data, *other = is_copied ? data : scratch.get();
  std::atomic<int> status{0};
  RunOnTeam(threads, threads, [&](int64_t part) {
    T* begin = from + parts.Begin(part);
    if (is_copied) std::copy_n(data + parts.Begin(part), parts.Size(part), begin);
    if (const int failure = kernel(begin, parts.Size(part), nullptr)) status = failure;
  });
  if (status != 0) return status;
  MergeRound(threads, parts, WidthOfLastRound(parts), MergeToTwo(threads, parts, from, other),
             data);
  return 0;
}

// Writes to `places`, which counts from 0, the order of the elements.
template <typename T>
int64_t ArgSortInParts(PkCall* call, ArgSortKernel kernel, T* data, int64_t* places,
                       int64_t count) {
  const int32_t threads = ThreadsToSort(call, count);
  if (threads == 1) return kernel(data, places, count, nullptr);
  const PooledArray<Placed<T>> runs(count), scratch(threads > 2 ? count : 0);
  if (runs.get() == nullptr || scratch.get() == nullptr)
    return kernel(data, places, count, nullptr);
  const Parts parts = {count, threads};
  std::atomic<int> status{0};
  RunOnTeam(threads, threads, [&](int64_t part) {
    const int64_t begin = parts.Begin(part), size = parts.Size(part);
    int64_t* const order = places + begin;
    for (int64_t i = 0; i < size; ++i) order[i] = i;
    if (const int failure = kernel(data + begin, order, size, nullptr)) status = failure;
    for (int64_t i = 0; i < size; ++i)
      runs.get()[begin + i] = {data[begin + order[i]], begin + order[i]};
  });
  if (status != 0) return status;
  const Placed<T>* from = MergeToTwo(threads, parts, runs.get(), scratch.get());
  MergeRound(threads, parts, WidthOfLastRound(parts), from, places);
  return 0;
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SORT_IN_PARTS_H_
