// Sorted runs of elements, two merged into one, of which any stretch can be made by itself.
//
// Source: Green, Odeh, Birk, "Merge path: a visually intuitive approach to parallel merging", 2014.
#ifndef PARAKEET_RUNTIME_MERGE_RUNS_H_
#define PARAKEET_RUNTIME_MERGE_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace parakeet::runtime {

// NumPy's order of numbers: nan behind all others, -0 and 0 alike. Without branches.
template <typename T>
bool ComesBefore(T a, T b) {
  if constexpr (std::is_integral_v<T>) return a < b;
  return !(b <= a) & (a == a);
}

// A number, and where it stood.
template <typename T>
struct Placed {
  T key;
  int64_t place;
};

template <typename T>
bool ComesBefore(const Placed<T>& a, const Placed<T>& b) {
  return ComesBefore(a.key, b.key);
}

template <typename T>
void Put(const T& from, T* out) {
  *out = from;
}

template <typename T>
void Put(const Placed<T>& from, int64_t* out) {
  *out = from.place;
}

// What is left of two runs, and where their elements, or the places of these, go to.
template <typename T, typename Out>
struct Merge {
  const T* left;
  const T* left_end;
  const T* right;
  const T* right_end;
  Out* out;

  int64_t CertainSteps() const { return std::min(left_end - left, right_end - right); }

  // The next element. Of equal ones that of the left run comes first, so that the order is stable.
  // Which run it comes from is as good as random: where to read is computed, since compilers make a
  // branch of a choice.
  void Step() {
    const intptr_t takes_right = ComesBefore(*right, *left);
    const auto from = reinterpret_cast<intptr_t>(left), other = reinterpret_cast<intptr_t>(right);
    Put(*reinterpret_cast<const T*>(from + ((other - from) & -takes_right)), out++);
    right += takes_right;
    left += 1 - takes_right;
  }

  // What is left once one run is used up.
  void CopyRest() {
    while (left < left_end) Put(*left++, out++);
    while (right < right_end) Put(*right++, out++);
  }
};

// How many of the first `count` merged elements come from the left run.
template <typename T>
int64_t CountOfLeft(const T* left, int64_t left_size, const T* right, int64_t right_size,
                    int64_t count) {
  int64_t low = std::max<int64_t>(0, count - right_size), high = std::min(count, left_size);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (ComesBefore(right[count - middle - 1], left[middle])) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The merged elements from number `begin` to `end` of two runs, written to `out` + begin.
template <typename T, typename Out>
Merge<T, Out> StretchOf(const T* left, int64_t left_size, const T* right, int64_t right_size,
                        Out* out, int64_t begin, int64_t end) {
  const int64_t first = CountOfLeft(left, left_size, right, right_size, begin);
  const int64_t last = CountOfLeft(left, left_size, right, right_size, end);
  return {left + first, left + last, right + (begin - first), right + (end - last), out + begin};
}

// Several merges, a step of each in turn: a step waits for the one before it, not for the others.
template <int kMerges, typename T, typename Out>
void MergeSideBySide(Merge<T, Out>* merges) {
  while (true) {
    int64_t steps = merges[0].CertainSteps();
    for (int k = 1; k < kMerges; ++k) steps = std::min(steps, merges[k].CertainSteps());
    if (steps == 0) break;
    Merge<T, Out> at[kMerges];
    std::copy(merges, merges + kMerges, at);
    for (int64_t i = 0; i < steps; ++i) {
#pragma GCC unroll 4
      for (int k = 0; k < kMerges; ++k) at[k].Step();
    }
    std::copy(at, at + kMerges, merges);
  }
  for (int k = 0; k < kMerges; ++k) {
    Merge<T, Out> at = merges[k];
    while (const int64_t steps = at.CertainSteps()) {
      for (int64_t i = 0; i < steps; ++i) at.Step();
    }
    at.CopyRest();
  }
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_MERGE_RUNS_H_
