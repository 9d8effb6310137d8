// Numbers told apart by two bounds, a register of 512 bits at a time: whole registers of them, on
// processors that have AVX-512. Each kind is moved to the front of a register, which is stored
// whole; what stands behind those of the kind is stored over later.
#ifndef PARAKEET_RUNTIME_SPLIT_LANES_H_
#define PARAKEET_RUNTIME_SPLIT_LANES_H_

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace parakeet::runtime {

#define PARAKEET_LANES __attribute__((target("avx512f,popcnt"))) inline

// Whether a register takes such elements apart; none for others.
template <typename Element>
inline constexpr int64_t kLanesToSplit =
    std::is_arithmetic_v<Element> && (sizeof(Element) == 4 || sizeof(Element) == 8)
        ? 64 / int64_t(sizeof(Element))
        : 0;

inline bool HasLanesToSplit() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("popcnt");
}

template <typename T>
PARAKEET_LANES __m512i InAllLanes(T value) {
  if constexpr (sizeof(T) == 8) {
    int64_t bits;
    std::memcpy(&bits, &value, 8);
    return _mm512_set1_epi64(bits);
  } else {
    int32_t bits;
    std::memcpy(&bits, &value, 4);
    return _mm512_set1_epi32(bits);
  }
}

// In which lanes a < b.
template <typename T>
PARAKEET_LANES uint32_t LanesBelow(__m512i a, __m512i b) {
  if constexpr (std::is_same_v<T, double>) {
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_LT_OQ);
  } else if constexpr (std::is_same_v<T, float>) {
    return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_LT_OQ);
  } else if constexpr (sizeof(T) == 8) {
    return std::is_signed_v<T> ? _mm512_cmplt_epi64_mask(a, b) : _mm512_cmplt_epu64_mask(a, b);
  } else {
    return std::is_signed_v<T> ? _mm512_cmplt_epi32_mask(a, b) : _mm512_cmplt_epu32_mask(a, b);
  }
}

// Stores a register that begins with the lanes that are on; gives how many these are.
template <typename T>
PARAKEET_LANES int64_t StoreLanesThatAreOn(__m512i lanes, uint32_t on, T* to) {
  if constexpr (sizeof(T) == 8) {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi64(__mmask8(on), lanes));
  } else {
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(__mmask16(on), lanes));
  }
  return __builtin_popcount(on);
}

// Appends the elements to three lists, each with room for a register behind its end: those below
// `low`, those above `high`, and those between. Gives how many it has seen.
template <typename T>
PARAKEET_LANES int64_t SplitLanes(const T* from, int64_t count, T low, T high, T* lists[3],
                                  int64_t sizes[3]) {
  constexpr int64_t kLanes = kLanesToSplit<T>;
  constexpr uint32_t kAll = (1u << kLanes) - 1;
  const __m512i lows = InAllLanes(low), highs = InAllLanes(high);
  int64_t below = sizes[0], inside = sizes[1], above = sizes[2], i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i lanes = _mm512_loadu_si512(from + i);
    const uint32_t are_below = LanesBelow<T>(lanes, lows);
    const uint32_t are_above = LanesBelow<T>(highs, lanes);
    below += StoreLanesThatAreOn(lanes, are_below, lists[0] + below);
    inside += StoreLanesThatAreOn(lanes, kAll & ~(are_below | are_above), lists[1] + inside);
    above += StoreLanesThatAreOn(lanes, are_above, lists[2] + above);
  }
  sizes[0] = below;
  sizes[1] = inside;
  sizes[2] = above;
  return i;
}

