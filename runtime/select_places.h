// What sorting puts at a few places, found without sorting the rest.
//
// A sorted sample says between which two elements those of a place lie, and one traversal tells
// what is less, between, and greater; of those between there are few, which are done alike.
// Elements keep their order within the three, so that nothing depends on the number of threads.
//
// Source: Floyd, Rivest, "Expected time bounds for selection", 1975, with both bounds at once.
#ifndef PARAKEET_RUNTIME_SELECT_PLACES_H_
#define PARAKEET_RUNTIME_SELECT_PLACES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/short_rows.h"
#include "runtime/sort_in_parts.h"
#include "runtime/split_lanes.h"

namespace parakeet::runtime {

// So many are sorted by themselves: those with places by comparing, the others by NumPy's kernel.
template <typename Element>
inline constexpr int64_t kFewToSelect = 192;
template <typename T>
inline constexpr int64_t kFewToSelect<Placed<T>> = 96;
// The kernel's networks for registers of 64 bytes sort more: of integers of 64 bits, which take two
// operations to be exchanged, up to a smaller size.
template <typename Element>
inline constexpr int64_t kFewInLanes = kLanesToSplit<Element> == 0 ? kFewToSelect<Element>
                                       : std::is_integral_v<Element> && sizeof(Element) == 8 ? 256
                                                                                             : 512;

template <typename Element>
int64_t FewToSelect() {
  if constexpr (kFewInLanes<Element> > kFewToSelect<Element>) {
    if (HasLanesToSplit()) return kFewInLanes<Element>;
  }
  return kFewToSelect<Element>;
}

// Elements that are told apart at a time, into lists in the nearest cache.
inline constexpr int64_t kSplitAtOnce = 512;
// Places that lie apart take a traversal each; more than so many split the array again and again.
inline constexpr size_t kMostTraversals = 8;

// Where one element in so many has a place, all are sorted.
inline constexpr int64_t kDensePlaces = 4;

template <typename T>
T KeyOf(T element) {
  return element;
}

template <typename T>
T KeyOf(const Placed<T>& element) {
  return element.key;
}

// What lies between two keys, both included.
template <typename T>
struct Bracket {
  T low;
  T high;

  bool IsBelow(T key) const { return key < low; }
  bool IsAbove(T key) const { return key > high; }
  bool HasOne() const { return low == high; }
};

// How many elements are below a bracket and how many in it.
struct SplitCounts {
  int64_t below = 0;
  int64_t inside = 0;
};

// Of a sample so large, this much of it to either side has the place nearly always.
inline int64_t SampleSize(int64_t count) { return std::clamp<int64_t>(count / 64, 64, 4096); }

// Selects among elements T, or Placed<T>, none of which is nan. Places are numbers of sorted
// elements, in increasing order.
template <typename T, typename Element>
class Selector {
 public:
  Selector(PkCall* call, SortKernel sort) : call_(call), sort_(sort) {}

  // Writes to `to` what is in `from` so that every place has what sorting puts there, nothing
  // greater is before and nothing less behind. The first element is number `base` to the places.
  // `spare` has as many elements; it may be `from`.
  void Partition(const Element* from, Element* to, Element* spare, int64_t count,
                 const int64_t* places, const int64_t* places_end, int64_t base = 0) {
    if (places == places_end || count <= FewToSelect<Element>()) {
      std::copy_n(from, count, to);
      if (places != places_end) Sort(to, count);
      return;
    }
    if ((places_end - places) * kDensePlaces >= count) {
      std::copy_n(from, count, to);
      return Sort(to, count);
    }
    const int64_t place = places[(places_end - places) / 2] - base;
    const Bracket<T> bracket = Around(from, count, place, place);
    const SplitCounts counts = Split(from, count, bracket, to);
    const int64_t begins[] = {0, counts.below, counts.below + counts.inside, count};
    for (int part = 0; part < 3; ++part) {
      const int64_t begin = begins[part], size = begins[part + 1] - begin;
      const int64_t* const first = std::lower_bound(places, places_end, base + begin);
      const int64_t* const last = std::lower_bound(first, places_end, base + begin + size);
      if (first == last) continue;
      if (part == 1 && bracket.HasOne()) {
        if constexpr (std::is_same_v<T, Element>) PutZerosInOrder(to + begin, size);
      } else if (size == count) {
        Sort(to, count);
      } else {
        std::copy_n(to + begin, size, spare + begin);
        Partition(spare + begin, to + begin, spare + begin, size, first, last, base + begin);
      }
    }
  }

