// The words that the blocks of a radix sort share: integers of 32 bits, 0 before it begins.
#ifndef PARAKEET_PASSES_LOWERING_RADIX_WORDS_H_
#define PARAKEET_PASSES_LOWERING_RADIX_WORDS_H_

#include <cstdint>

namespace parakeet::passes {

inline constexpr int64_t kDigitBits = 8;
inline constexpr int64_t kRadix = 1 << kDigitBits;
// Threads of a warp.
inline constexpr int64_t kWarp = 32;

// Bit d of the first word: all keys have digit d in common.
inline constexpr int64_t kCommon = 0;
// From here on, each digit's counter of tiles that were taken, in a line of the cache for itself.
inline constexpr int64_t kTickets = 32;
inline constexpr int64_t kTicketStep = 32;
// Then 256 counts for each digit, which become how many keys have a smaller one.
inline constexpr int64_t kCounts = kTickets + 8 * kTicketStep;
// Then, for each digit, tile and value of the digit, what the tile says.
inline constexpr int64_t FirstLook(int64_t digits) { return kCounts + digits * kRadix; }

// A word of a tile holds a count, of 30 bits, with one of these once it is there: of the tile
// alone, which becomes, when another is added, that of the tile and all before it.
inline constexpr int64_t kRadixAdded = int64_t{1} << 30;

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_RADIX_WORDS_H_
