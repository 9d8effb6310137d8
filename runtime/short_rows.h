// Rows of few elements, which are sorted sooner than a kernel begins, and zeros put in order.
#ifndef PARAKEET_RUNTIME_SHORT_ROWS_H_
#define PARAKEET_RUNTIME_SHORT_ROWS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/merge_runs.h"

namespace parakeet::runtime {

// So many elements are sorted sooner than a kernel of NumPy's begins,
inline constexpr int64_t kShortestRow = 12;
// and so many are looked through for zeros sooner than by halves, which processors guess wrong.
inline constexpr int64_t kFewToLookThrough = 64;

// Gives each of a few elements its place once they are sorted, nan behind the rest: how many come
// before it. Equal ones keep their order. Without branches, which would be guessed wrong.
template <typename T>
void FindRanks(const T* data, int64_t count, int64_t* ranks) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t rank = i;
    for (int64_t j = 0; j < i; ++j) {
      const int64_t is_before = ComesBefore(data[i], data[j]);
      ranks[j] += is_before;
      rank -= is_before;
    }
    ranks[i] = rank;
  }
}

// Writes up to kShortestRow elements to `sorted`, which may be where they are.
template <typename T>
void SortByRanks(const T* data, int64_t count, T* sorted) {
  int64_t ranks[kShortestRow];
  T copy[kShortestRow];
  FindRanks(data, count, ranks);
  std::copy_n(data, count, copy);
  for (int64_t i = 0; i < count; ++i) sorted[ranks[i]] = copy[i];
}

// Writes the places of up to kShortestRow elements to `sorted`, which may be where they are.
template <typename T>
void ArgSortByRanks(const T* data, const int64_t* places, int64_t count, int64_t* sorted) {
  int64_t ranks[kShortestRow];
  int64_t copy[kShortestRow];
  FindRanks(data, count, ranks);
  std::copy_n(places, count, copy);
  for (int64_t i = 0; i < count; ++i) sorted[ranks[i]] = copy[i];
}

// -0 before 0, which are alike to whatever sorts.
template <typename T>
void PutZerosInOrder(T* sorted, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    if (count <= kFewToLookThrough) {
      bool has_zero = false;
      for (int64_t i = 0; i < count; ++i) has_zero |= sorted[i] == T(0);
      if (!has_zero) return;
    }
    const auto [begin, end] =
        std::equal_range(sorted, sorted + count, T(0), [](T a, T b) { return ComesBefore(a, b); });
    const int64_t negative = std::count_if(begin, end, [](T zero) { return std::signbit(zero); });
    std::fill(begin, begin + negative, T(-0.0));
    std::fill(begin + negative, end, T(0));
  }
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SHORT_ROWS_H_
