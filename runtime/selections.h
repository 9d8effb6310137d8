// The routines that select: what is nan comes last, and is told apart before the rest.
#ifndef PARAKEET_RUNTIME_SELECTIONS_H_
#define PARAKEET_RUNTIME_SELECTIONS_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "runtime/select_places.h"
#include "runtime/short_rows.h"

namespace parakeet::runtime {

// Where several places lie so close together, one traversal finds what is around them all.
inline int64_t CloseTogether(int64_t count) { return count / 64; }

template <typename T>
bool IsNan(T key) {
  if constexpr (std::is_floating_point_v<T>) return key != key;
  return false;
}

template <typename T>
int64_t CountNans(PkCall* call, const T* data, int64_t count) {
  if constexpr (!std::is_floating_point_v<T>) return 0;
  const Parts parts = {count, ThreadsToSort(call, count)};
  std::vector<int64_t> counts(size_t(parts.parts));
  RunOnTeam(int32_t(parts.parts), parts.parts, [&](int64_t part) {
    const T* const begin = data + parts.Begin(part);
    int64_t nans = 0, i = 0;
    if constexpr (std::is_floating_point_v<T>) {
      if (HasLanesToSplit()) i = CountNanLanes(begin, parts.Size(part), &nans);
    }
    for (; i < parts.Size(part); ++i) nans += IsNan(begin[i]);
    counts[size_t(part)] = nans;
  });
  int64_t total = 0;
  for (const int64_t nans : counts) total += nans;
  return total;
}

// The places below `count`, in increasing order.
inline std::vector<int64_t> PlacesInOrder(const int64_t* asked, int64_t size, int64_t count) {
  std::vector<int64_t> places(asked, asked + size);
  if (!std::is_sorted(places.begin(), places.end())) std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  places.erase(std::lower_bound(places.begin(), places.end(), count), places.end());
  return places;
}

// Writes to `values` what stands at each of the places among numbers without nan; false where there
// is no memory.
template <typename T>
bool SelectNumbers(PkCall* call, SortKernel sort, const T* numbers, int64_t count,
                   const std::vector<int64_t>& places, T* values) {
  const PooledArray<T> found(count), spare(count);
  if (found.get() == nullptr || spare.get() == nullptr) return false;
  Selector<T, T> selector(call, sort);
  const int64_t *const begin = places.data(), *const end = begin + places.size();
  const auto size = int64_t(places.size());
  if (size > CloseTogether(count) && places.back() - places.front() == size - 1) {
    const int64_t ends[] = {places.front(), places.back()};
    selector.Partition(numbers, found.get(), spare.get(), count, ends, ends + 2);
    selector.Sort(found.get() + ends[0], size);
    std::copy_n(found.get() + ends[0], size, values);
    return true;
  }
  std::vector<const int64_t*> groups;
  for (const int64_t* place = begin; place < end; ++place) {
    if (groups.empty() || *place - *groups.back() > CloseTogether(count)) groups.push_back(place);
  }
  bool is_found = count > kFewToSelect<T> && groups.size() <= kMostTraversals;
  for (size_t i = 0; i < groups.size() && is_found; ++i) {
    const int64_t* const next = i + 1 < groups.size() ? groups[i + 1] : end;
    is_found = selector.Select(numbers, count, groups[i], next, found.get(), spare.get(),
                               values + (groups[i] - begin));
  }
  if (is_found) return true;
  selector.Partition(numbers, found.get(), spare.get(), count, begin, end);
  for (size_t i = 0; i < places.size(); ++i) values[i] = found.get()[places[i]];
  return true;
}

// Rows of so few elements are sorted sooner than memory for a selection is found.
constexpr int64_t kShortRow = 16;

// Writes to `sorted` what is made of the elements that are not nan, by insertion, which keeps equal
// ones in order; gives how many they are.
template <typename Element, typename T, typename MakeElement>
int64_t InsertNumbers(const T* data, int64_t count, Element* sorted, const MakeElement& make) {
  int64_t numbers = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (IsNan(data[i])) continue;
    const Element moved = make(i);
    int64_t place = numbers++;
    for (; place > 0 && ComesBefore(moved, sorted[place - 1]); --place)
      sorted[place] = sorted[place - 1];
    sorted[place] = moved;
  }
  return numbers;
}

