#include "runtime/buffer_block.h"

#include <errno.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace parakeet::runtime {
namespace {

std::atomic<uint64_t> next_colour{0};

uint64_t TakeColour() {
  return next_colour.fetch_add(1, std::memory_order_relaxed) % kColours * kColourStep;
}

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

// Where the header goes, and the start of the memory it lies in.
struct Place {
  char* origin;
  char* header;
};

Place PlaceMapped(uint64_t capacity) {
  char* origin = MapAligned(MappingSize(capacity));
  if (origin == nullptr) return {nullptr, nullptr};
  // Advice only: where huge pages are switched off, small ones serve. It covers the small pages at
  // both ends too, which keeps the mapping one area of the kernel's limited number of them.
  madvise(origin, MappingSize(capacity), MADV_HUGEPAGE);
  return {origin, origin + kSmallPage + TakeColour() - sizeof(Block)};
}

Place PlaceAllocated(uint64_t capacity) {
  const bool coloured = capacity > kCachedCapacity;
  const uint64_t size = sizeof(Block) + capacity + (coloured ? kSmallPage : 0);
  char* origin = static_cast<char*>(std::aligned_alloc(alignof(Block), size));
  if (origin == nullptr || !coloured) return {origin, origin};
  // The first data address at or behind the earliest one whose page offset is the colour.
  const uintptr_t earliest = reinterpret_cast<uintptr_t>(origin) + sizeof(Block);
  const uint64_t shift = (TakeColour() - earliest) & (kSmallPage - 1);
  return {origin, origin + shift};
}

}  // namespace

Block* NewBlock(uint32_t size_class) {
  const uint64_t capacity = CapacityOf(size_class);
  const Place place = IsMapped(capacity) ? PlaceMapped(capacity) : PlaceAllocated(capacity);
  if (place.origin == nullptr) return nullptr;
  Block* block = new (place.header) Block{};
  block->capacity = capacity;
  block->origin = place.origin;
  block->state = BlockState::kLive;
  block->size_class = size_class;
  return block;
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
