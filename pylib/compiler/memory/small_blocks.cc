// The compiler library's operator new and delete: blocks of up to 512 bytes come from lists of free
// ones, one for each size and thread. A compilation makes and drops millions of nodes, sets and
// lists, for which malloc takes more than a third of the time of the passes.
//
// Blocks lie in one range of addresses, by which delete tells them from malloc's; a table says of
// which size those of a span of it are. A block goes to the list of the thread that drops it. What
// the range has no room for is malloc's. Its memory serves the next compilation: no more than the
// range is ever kept. Nothing here locks, so that a process may fork at any time.
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace parakeet::pylib {
namespace {

constexpr size_t kStep = 16;
constexpr size_t kLargest = 512;
constexpr size_t kSizes = kLargest / kStep;
constexpr size_t kSpan = size_t{1} << 14;
constexpr size_t kSpans = size_t{1} << 13;
constexpr size_t kRange = kSpan * kSpans;
constexpr size_t kMostIdle = 256;

struct Block {
  Block* next;
};

// What one thread takes blocks from: those that it has dropped, then the rest of a span.
struct Heap {
  Block* dropped[kSizes];
  char* rest[kSizes];
  char* end[kSizes];
};

// Static initializers of the library allocate: all here is so from the start. Before the range is
// reserved, no address is in it.
constinit std::atomic<uintptr_t> range = UINTPTR_MAX - kRange;
constinit std::atomic<size_t> spans = 0;
constinit uint8_t size_of_span[kSpans] = {};
// The heaps of threads that have ended.
constinit std::atomic<Heap*> idle[kMostIdle] = {};
constinit thread_local Heap* heap = nullptr;
constinit thread_local bool has_ended = false;

size_t SizeOf(size_t bytes) { return (bytes - (bytes != 0)) / kStep; }

// Gives the thread's heap to a later one.
struct Keeper {
  ~Keeper() {
    has_ended = true;
    for (std::atomic<Heap*>& place : idle) {
      Heap* none = nullptr;
      if (place.compare_exchange_strong(none, heap)) break;
    }
    heap = nullptr;
  }
};

bool ReserveRange() {
  if (range.load() + kRange != UINTPTR_MAX) return true;
  void* made = mmap(nullptr, kRange, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return false;
  uintptr_t none = UINTPTR_MAX - kRange;
  if (!range.compare_exchange_strong(none, reinterpret_cast<uintptr_t>(made))) munmap(made, kRange);
  return true;
}

// Null where there is none to be had.
Heap* BeginThread() {
  if (has_ended || !ReserveRange()) return nullptr;
  thread_local Keeper keeper;
  for (std::atomic<Heap*>& place : idle) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    if (Heap* left = place.exchange(nullptr)) return heap = left;
  }
  return heap = static_cast<Heap*>(std::calloc(1, sizeof(Heap)));
}

[[gnu::noinline]] void* TakeNew(size_t size) {
  if (heap == nullptr && BeginThread() == nullptr) return nullptr;
  const size_t bytes = (size + 1) * kStep;
  if (heap->dropped[size] == nullptr && heap->rest[size] == heap->end[size]) {
    // The count does not go on past the end by more than there are threads at it.
    const size_t span = spans.load() < kSpans ? spans.fetch_add(1) : kSpans;
    if (span >= kSpans) return nullptr;
    size_of_span[span] = static_cast<uint8_t>(size);
    heap->rest[size] = reinterpret_cast<char*>(range.load()) + span * kSpan;
    heap->end[size] = heap->rest[size] + kSpan / bytes * bytes;
  }
  if (Block* block = heap->dropped[size]) {
    heap->dropped[size] = block->next;
    return block;
  }
  void* block = heap->rest[size];
  heap->rest[size] += bytes;
  return block;
}

void* Take(size_t size) {
  Heap* mine = heap;
  if (mine == nullptr || mine->dropped[size] == nullptr) return TakeNew(size);
  Block* block = mine->dropped[size];
  mine->dropped[size] = block->next;
  return block;
}

[[gnu::noinline]] void* TakeFromMalloc(size_t bytes) {
  for (;;) {
    if (void* block = std::malloc(bytes == 0 ? 1 : bytes)) return block;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

// A block that is dropped behind the end of its thread stays unused.
void Drop(void* dropped) {
  const uintptr_t place = reinterpret_cast<uintptr_t>(dropped) - range.load();
  if (place >= kRange) return std::free(dropped);
  if (heap == nullptr && BeginThread() == nullptr) return;
  Block* block = static_cast<Block*>(dropped);
  Block*& first = heap->dropped[size_of_span[place / kSpan]];
  block->next = first;
  first = block;
}

}  // namespace
}  // namespace parakeet::pylib

void* operator new(size_t bytes) {
  using namespace parakeet::pylib;
  void* block = bytes <= kLargest ? Take(SizeOf(bytes)) : nullptr;
  return block != nullptr ? block : TakeFromMalloc(bytes);
}

void operator delete(void* block) noexcept { parakeet::pylib::Drop(block); }
void operator delete(void* block, size_t) noexcept { parakeet::pylib::Drop(block); }