  // Writes to `values` what stands at the places, which lie close together; false where the sample
  // has misled. `found` and `spare` have room for all elements.
  bool Select(const Element* from, int64_t count, const int64_t* places, const int64_t* places_end,
              Element* found, Element* spare, Element* values) {
    const int64_t first = places[0], last = places_end[-1];
    const SplitCounts counts = Keep(from, count, Around(from, count, first, last), spare);
    if (first < counts.below || last >= counts.below + counts.inside) return false;
    Partition(spare, found, spare, counts.inside, places, places_end, counts.below);
    for (; places < places_end; ++places) *values++ = found[*places - counts.below];
    return true;
  }

  void Sort(Element* elements, int64_t count) {
    if constexpr (std::is_same_v<T, Element>) {
      if (count > 1) sort_(elements, count, nullptr);
      PutZerosInOrder(elements, count);
    } else {
      std::stable_sort(elements, elements + count,
                       [](const Element& a, const Element& b) { return ComesBefore(a, b); });
    }
  }

 private:
  static constexpr T Least() {
    if constexpr (std::is_floating_point_v<T>) return -std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::lowest();
  }

  static constexpr T Greatest() {
    if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::infinity();
    return std::numeric_limits<T>::max();
  }

  // A bracket that has the places from first to last nearly always. What is equal to much of the
  // sample is a bracket by itself.
  Bracket<T> Around(const Element* from, int64_t count, int64_t first, int64_t last) {
    const int64_t size = SampleSize(count);
    T sample[4096];
    // Places drawn by Knuth's generator of 64 bits: no pattern of the elements' is theirs.
    uint64_t state = uint64_t(count);
    for (int64_t i = 0; i < size; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto at = static_cast<unsigned __int128>(state) * uint64_t(count) >> 64;
      sample[i] = KeyOf(from[int64_t(at)]);
    }
    sort_(sample, size, nullptr);
    const auto rank = [&](int64_t place) {
      return std::min(size - 1, int64_t(double(place) / double(count) * double(size)));
    };
    const T likely = sample[rank(first)];
    const auto [begin, end] = std::equal_range(sample, sample + size, likely);
    if (rank(last) < end - sample && end - begin > size / 8) return {likely, likely};
    // The deviation of a rank is half the root of the sample's size at the middle, less outside.
    const auto apart = [&](int64_t place) {
      const double q = double(place) / double(count);
      return int64_t(2.5 * std::sqrt(double(size) * q * (1 - q))) + 3;
    };
    const int64_t low = rank(first) - apart(first), high = rank(last) + apart(last);
    return {low < 0 ? Least() : sample[low], high >= size ? Greatest() : sample[high]};
  }

  // In which parts, one a thread, an array is gone through.
  Parts PartsOf(int64_t count) const { return {count, ThreadsToSort(call_, count)}; }

  static SplitCounts Count(const Element* from, int64_t count, const Bracket<T> bracket) {
    int64_t below = 0, above = 0, i = 0;
    if constexpr (kLanesToSplit<Element> > 0) {
      if (HasLanesToSplit()) i = CountLanes(from, count, bracket.low, bracket.high, &below, &above);
    }
    for (; i < count; ++i) {
      below += bracket.IsBelow(KeyOf(from[i]));
      above += bracket.IsAbove(KeyOf(from[i]));
    }
    return {below, count - below - above};
  }

