// One buffer as the pool sees it: 64 bytes of header, then the user's bytes; and the size classes.
//
// Where the bytes of a block come from:
//   capacity <= 32 KiB  the C library's allocator.
//   capacity < 2 MiB    a place in a slab, which is huge-page backed.
//   capacity >= 2 MiB   a mapping of its own, huge-page backed. Its capacity is a multiple of 2 MiB
//                       and the huge pages begin at the data; a small page before them holds the
//                       header, one behind them the overhang of a colour.
// Blocks above kCachedCapacity have a colour: their data begins 0 .. 7 * 512 bytes into a page. At
// one colour equal indexes of two arrays would fall on the same sets of the first-level cache, and
// a stencil's loads on the page offset of its own last store, which stalls.
#ifndef PARAKEET_RUNTIME_BUFFER_BLOCK_H_
#define PARAKEET_RUNTIME_BUFFER_BLOCK_H_

#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/huge_pages.h"

namespace parakeet::runtime {

enum class BlockState : uint32_t {
  kLive = 0x6c697665,    // with a user
  kPooled = 0x706f6f6c,  // waiting for one
};

// Stands directly before the data.
struct BlockList;
struct alignas(64) Block {
  Block* previous;  // live: neighbours on a call's list; pooled: released before and after
  Block* next;
  union {
    BlockList* list;        // live: the call's list that it stands on
    Block* class_previous;  // pooled: neighbours of the same size class
  };
  Block* class_next;
  uint64_t asked;     // bytes the user asked for, <= capacity
  uint64_t capacity;  // bytes that the user may write
  void* origin;       // where the memory begins that the block lies in
  BlockState state;
  uint32_t size_class;
};
static_assert(sizeof(Block) == 64, "the data behind a header is 64-byte aligned");

inline void* DataOf(Block* block) { return block + 1; }
inline Block* BlockOf(void* data) { return static_cast<Block*>(data) - 1; }

inline constexpr uint64_t kSmallPage = 4096;
inline constexpr uint64_t kColours = 8;
inline constexpr uint64_t kColourStep = kSmallPage / kColours;
inline constexpr uint64_t kMaxBytes = uint64_t{1} << 47;  // more than an address space can hold
inline constexpr uint32_t kSizeClasses = 272;
inline constexpr uint32_t kCachedClasses = 32;  // the first ones; threads keep caches of them
inline constexpr uint64_t kCachedCapacity = 32 * 1024;

inline bool HasColour(const Block& block) { return block.size_class >= kCachedClasses; }

// Assumes HasColour.
inline uint64_t ColourOf(const Block& block) {
  return reinterpret_cast<uintptr_t>(&block + 1) % kSmallPage / kColourStep;
}

// Classes are 64 bytes apart up to 512, then 4 in a doubling up to 2 MiB, then 8 in a doubling.
// Assumes bytes <= kMaxBytes. 0 bytes are of the first class.
inline uint32_t SizeClassOf(uint64_t bytes) {
  if (bytes <= 512) return bytes == 0 ? 0 : uint32_t((bytes - 1) / 64);
  if (bytes > kHugePage / 8 * 7) bytes = (bytes + kHugePage - 1) & ~(kHugePage - 1);
  const uint32_t doubling = 63 - std::countl_zero(bytes - 1);
  const uint64_t above = bytes - 1 - (uint64_t{1} << doubling);
  if (doubling < 21) return 8 + (doubling - 9) * 4 + uint32_t(above >> (doubling - 2));
  return 56 + (doubling - 21) * 8 + uint32_t(above >> (doubling - 3));
}

// The largest request of a class: SizeClassOf(CapacityOf(c)) == c where the class has requests.
inline uint64_t CapacityOf(uint32_t size_class) {
  if (size_class < 8) return 64 * uint64_t{size_class + 1};
  const bool large = size_class >= 56;
  const uint32_t steps = large ? 8 : 4;
  const uint32_t index = large ? size_class - 56 : size_class - 8;
  const uint64_t begin = uint64_t{1} << ((large ? 21 : 9) + index / steps);
  return begin + begin / steps * (index % steps + 1);
}

// A live block of the class, its colour 0, contents unspecified; null when memory is exhausted.
Block* NewBlock(uint32_t size_class);

// The same block at another colour: header and data begin elsewhere in its first page. Assumes that
// it has one, is on no list, and that its contents matter to nobody.
Block* Recolour(Block* block, uint64_t colour);

// The mapping that a block has for itself; null for what lies elsewhere.
struct Mapping {
  char* begin = nullptr;
  uint64_t bytes = 0;
};
Mapping MappingOf(Block* block);

// Called with the begin of each such mapping before it goes back to the system, by any thread.
void WatchMappings(void (*watcher)(void* begin));

// Gives the memory back to the system. Keeps errno, which free functions must not change.
void DeleteBlock(Block* block);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_BUFFER_BLOCK_H_