// Writes the elements to `sorted`: what is nan stands behind the rest, or is left out. Gives how
// many are not.
template <typename T>
int64_t SortShortRow(PkCall* call, SortKernel sort, const T* data, int64_t count, T* sorted) {
  if (count <= kShortestRow) {
    const int64_t numbers = count - std::count_if(data, data + count, IsNan<T>);
    SortByRanks(data, count, sorted);
    PutZerosInOrder(sorted, numbers);
    return numbers;
  }
  T* const end = std::copy_if(data, data + count, sorted, [](T key) { return !IsNan(key); });
  Selector<T, T>(call, sort).Sort(sorted, end - sorted);
  return end - sorted;
}

template <typename T>
int64_t SelectInShortRow(PkCall* call, SortKernel sort, const T* data, int64_t count,
                         const int64_t* asked, int64_t size, T* values) {
  T sorted[kShortRow];
  const int64_t numbers = SortShortRow(call, sort, data, count, sorted);
  for (int64_t i = 0; i < size; ++i)
    values[i] = asked[i] < numbers ? sorted[asked[i]] : std::numeric_limits<T>::quiet_NaN();
  return count - numbers;
}

// Sorts so few by NumPy's kernel, nan behind the rest, into memory that need not be found.
template <typename T>
struct SortedRow {
  SortedRow(SortKernel sort, const T* data, int64_t count) {
    std::copy_n(data, count, elements);
    sort(elements, count, nullptr);
    PutZerosInOrder(elements, count);
  }

  T elements[std::max(kFewToSelect<T>, kFewInLanes<T>)];
};

template <typename T>
bool IsSortedWhole(int64_t count, int64_t places) {
  return count > kShortestRow && count <= FewToSelect<T>() && places > 0;
}

// Gives how many are nan.
template <typename T>
int64_t SelectInSortedRow(SortKernel sort, const T* data, int64_t count, const int64_t* asked,
                          int64_t size, T* values) {
  const SortedRow<T> row(sort, data, count);
  for (int64_t i = 0; i < size; ++i) values[i] = row.elements[asked[i]];
  int64_t nans = 0;
  while (nans < count && IsNan(row.elements[count - 1 - nans])) ++nans;
  return nans;
}

// Writes the indexes of what comes before a pivot, of what is equal to it and of what comes behind
// it, each from its place on and in order.
template <typename T>
void TellApart(const T* data, int64_t count, T pivot, int64_t equal, int64_t behind,
               int64_t* made) {
  constexpr int64_t kRoom = kSplitAtOnce + kLanesToSplit<int64_t>;
  int64_t list[3][kRoom];
  int64_t* next[] = {made, made + equal, made + behind};
  [[maybe_unused]] const bool has_lanes = HasLanesToSplit() && !IsNan(pivot);
  for (int64_t begin = 0; begin < count; begin += kSplitAtOnce) {
    const int64_t end = std::min(begin + kSplitAtOnce, count);
    int64_t sizes[3] = {}, i = begin;
    if constexpr (kLanesToSplit<T> > 0) {
      int64_t* lists[] = {list[0], list[1], list[2]};
      if (has_lanes) i += SplitIndexLanes(data + i, i, end - i, pivot, lists, sizes);
    }
    for (; i < end; ++i) {
      // Written to all three lists, since processors would guess a choice wrong.
      const int64_t is_before = ComesBefore(data[i], pivot),
                    is_behind = ComesBefore(pivot, data[i]);
      list[0][sizes[0]] = list[1][sizes[1]] = list[2][sizes[2]] = i;
      sizes[0] += is_before;
      sizes[1] += 1 - is_before - is_behind;
      sizes[2] += is_behind;
    }
    for (int side = 0; side < 3; ++side)
      next[side] = std::copy_n(list[side], sizes[side], next[side]);
  }
}

template <typename T>
void ArgPartitionSortedRow(SortKernel sort, const T* data, int64_t count, int64_t place,
                           int64_t* made) {
  const SortedRow<T> row(sort, data, count);
  const T pivot = row.elements[place];
  int64_t equal = place, behind = place + 1;
  while (equal > 0 && !ComesBefore(row.elements[equal - 1], pivot)) --equal;
  while (behind < count && !ComesBefore(pivot, row.elements[behind])) ++behind;
  TellApart(data, count, pivot, equal, behind, made);
}

// So many places are found sooner by sorting all. Orders take longer to sort.
inline bool AreMany(int64_t places, int64_t count) { return places >= count / 16; }
inline bool AreMost(int64_t places, int64_t count) { return places >= count / 4; }