  // Writes to `to` what is below, inside and above, one behind the other.
  SplitCounts Split(const Element* from, int64_t count, const Bracket<T>& bracket, Element* to) {
    const Parts parts = PartsOf(count);
    std::vector<SplitCounts> counts(size_t(parts.parts));
    RunOnTeam(int32_t(parts.parts), parts.parts, [&](int64_t part) {
      counts[size_t(part)] = Count(from + parts.Begin(part), parts.Size(part), bracket);
    });
    SplitCounts total;
    for (const SplitCounts& one : counts) {
      total.below += one.below;
      total.inside += one.inside;
    }
    std::vector<Lists> starts(counts.size());
    Lists next = {to, to + total.below, to + total.below + total.inside};
    for (int64_t part = 0; part < parts.parts; ++part) {
      const SplitCounts& own = counts[size_t(part)];
      starts[size_t(part)] = next;
      next.below += own.below;
      next.inside += own.inside;
      next.above += parts.Size(part) - own.below - own.inside;
    }
    RunOnTeam(int32_t(parts.parts), parts.parts, [&](int64_t part) {
      SplitPart(from + parts.Begin(part), parts.Size(part), bracket, starts[size_t(part)]);
    });
    return total;
  }

  // Where the next element of each kind goes to.
  struct Lists {
    Element* below;
    Element* inside;
    Element* above;
  };

  // Which kind an element is of is as good as random: it is written to all three lists, and one of
  // them becomes longer.
  static void SplitPart(const Element* from, int64_t count, const Bracket<T> bracket, Lists to) {
    constexpr int64_t kRoom = kSplitAtOnce + std::max<int64_t>(1, kLanesToSplit<Element>);
    Element below[kRoom], inside[kRoom], above[kRoom];
    [[maybe_unused]] const bool has_lanes = HasLanesToSplit();
    for (int64_t begin = 0; begin < count; begin += kSplitAtOnce) {
      const int64_t size = std::min(kSplitAtOnce, count - begin);
      int64_t is_below = 0, is_inside = 0, is_above = 0, i = 0;
      if constexpr (kLanesToSplit<Element> > 0) {
        if (has_lanes) {
          Element* lists[] = {below, inside, above};
          int64_t sizes[3] = {};
          i = SplitLanes(from + begin, size, bracket.low, bracket.high, lists, sizes);
          is_below = sizes[0], is_inside = sizes[1], is_above = sizes[2];
        }
      }
      for (; i < size; ++i) {
        const Element element = from[begin + i];
        below[is_below] = element;
        inside[is_inside] = element;
        above[is_above] = element;
        const int64_t less = bracket.IsBelow(KeyOf(element));
        const int64_t greater = bracket.IsAbove(KeyOf(element));
        is_below += less;
        is_above += greater;
        is_inside += 1 - less - greater;
      }
      to.below = std::copy_n(below, is_below, to.below);
      to.inside = std::copy_n(inside, is_inside, to.inside);
      to.above = std::copy_n(above, is_above, to.above);
    }
  }

  // Writes to `to`, which has room for all, what is inside.
  SplitCounts Keep(const Element* from, int64_t count, const Bracket<T>& bracket, Element* to) {
    const Parts parts = PartsOf(count);
    std::vector<SplitCounts> counts(size_t(parts.parts));
    RunOnTeam(int32_t(parts.parts), parts.parts, [&](int64_t part) {
      const int64_t begin = parts.Begin(part);
      counts[size_t(part)] = KeepPart(from + begin, parts.Size(part), bracket, to + begin);
    });
    SplitCounts total = counts[0];
    for (int64_t part = 1; part < parts.parts; ++part) {
      const SplitCounts& own = counts[size_t(part)];
      const Element* const begin = to + parts.Begin(part);
      std::copy(begin, begin + own.inside, to + total.inside);
      total.below += own.below;
      total.inside += own.inside;
    }
    return total;
  }

  // What is kept never overtakes what is read, so that the place behind it is always there.
  static SplitCounts KeepPart(const Element* from, int64_t count, const Bracket<T> bracket,
                              Element* to) {
    int64_t below = 0, inside = 0, i = 0;
    if constexpr (kLanesToSplit<Element> > 0) {
      if (HasLanesToSplit())
        i = KeepLanes(from, count, bracket.low, bracket.high, to, &below, &inside);
    }
    for (; i < count; ++i) {
      const Element element = from[i];
      to[inside] = element;
      const int64_t less = bracket.IsBelow(KeyOf(element));
      below += less;
      inside += 1 - less - int64_t(bracket.IsAbove(KeyOf(element)));
    }
    return {below, inside};
  }

  PkCall* call_;
  SortKernel sort_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SELECT_PLACES_H_
