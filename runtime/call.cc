#include "runtime/call.h"

#include "runtime/buffer_block.h"
#include "runtime/buffers.h"

namespace parakeet::runtime {

// Locks where other threads may be using the call.
class Call::Lock {
 public:
  explicit Lock(Call* call) : lock_(call->team > 1 ? &call->lock_ : nullptr) {
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

void* Call::AllocateBuffer(int64_t bytes) {
  void* buffer = bytes < 0 ? nullptr : Allocate(uint64_t(bytes));
  if (buffer == nullptr) {
    Fail(kPkSiteMemory, 0, nullptr, 1, &bytes);
    return nullptr;
  }
  Block* block = BlockOf(buffer);
  block->previous = nullptr;
  const Lock lock(this);
  block->next = buffers_;
  if (buffers_ != nullptr) buffers_->previous = block;
  buffers_ = block;
  if (profile_ != nullptr) profile_->Allocate(bytes);
  return buffer;
}

void Call::FreeBuffer(void* buffer) {
  if (buffer == nullptr) return;
  Keep(buffer);
  Release(buffer);
}

void Call::Keep(void* buffer) {
  const Lock lock(this);
  Unlink(BlockOf(buffer));
}

void Call::Fail(int32_t site, int32_t place_count, const int64_t* place, int32_t scalar_count,
                const int64_t* scalars) {
  const Lock lock(this);
  slot_.Record(site, place_count, place, scalar_count, scalars);
  std::atomic_ref<int32_t>(failed).store(1, std::memory_order_release);
}

void Call::Unlink(Block* block) {
  (block->previous != nullptr ? block->previous->next : buffers_) = block->next;
  if (block->next != nullptr) block->next->previous = block->previous;
}

void Call::FreeBuffers() {
  while (buffers_ != nullptr) {
    Block* next = buffers_->next;
    Release(DataOf(buffers_));
    buffers_ = next;
  }
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