// Gives how many are nan, or -1 without memory.
template <typename T>
int64_t SelectOfAllSorted(PkCall* call, SortKernel sort, const T* data, int64_t count,
                          const int64_t* asked, int64_t size, T* values) {
  const PooledArray<T> sorted(count);
  T* const elements = sorted.get();
  if (elements == nullptr) return -1;
  std::copy_n(data, count, elements);
  if (SortInParts(call, sort, elements, count) != 0) return -1;
  PutZerosInOrder(elements, count);
  for (int64_t i = 0; i < size; ++i) values[i] = elements[asked[i]];
  const auto is_number = [](T key) { return !IsNan(key); };
  return elements + count - std::partition_point(elements, elements + count, is_number);
}

// Operands: the elements, places, and what stands there. Gives how many elements are nan, or -1
// without memory.
template <typename T>
int64_t RunSelect(PkCall* call, SortKernel sort, const T* data, int64_t count, const int64_t* asked,
                  int64_t size, T* values) {
  if (IsSortedWhole<T>(count, size)) {
    return SelectInSortedRow(sort, data, count, asked, size, values);
  }
  if (count <= kShortRow) return SelectInShortRow(call, sort, data, count, asked, size, values);
  if (AreMany(size, count)) return SelectOfAllSorted(call, sort, data, count, asked, size, values);
  const int64_t nans = CountNans(call, data, count);
  const int64_t numbers = count - nans;
  const PooledArray<T> kept(nans > 0 ? numbers : 0);
  if (kept.get() == nullptr) return -1;
  if (nans > 0) std::copy_if(data, data + count, kept.get(), [](T key) { return !IsNan(key); });
  const std::vector<int64_t> places = PlacesInOrder(asked, size, numbers);
  std::vector<T> found(places.size());
  const T* const from = nans > 0 ? kept.get() : data;
  if (!places.empty() && !SelectNumbers(call, sort, from, numbers, places, found.data())) return -1;
  for (int64_t i = 0; i < size; ++i) {
    const auto place = std::lower_bound(places.begin(), places.end(), asked[i]);
    values[i] = place == places.end() ? std::numeric_limits<T>::quiet_NaN()
                                      : found[size_t(place - places.begin())];
  }
  return nans;
}

// Operands: the elements, places, and the elements partitioned there.
template <typename T>
int64_t RunPartition(PkCall* call, SortKernel sort, const T* data, int64_t count,
                     const int64_t* asked, int64_t size, T* made) {
  if (IsSortedWhole<T>(count, size)) {
    std::copy_n(data, count, made);
    sort(made, count, nullptr);
    PutZerosInOrder(made, count);
    return 0;
  }
  if (count <= kShortRow && size > 0) {
    const int64_t numbers = SortShortRow(call, sort, data, count, made);
    std::copy_if(data, data + count, made + numbers, IsNan<T>);
    return 0;
  }
  const int64_t nans = CountNans(call, data, count);
  const int64_t numbers = count - nans;
  const PooledArray<T> spare(numbers);
  if (spare.get() == nullptr) return -1;
  const T* from = data;
  if (nans > 0) {
    std::partition_copy(data, data + count, made + numbers, spare.get(), IsNan<T>);
    from = spare.get();
  }
  const std::vector<int64_t> places = PlacesInOrder(asked, size, numbers);
  Selector<T, T>(call, sort)
      .Partition(from, made, spare.get(), numbers, places.data(), places.data() + places.size());
  return 0;
}

// By what stands at the place.
template <typename T>
int64_t ArgPartitionAtOne(PkCall* call, SortKernel sort, const T* data, int64_t count,
                          int64_t place, int64_t* made) {
  T pivot;
  const int64_t nans = RunSelect(call, sort, data, count, &place, 1, &pivot);
  if (nans < 0) return -1;
  if (IsNan(pivot)) {
    TellApart(data, count, pivot, count - nans, count, made);
    return 0;
  }
  int64_t below = 0, above = 0, i = 0;
  if constexpr (kLanesToSplit<T> > 0) {
    if (HasLanesToSplit()) i = CountLanes(data, count, pivot, pivot, &below, &above);
  }
  for (; i < count; ++i) {
    below += data[i] < pivot;
    above += data[i] > pivot;
  }
  TellApart(data, count, pivot, below, count - above - nans, made);
  return 0;
}

// Behind the places of numbers stand those of nans, in order.
template <typename T>
void ArgSortShortRow(const T* data, int64_t count, int64_t* made) {
  Placed<T> sorted[kShortRow];
  const int64_t numbers =
      InsertNumbers(data, count, sorted, [&](int64_t i) { return Placed<T>{data[i], i}; });
  for (int64_t i = 0; i < numbers; ++i) made[i] = sorted[i].place;
  int64_t* next_nan = made + numbers;
  for (int64_t i = 0; i < count; ++i) {
    if (IsNan(data[i])) *next_nan++ = i;
  }
}

