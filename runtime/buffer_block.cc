#include "runtime/buffer_block.h"

#include <errno.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "runtime/huge_pages.h"
#include "runtime/slabs.h"

namespace parakeet::runtime {
namespace {

std::atomic<void (*)(void*)> watcher_of_mappings = nullptr;

bool IsMapped(uint64_t capacity) { return capacity >= kHugePage; }

uint64_t MappingSize(uint64_t capacity) { return kSmallPage + capacity + kSmallPage; }

// What a block of so much capacity lies in, its data aligned to 64 bytes or more.
char* NewOrigin(uint32_t size_class, uint64_t capacity) {
  if (IsMapped(capacity)) return MapHuge(MappingSize(capacity), kHugePage, kSmallPage);
  const uint64_t size = sizeof(Block) + capacity;
  if (size_class >= kCachedClasses) return TakePlace(size_class, size + kSmallPage);
  return static_cast<char*>(std::aligned_alloc(alignof(Block), size));
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
  char* origin = NewOrigin(size_class, capacity);
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

Mapping MappingOf(Block* block) {
  if (!IsMapped(block->capacity)) return {};
  return {static_cast<char*>(block->origin), MappingSize(block->capacity)};
}

void WatchMappings(void (*watcher)(void* begin)) { watcher_of_mappings.store(watcher); }

void DeleteBlock(Block* block) {
  if (IsMapped(block->capacity)) {
    if (auto* const watcher = watcher_of_mappings.load()) watcher(block->origin);
    return UnmapHuge(block->origin, MappingSize(block->capacity));
  }
  if (HasColour(*block)) return GivePlace(block->origin);
  const int saved_errno = errno;
  std::free(block->origin);
  errno = saved_errno;
}

}  // namespace parakeet::runtime