// Writes to `to`, which has room for all, those between the bounds, and counts them and those
// below. Gives how many it has seen.
template <typename T>
PARAKEET_LANES int64_t KeepLanes(const T* from, int64_t count, T low, T high, T* to, int64_t* below,
                                 int64_t* inside) {
  constexpr int64_t kLanes = kLanesToSplit<T>;
  constexpr uint32_t kAll = (1u << kLanes) - 1;
  const __m512i lows = InAllLanes(low), highs = InAllLanes(high);
  int64_t kept = 0, less = 0, i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i lanes = _mm512_loadu_si512(from + i);
    const uint32_t are_below = LanesBelow<T>(lanes, lows);
    const uint32_t are_above = LanesBelow<T>(highs, lanes);
    less += __builtin_popcount(are_below);
    kept += StoreLanesThatAreOn(lanes, kAll & ~(are_below | are_above), to + kept);
  }
  *below = less;
  *inside = kept;
  return i;
}

// Counts the elements below `low` and above `high`. Gives how many it has seen.
template <typename T>
PARAKEET_LANES int64_t CountLanes(const T* from, int64_t count, T low, T high, int64_t* below,
                                  int64_t* above) {
  constexpr int64_t kLanes = kLanesToSplit<T>;
  const __m512i lows = InAllLanes(low), highs = InAllLanes(high);
  int64_t less = 0, greater = 0, i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i lanes = _mm512_loadu_si512(from + i);
    less += __builtin_popcount(LanesBelow<T>(lanes, lows));
    greater += __builtin_popcount(LanesBelow<T>(highs, lanes));
  }
  *below = less;
  *above = greater;
  return i;
}

template <typename T>
PARAKEET_LANES uint32_t LanesThatAreNan(__m512i lanes) {
  if constexpr (std::is_same_v<T, double>) {
    const __m512d numbers = _mm512_castsi512_pd(lanes);
    return _mm512_cmp_pd_mask(numbers, numbers, _CMP_UNORD_Q);
  } else if constexpr (std::is_same_v<T, float>) {
    const __m512 numbers = _mm512_castsi512_ps(lanes);
    return _mm512_cmp_ps_mask(numbers, numbers, _CMP_UNORD_Q);
  } else {
    return 0;
  }
}

// Counts the floats that are nan. Gives how many it has seen.
template <typename T>
PARAKEET_LANES int64_t CountNanLanes(const T* from, int64_t count, int64_t* nans) {
  constexpr int64_t kLanes = kLanesToSplit<T>;
  int64_t found = 0, i = 0;
  for (; i + kLanes <= count; i += kLanes)
    found += __builtin_popcount(LanesThatAreNan<T>(_mm512_loadu_si512(from + i)));
  *nans = found;
  return i;
}

// Appends the indexes of the elements, of which the first is `first`, to three lists as SplitLanes
// does: of those less than a number, equal to it, and others. Gives how many it has seen.
template <typename T>
PARAKEET_LANES int64_t SplitIndexLanes(const T* from, int64_t first, int64_t count, T number,
                                       int64_t* lists[3], int64_t sizes[3]) {
  constexpr int64_t kLanes = kLanesToSplit<T>, kIndexes = kLanesToSplit<int64_t>;
  const __m512i numbers = InAllLanes(number), step = _mm512_set1_epi64(kIndexes);
  __m512i indexes =
      _mm512_add_epi64(_mm512_set1_epi64(first), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
  int64_t less = sizes[0], equal = sizes[1], others = sizes[2], i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i lanes = _mm512_loadu_si512(from + i);
    uint32_t are_less = LanesBelow<T>(lanes, numbers);
    uint32_t are_others = LanesBelow<T>(numbers, lanes) | LanesThatAreNan<T>(lanes);
    for (int64_t part = 0; part < kLanes; part += kIndexes) {
      less += StoreLanesThatAreOn(indexes, are_less & 0xFF, lists[0] + less);
      equal += StoreLanesThatAreOn(indexes, ~(are_less | are_others) & 0xFF, lists[1] + equal);
      others += StoreLanesThatAreOn(indexes, are_others & 0xFF, lists[2] + others);
      indexes = _mm512_add_epi64(indexes, step);
      are_less >>= kIndexes;
      are_others >>= kIndexes;
    }
  }
  sizes[0] = less;
  sizes[1] = equal;
  sizes[2] = others;
  return i;
}

#undef PARAKEET_LANES

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SPLIT_LANES_H_
