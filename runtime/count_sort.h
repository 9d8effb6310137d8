// Sorting of integers that lie close together, by counting how often each is there: a tenth of the
// time of comparing them.
#ifndef PARAKEET_RUNTIME_COUNT_SORT_H_
#define PARAKEET_RUNTIME_COUNT_SORT_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/sort_in_parts.h"

namespace parakeet::runtime {

// Of fewer elements NumPy's kernels are as fast; of more values the counts leave the cache.
inline constexpr int64_t kFewestToCount = 1024;
inline constexpr uint64_t kMostCounted = uint64_t{1} << 17;

// The values that an array has lie from `least` on.
template <typename T>
struct ValueRange {
  T least;
  int64_t values;  // 0 where they are too many to count

  int64_t Number(T key) const { return int64_t(uint64_t(key) - uint64_t(least)); }
};

template <typename T>
ValueRange<T> FindValues(const T* data, int64_t count) {
  static_assert(std::is_integral_v<T>);
  if (count < kFewestToCount) return {0, 0};
  // A few tell soon where there is nothing to be had.
  for (const int64_t some : {int64_t{64}, count}) {
    T least = data[0], most = data[0];
    for (int64_t i = 0; i < some; ++i) {
      least = std::min(least, data[i]);
      most = std::max(most, data[i]);
    }
    const uint64_t apart = uint64_t(most) - uint64_t(least);
    if (apart >= std::min(kMostCounted, uint64_t(count) / 4)) return {0, 0};
    if (some == count) return {least, int64_t(apart) + 1};
  }
  return {0, 0};
}

// How often each value is there.
template <typename T>
void CountValues(const T* data, int64_t count, const ValueRange<T>& range, int64_t* counts) {
  std::fill_n(counts, range.values, 0);
  for (int64_t i = 0; i < count; ++i) ++counts[range.Number(data[i])];
}

// Sorts in place; false where it has done nothing.
template <typename T>
bool SortByCounting(T* data, int64_t count) {
  const ValueRange<T> range = FindValues(data, count);
  if (range.values == 0) return false;
  const PooledArray<int64_t> counts(range.values);
  if (counts.get() == nullptr) return false;
  CountValues(data, count, range, counts.get());
  for (int64_t k = 0; k < range.values; ++k)
    data = std::fill_n(data, counts.get()[k], T(uint64_t(range.least) + uint64_t(k)));
  return true;
}

// Writes to `places` the order of the elements, equal ones as they stand; false where it has done
// nothing.
template <typename T>
bool ArgSortByCounting(const T* data, int64_t* places, int64_t count) {
  const ValueRange<T> range = FindValues(data, count);
  if (range.values == 0) return false;
  const PooledArray<int64_t> counts(range.values);
  if (counts.get() == nullptr) return false;
  CountValues(data, count, range, counts.get());
  int64_t before = 0;
  for (int64_t k = 0; k < range.values; ++k) {
    const int64_t own = counts.get()[k];
    counts.get()[k] = before;
    before += own;
  }
  for (int64_t i = 0; i < count; ++i) places[counts.get()[range.Number(data[i])]++] = i;
  return true;
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_COUNT_SORT_H_
