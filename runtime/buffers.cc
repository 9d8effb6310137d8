#include "runtime/buffers.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

#include "runtime/buffer_block.h"
#include "runtime/buffer_pool.h"
#include "runtime/thread_cache.h"

namespace parakeet::runtime {
namespace {

// Of larger buffers, and of what threads did that have ended: the rest stands in caches.
std::atomic<int64_t> live_bytes{0};
std::atomic<int64_t> peak_bytes{0};

void NotePeak(int64_t now) {
  int64_t peak = peak_bytes.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

// Small buffers are counted by their thread alone: threads that make and release them in loops
// write nothing that others read.
void CountLive(ThreadCache* cache, uint32_t size_class, int64_t bytes) {
  if (cache == nullptr || size_class >= kCachedClasses) {
    const int64_t before = live_bytes.fetch_add(bytes, std::memory_order_relaxed);
    return NotePeak(before + bytes + (cache == nullptr ? 0 : cache->live_bytes.Get()));
  }
  cache->live_bytes.Add(bytes);
  NotePeak(live_bytes.load(std::memory_order_relaxed) + cache->live_bytes.Get());
}

// What threads share, under one mutex that is held across fork, so that a child finds it whole.
// Never destroyed: buffers outlive static destructors.
struct Shared {
  std::mutex mutex;
  BufferPool pool;
  ThreadCache* caches = nullptr;
  int64_t retired_allocations = 0;  // of threads that have ended
  int64_t retired_releases = 0;
  pthread_key_t key;  // its destructor runs at the end of each thread that has a cache
};

// At a fixed distance from the thread's own pointer, which no call has to look for. That takes a
// word of what the loader keeps for libraries that are opened late: it is the only one.
[[gnu::tls_model("initial-exec")]] thread_local ThreadCache* this_thread_cache = nullptr;

Shared& TheShared();

void Retire(Shared& shared, ThreadCache* cache) {
  shared.retired_allocations += cache->allocations.Get();
  shared.retired_releases += cache->releases.Get();
  live_bytes.fetch_add(cache->live_bytes.Get(), std::memory_order_relaxed);
  delete cache;
}

void EndThread(void* cache_of_thread) {
  auto* cache = static_cast<ThreadCache*>(cache_of_thread);
  cache->Clear();
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  ThreadCache** link = &shared.caches;
  while (*link != cache) link = &(*link)->next;
  *link = cache->next;
  Retire(shared, cache);
  this_thread_cache = nullptr;
}

void BeforeFork() { TheShared().mutex.lock(); }
void InParent() { TheShared().mutex.unlock(); }

// The child has one thread. Caches of the others may have been in the middle of a change: their
// blocks are given up, their counts kept.
void InChild() {
  Shared& shared = TheShared();
  ThreadCache* cache = shared.caches;
  shared.caches = nullptr;
  while (cache != nullptr) {
    ThreadCache* next = cache->next;
    if (cache == this_thread_cache) {
      cache->next = nullptr;
      shared.caches = cache;
    } else {
      Retire(shared, cache);
    }
    cache = next;
  }
  shared.mutex.unlock();
}

Shared* MakeShared() {
  auto* shared = new Shared;
  DeleteChain(shared->pool.SetCap(DefaultPoolCap()));
  pthread_key_create(&shared->key, EndThread);
  pthread_atfork(BeforeFork, InParent, InChild);
  return shared;
}

Shared& TheShared() {
  static Shared* const shared = MakeShared();
  return *shared;
}

ThreadCache* MakeThreadCache() {
  auto* cache = new (std::nothrow) ThreadCache;
  if (cache == nullptr) return nullptr;
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  cache->next = shared.caches;
  shared.caches = cache;
  pthread_setspecific(shared.key, cache);
  this_thread_cache = cache;
  return cache;
}

// Null only when memory is exhausted.
inline ThreadCache* CacheOfThread() {
  ThreadCache* cache = this_thread_cache;
  return cache != nullptr ? cache : MakeThreadCache();
}

Block* NewBlockOrTrim(uint32_t size_class) {
  Block* block = NewBlock(size_class);
  if (block != nullptr) return block;
  TrimPool();
  return NewBlock(size_class);
}

Block* TakeShared(uint32_t size_class) {
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  return shared.pool.Take(size_class);
}

void PutShared(Block* block) {
  Shared& shared = TheShared();
  Block* evicted;
  {
    const std::lock_guard lock(shared.mutex);
    evicted = shared.pool.Put(block);
  }
  DeleteChain(evicted);
}

void PutLarge(ThreadCache* cache, Block* block) {
  if (cache == nullptr || !ThreadCache::IsNear(*block)) return PutShared(block);
  Block* pushed_out = cache->PutNear(block);
  while (pushed_out != nullptr) {
    Block* next = pushed_out->next;
    PutShared(pushed_out);
    pushed_out = next;
  }
}

void CountRelease(ThreadCache* cache) {
  if (cache != nullptr) return cache->releases.Add(1);
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  ++shared.retired_releases;
}

[[noreturn]] void RefuseRelease(void* buffer) {
  std::fprintf(stderr,
               "parakeet: %p is no live buffer: released twice, or its header overwritten\n",
               buffer);
  std::abort();
}

}  // namespace

void* Allocate(uint64_t bytes) {
  if (bytes > kMaxBytes) return nullptr;
  ThreadCache* cache = CacheOfThread();
  if (cache == nullptr) return nullptr;
  const uint32_t size_class = SizeClassOf(bytes);
  const bool is_small = size_class < kCachedClasses;
  Block* block = is_small ? cache->Take(size_class) : cache->TakeNear(size_class);
  if (block == nullptr && !is_small) block = TakeShared(size_class);
  if (block == nullptr) block = NewBlockOrTrim(size_class);
  if (block == nullptr) return nullptr;
  if (HasColour(*block)) block = cache->GiveColour(block);
  block->asked = bytes;
  cache->allocations.Add(1);
  CountLive(cache, size_class, int64_t(bytes));
  return DataOf(block);
}

void Release(void* buffer) {
  if (buffer == nullptr) return;
  Block* block = BlockOf(buffer);
  if (block->state != BlockState::kLive) RefuseRelease(buffer);
  ThreadCache* cache = CacheOfThread();
  CountLive(cache, block->size_class, -int64_t(block->asked));
  CountRelease(cache);
  if (HasColour(*block)) {
    if (cache != nullptr) cache->TakeBackColour(*block);
    PutLarge(cache, block);
  } else if (cache == nullptr || !cache->Put(block)) {
    block->state = BlockState::kPooled;  // a second release is noticed until the memory is reused
    DeleteBlock(block);
  }
}

uint64_t CapacityOfBuffer(void* buffer) { return BlockOf(buffer)->capacity; }

BufferCounters ReadBufferCounters() {
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  BufferCounters counters = {};
  counters.live_bytes = live_bytes.load(std::memory_order_relaxed);
  counters.peak_bytes = peak_bytes.load(std::memory_order_relaxed);
  counters.pooled_bytes = int64_t(shared.pool.pooled_bytes());
  counters.allocations = shared.retired_allocations;
  int64_t releases = shared.retired_releases;
  for (const ThreadCache* cache = shared.caches; cache != nullptr; cache = cache->next) {
    counters.allocations += cache->allocations.Get();
    releases += cache->releases.Get();
    counters.pooled_bytes += cache->pooled_bytes.Get();
    counters.live_bytes += cache->live_bytes.Get();
  }
  counters.live_buffers = counters.allocations - releases;
  return counters;
}

void ResetPeak() { peak_bytes.store(ReadBufferCounters().live_bytes, std::memory_order_relaxed); }

void SetPoolCap(uint64_t bytes) {
  Shared& shared = TheShared();
  Block* evicted;
  {
    const std::lock_guard lock(shared.mutex);
    evicted = shared.pool.SetCap(bytes);
  }
  DeleteChain(evicted);
}

uint64_t PoolCap() {
  Shared& shared = TheShared();
  const std::lock_guard lock(shared.mutex);
  return shared.pool.cap();
}

void TrimPool() {
  if (this_thread_cache != nullptr) this_thread_cache->Clear();
  Shared& shared = TheShared();
  Block* evicted;
  {
    const std::lock_guard lock(shared.mutex);
    evicted = shared.pool.TakeAll();
  }
  DeleteChain(evicted);
}

void* NumpyMalloc(void* /*context*/, size_t bytes) { return Allocate(bytes); }

void* NumpyCalloc(void* /*context*/, size_t count, size_t bytes_each) {
  size_t bytes;
  if (__builtin_mul_overflow(count, bytes_each, &bytes)) return nullptr;
  void* buffer = Allocate(bytes);
  if (buffer != nullptr) std::memset(buffer, 0, bytes);
  return buffer;
}

// Stays in place while the size class stays the same. As realloc does, leaves the old buffer alone
// when there is no memory for the new one.
void* NumpyRealloc(void* /*context*/, void* buffer, size_t bytes) {
  if (buffer == nullptr) return Allocate(bytes);
  if (bytes > kMaxBytes) return nullptr;
  Block* block = BlockOf(buffer);
  if (SizeClassOf(bytes) == block->size_class) {
    CountLive(CacheOfThread(), block->size_class, int64_t(bytes) - int64_t(block->asked));
    block->asked = bytes;
    return buffer;
  }
  void* moved = Allocate(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, buffer, std::min<uint64_t>(bytes, block->asked));
  Release(buffer);
  return moved;
}

void NumpyFree(void* /*context*/, void* buffer, size_t /*bytes*/) { Release(buffer); }

}  // namespace parakeet::runtime