// Operands: the elements, places, and the indexes of the elements partitioned there.
template <typename T>
int64_t RunArgPartition(PkCall* call, SortKernel sort, const T* data, int64_t count,
                        const int64_t* asked, int64_t size, int64_t* made) {
  if (count <= kShortestRow && size > 0) {
    std::iota(made, made + count, int64_t{0});
    ArgSortByRanks(data, made, count, made);
    return 0;
  }
  if (size == 1 && IsSortedWhole<T>(count, size)) {
    ArgPartitionSortedRow(sort, data, count, asked[0], made);
    return 0;
  }
  if (count <= kShortRow && size > 0) {
    ArgSortShortRow(data, count, made);
    return 0;
  }
  if (size == 1) return ArgPartitionAtOne(call, sort, data, count, asked[0], made);
  const int64_t numbers = count - CountNans(call, data, count);
  const PooledArray<Placed<T>> from(numbers), to(numbers);
  if (from.get() == nullptr || to.get() == nullptr) return -1;
  Placed<T>* next = from.get();
  int64_t* next_nan = made + numbers;
  for (int64_t i = 0; i < count; ++i) {
    if (IsNan(data[i])) {
      *next_nan++ = i;
    } else {
      *next++ = {data[i], i};
    }
  }
  const std::vector<int64_t> places = PlacesInOrder(asked, size, numbers);
  Selector<T, Placed<T>>(call, sort)
      .Partition(from.get(), to.get(), from.get(), numbers, places.data(),
                 places.data() + places.size());
  for (int64_t i = 0; i < numbers; ++i) made[i] = to.get()[i].place;
  return 0;
}

// So many elements are looked through at a time for some that are kept, which are few.
inline constexpr int64_t kLookedThrough = 64;

// The elements between two, both included, with where they are, in order; and how many are below.
template <typename T>
std::vector<Placed<T>> KeepBetween(const T* data, int64_t count, T low, T high, int64_t* below) {
  std::vector<Placed<T>> kept;
  int64_t less = 0;
  for (int64_t begin = 0; begin < count; begin += kLookedThrough) {
    const int64_t end = std::min(begin + kLookedThrough, count);
    int64_t are_less = 0, are_inside = 0;
    for (int64_t i = begin; i < end; ++i) {
      are_less += data[i] < low;
      are_inside += (data[i] >= low) & (data[i] <= high);
    }
    less += are_less;
    for (int64_t i = begin; i < end && are_inside > 0; ++i) {
      if (data[i] >= low && data[i] <= high) kept.push_back({data[i], i});
    }
  }
  *below = less;
  return kept;
}

// Operands: the elements, places, and the indexes that sorting puts there, of equal elements and of
// nans in order. Gives -1 without memory.
template <typename T>
int64_t RunArgSelect(PkCall* call, SortKernel sort, const T* data, int64_t count,
                     const int64_t* asked, int64_t size, int64_t* made) {
  if (size == 0) return 0;
  if (count <= kShortRow) {
    int64_t order[kShortRow];
    ArgSortShortRow(data, count, order);
    for (int64_t i = 0; i < size; ++i) made[i] = order[asked[i]];
    return 0;
  }
  const auto [least, most] = std::minmax_element(asked, asked + size);
  const int64_t nans = CountNans(call, data, count), numbers = count - nans;
  std::vector<Placed<T>> kept;
  int64_t below = 0;
  if (*least < numbers) {
    const int64_t ends[] = {*least, std::min(*most, numbers - 1)};
    T bounds[2];
    if (RunSelect(call, sort, data, count, ends, 2, bounds) < 0) return -1;
    kept = KeepBetween(data, count, bounds[0], bounds[1], &below);
    std::stable_sort(kept.begin(), kept.end(),
                     [](const auto& a, const auto& b) { return ComesBefore(a, b); });
  }
  std::vector<int64_t> places_of_nans;
  for (int64_t i = 0; i < count && *most >= numbers; ++i) {
    if (IsNan(data[i])) places_of_nans.push_back(i);
  }
  for (int64_t i = 0; i < size; ++i) {
    made[i] = asked[i] < numbers ? kept[size_t(asked[i] - below)].place
                                 : places_of_nans[size_t(asked[i] - numbers)];
  }
  return 0;
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SELECTIONS_H_
