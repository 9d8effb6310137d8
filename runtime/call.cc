#include "runtime/call.h"

#include <iterator>
#include <new>

#include "runtime/buffer_block.h"
#include "runtime/buffers.h"

namespace parakeet::runtime {

// Locks where other threads may be using the call.
class Call::Lock {
 public:
  Lock(const Call& call, SpinLock& lock) : lock_(call.team > 1 ? &lock : nullptr) {
    if (lock_ != nullptr) lock_->lock();
  }
  ~Lock() {
    if (lock_ != nullptr) lock_->unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  SpinLock* lock_;
};

// Threads share a list where there are more of them; each list has a line of the cache for itself.
struct Call::OtherLists {
  struct alignas(64) Padded : BlockList {};
  Padded lists[32];
};

namespace {

std::atomic<uint32_t> next_number{0};
thread_local const uint32_t number = next_number.fetch_add(1, std::memory_order_relaxed);

}  // namespace

// Null when memory is exhausted.
Call::OtherLists* Call::Others() {
  OtherLists* others = others_.load(std::memory_order_acquire);
  if (others != nullptr) return others;
  void* memory = Allocate(sizeof(OtherLists));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) OtherLists;
  if (others_.compare_exchange_strong(others, made)) return made;
  Release(memory);
  return others;
}

BlockList& Call::ListOfThisThread() {
  if (team == 1 || ThisThread() == owner_) return own_;
  OtherLists* others = Others();
  return others == nullptr ? own_ : others->lists[number % std::size(others->lists)];
}

void* Call::AllocateBuffer(int64_t bytes) {
  void* buffer = bytes < 0 ? nullptr : Allocate(uint64_t(bytes));
  if (buffer == nullptr) {
    Fail(kPkSiteMemory, 0, nullptr, 1, &bytes);
    return nullptr;
  }
  BlockList& list = ListOfThisThread();
  Block* block = BlockOf(buffer);
  block->previous = nullptr;
  block->list = &list;
  {
    const Lock lock(*this, list.lock);
    block->next = list.first;
    if (list.first != nullptr) list.first->previous = block;
    list.first = block;
  }
  if (profile_ != nullptr) {
    const Lock lock(*this, lock_);
    profile_->Allocate(bytes);
  }
  return buffer;
}

void Call::FreeBuffer(void* buffer) {
  if (buffer == nullptr) return;
  Keep(buffer);
  Release(buffer);
}

void Call::Keep(void* buffer) {
  Block* block = BlockOf(buffer);
  const Lock lock(*this, block->list->lock);
  Unlink(block);
}

void Call::Fail(int32_t site, int32_t place_count, const int64_t* place, int32_t scalar_count,
                const int64_t* scalars) {
  const Lock lock(*this, lock_);
  slot_.Record(site, place_count, place, scalar_count, scalars);
  std::atomic_ref<int32_t>(failed).store(1, std::memory_order_release);
}

void Call::Unlink(Block* block) {
  (block->previous != nullptr ? block->previous->next : block->list->first) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

void Call::FreeBuffers() {
  const auto free_all = [](BlockList& list) {
    for (Block* block = list.first; block != nullptr;) {
      Block* next = block->next;
      Release(DataOf(block));
      block = next;
    }
  };
  free_all(own_);
  OtherLists* others = others_.load(std::memory_order_acquire);
  if (others == nullptr) return;
  for (BlockList& list : others->lists) free_all(list);
  Release(others);
}

}  // namespace parakeet::runtime

using parakeet::runtime::Call;

extern "C" {

void* pk_alloc(PkCall* call, int64_t bytes) {
  return static_cast<Call*>(call)->AllocateBuffer(bytes);
}

void pk_free(PkCall* call, void* buffer) { static_cast<Call*>(call)->FreeBuffer(buffer); }

void pk_fail(PkCall* call, int32_t site, int32_t place_count, const int64_t* place,
             int32_t scalar_count, const int64_t* scalars) {
  static_cast<Call*>(call)->Fail(site, place_count, place, scalar_count, scalars);
}

}  // extern "C"
