// Bytes of 0 and 1 as bits of bytes, and back: eight at a time, by one product or one look-up; on
// processors that have AVX2, 32 at a time by their top bits.
#ifndef PARAKEET_RUNTIME_BIT_PACKING_H_
#define PARAKEET_RUNTIME_BIT_PACKING_H_

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace parakeet::runtime {

// Byte k of a word, 0 or 1, times this stands in bit 63 - k or 56 + k; nothing is carried there.
inline constexpr uint64_t kGatherFromTop = 0x8040201008040201;
inline constexpr uint64_t kGatherFromBottom = 0x0102040810204080;

// Packs whole runs of 32 of the bytes, and says how many that were.
__attribute__((target("avx2"))) inline int64_t PackRuns(const uint8_t* bits, int64_t count,
                                                        bool is_little, uint8_t* packed) {
  const int64_t flip = is_little ? 0 : 0x0707070707070707;  // the place among eight
  const __m256i order = _mm256_xor_si256(_mm256_setr_epi64x(0x0706050403020100, 0x0F0E0D0C0B0A0908,
                                                            0x0706050403020100, 0x0F0E0D0C0B0A0908),
                                         _mm256_set1_epi64x(flip));
  int64_t done = 0;
  for (; done + 32 <= count; done += 32) {
    const __m256i given = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bits + done));
    const __m256i turned = _mm256_slli_epi16(_mm256_shuffle_epi8(given, order), 7);
    const int word = _mm256_movemask_epi8(turned);
    std::memcpy(packed + done / 8, &word, 4);
  }
  return done;
}

// Packs `count` bytes; what is missing of the last eight is 0.
inline void PackBits(const uint8_t* bits, int64_t count, bool is_little, uint8_t* packed) {
  if (__builtin_cpu_supports("avx2")) {
    const int64_t done = PackRuns(bits, count, is_little, packed);
    bits += done;
    packed += done / 8;
    count -= done;
  }
  const uint64_t factor = is_little ? kGatherFromBottom : kGatherFromTop;
  const int64_t whole = count / 8;
  for (int64_t i = 0; i < whole; ++i) {
    uint64_t word;
    std::memcpy(&word, bits + 8 * i, 8);
    packed[i] = uint8_t(word * factor >> 56);
  }
  if (count == 8 * whole) return;
  uint64_t word = 0;
  std::memcpy(&word, bits + 8 * whole, size_t(count - 8 * whole));
  packed[whole] = uint8_t(word * factor >> 56);
}

inline std::array<uint64_t, 256> UnpackedBytes(bool is_little) {
  std::array<uint64_t, 256> words{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    for (int k = 0; k < 8; ++k) words[byte] |= (byte >> (is_little ? k : 7 - k) & 1) << 8 * k;
  }
  return words;
}

// Writes eight bytes of 0 and 1 for each of `count`.
inline void UnpackBits(const uint8_t* packed, int64_t count, bool is_little, uint8_t* bits) {
  static const std::array<uint64_t, 256> tables[] = {UnpackedBytes(false), UnpackedBytes(true)};
  const std::array<uint64_t, 256>& words = tables[is_little];
  for (int64_t i = 0; i < count; ++i) std::memcpy(bits + 8 * i, &words[packed[i]], 8);
}

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_BIT_PACKING_H_
