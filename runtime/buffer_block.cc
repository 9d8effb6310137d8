#include "runtime/buffer_block.h"

#include <errno.h>
#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace parakeet::runtime {
namespace {

bool IsMapped(uint64_t capacity) { return capacity >= kHugePage; }

uint64_t MappingSize(uint64_t capacity) { return kSmallPage + capacity + kSmallPage; }

// A mapping whose second small page begins on a huge-page boundary; null when there is no memory.
char* MapAligned(uint64_t size) {
  const uint64_t reserved = size + kHugePage;
  void* at = mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(at);
  const uint64_t before = -(reinterpret_cast<uintptr_t>(begin) + kSmallPage) & (kHugePage - 1);
  char* mapping = begin + before;
  if (before > 0) munmap(begin, before);
  const uint64_t behind = reserved - before - size;
  if (behind > 0) munmap(mapping + size, behind);
  return mapping;
}

char* MapAdvised(uint64_t capacity) {
  char* origin = MapAligned(MappingSize(capacity));
  if (origin == nullptr) return nullptr;
  // Advice only: where huge pages are switched off, small ones serve. It covers the small pages at
  // both ends too, which keeps the mapping one area of the kernel's limited number of them.
  madvise(origin, MappingSize(capacity), MADV_HUGEPAGE);
  return origin;
}

char* AllocateAligned(uint64_t capacity) {
  const uint64_t overhang = capacity > kCachedCapacity ? kSmallPage : 0;
  return static_cast<char*>(
      std::aligned_alloc(alignof(Block), sizeof(Block) + capacity + overhang));
}

// The header's place at a colour.
char* PlaceOf(char* origin, uint64_t capacity, uint64_t colour) {
  if (capacity <= kCachedCapacity) return origin;
  if (IsMapped(capacity)) return origin + kSmallPage + colour * kColourStep - sizeof(Block);
  // Before the first data address at or behind the earliest one whose page offset is the colour's.
  const uintptr_t earliest = reinterpret_cast<uintptr_t>(origin) + sizeof(Block);
  return origin + ((colour * kColourStep - earliest) & (kSmallPage - 1));
}

}  // namespace

Block* NewBlock(uint32_t size_class) {
  const uint64_t capacity = CapacityOf(size_class);
  char* origin = IsMapped(capacity) ? MapAdvised(capacity) : AllocateAligned(capacity);
  if (origin == nullptr) return nullptr;
  Block* block = new (PlaceOf(origin, capacity, 0)) Block{};
  block->capacity = capacity;
  block->origin = origin;
  block->state = BlockState::kLive;
  block->size_class = size_class;
  return block;
}

Block* Recolour(Block* block, uint64_t colour) {
  const Block header = *block;
  return new (PlaceOf(static_cast<char*>(header.origin), header.capacity, colour)) Block(header);
}

void DeleteBlock(Block* block) {
  const int saved_errno = errno;
  if (IsMapped(block->capacity)) {
    munmap(block->origin, MappingSize(block->capacity));
  } else {
    std::free(block->origin);
  }
  errno = saved_errno;
}

}  // namespace parakeet::runtime
