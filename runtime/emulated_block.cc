#include "runtime/emulated_block.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/spin_lock.h"

namespace parakeet::runtime {
namespace {

constexpr size_t kAlignment = 64;  // Of shared memory.
// What it holds before a block writes it: nan as a float, -1 as an integer.
constexpr int kPoisonOfBlock = 0xff;
constexpr int64_t kLooks = 16;  // before a thread that waits for another block steps aside

uintptr_t AddressWord(const void* address) { return reinterpret_cast<uintptr_t>(address); }

const char* NameOfAccess(int32_t access) {
  if (access == kPkAccessAtomic) return "an atomic update";
  return access == kPkAccessStore ? "a store" : "a load";
}

void Record(PkErrorRecord* record, int32_t site, int32_t place_count, const int64_t* place,
            int32_t scalar_count, const int64_t* scalars) {
  const bool is_less = record->state == kPkRecordEmpty ||
                       std::lexicographical_compare(place, place + place_count, record->place,
                                                    record->place + record->place_count);
  if (!is_less) return;
  record->state = kPkRecordHolds;
  record->site = site;
  record->place_count = place_count;
  record->scalar_count = scalar_count;
  std::copy_n(place, place_count, record->place);
  std::copy_n(scalars, scalar_count, record->scalars);
}

}  // namespace

void BlockRunner::End(const EmulatedThread* thread, const char* what) {
  std::fprintf(stderr, "parakeet: kernel %s, block %" PRId64 ", thread %" PRId64 ": %s\n",
               launch_->kernel->name, thread->block, thread->thread, what);
  std::abort();
}

// ---------------------------------------------------------------------------------------------
// Running a block
// ---------------------------------------------------------------------------------------------

bool BlockRunner::MakeSharedMemory(int64_t bytes) {
  if (shared_ == nullptr || bytes > shared_capacity_) {
    // No buffer of the pool, whose counters say what calls hold.
    const size_t whole = (size_t(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    shared_.reset(static_cast<char*>(std::aligned_alloc(kAlignment, whole)));
    shared_capacity_ = shared_ == nullptr ? 0 : bytes;
  }
  if (shared_ == nullptr) return false;
  std::memset(shared_.get(), kPoisonOfBlock, size_t(bytes));
  accesses_.BeginBlock(bytes);
  return true;
}

void BlockRunner::Begin(EmulatedThread* thread, int64_t block, int64_t number) {
  thread->block = block;
  thread->thread = number;
  thread->shared = shared_.get();
  thread->runner = this;
  thread->exchanges = 0;
}

void BlockRunner::RunThread(EmulatedThread* thread) {
  const auto code = reinterpret_cast<PkEmulatedKernel>(const_cast<void*>(launch_->kernel->code));
  code(thread, launch_->captures);
  for (const auto& [buffer, bytes] : thread->own) Release(buffer);
  thread->own.clear();
}

void BlockRunner::RunInTurn(int64_t block) {
  EmulatedThread* thread = threads_[0].get();
  for (int32_t i = 0; i < launch_->threads; ++i) {
    Begin(thread, block, i);
    RunThread(thread);
  }
}

bool BlockRunner::RunToBarrier(bool is_first) {
  const EmulatedThread* waiting = nullptr;
  const EmulatedThread* ended = nullptr;
  for (int32_t i = 0; i < launch_->threads; ++i) {
    EmulatedThread* thread = threads_[i].get();
    thread->fibre.Resume();
    // Each look costs a page of the cache, so not behind every barrier.
    const bool is_checked = is_first || thread->fibre.has_ended();
    if (is_checked && !stacks_.IsIntact(i)) End(thread, "its frames are too large for its stack");
    (thread->fibre.has_ended() ? ended : waiting) = thread;
  }
  if (waiting != nullptr && ended != nullptr) {
    End(waiting, "waits at a barrier that other threads of the block did not come to");
  }
  if (waiting != nullptr) Meet(waiting);
  return waiting != nullptr;
}

void BlockRunner::Meet(const EmulatedThread* last) {
  for (int32_t i = 0; i < launch_->threads; ++i) {
    if (threads_[i]->waits_at != last->waits_at)
      End(last, "waits at another kind of barrier than other threads of the block");
  }
  if (last->waits_at == MeetingPlace::kBarrier) accesses_.PassBarrier();
  if (last->waits_at == MeetingPlace::kWarpBarrier) accesses_.PassWarpBarrier();
}

bool BlockRunner::RunAsFibres(int64_t block) {
  if (!stacks_.Reserve(launch_->threads)) return false;
  for (int32_t i = 0; i < launch_->threads; ++i) {
    EmulatedThread* thread = threads_[i].get();
    Begin(thread, block, i);
    thread->fibre.Start(
        stacks_.At(i), FibreStacks::kBytes,
        [](void* argument) {
          auto* self = static_cast<EmulatedThread*>(argument);
          self->runner->RunThread(self);
        },
        thread);
  }
  bool goes_on = RunToBarrier(true);
  while (goes_on) goes_on = RunToBarrier(false);
  return true;
}

bool BlockRunner::Run(const EmulatedLaunch& launch, int64_t block) {
  launch_ = &launch;
  const bool has_barriers = (launch.kernel->flags & kPkKernelBarriers) != 0;
  const size_t threads = has_barriers ? size_t(launch.threads) : 1;
  while (threads_.size() < threads) threads_.push_back(std::make_unique<EmulatedThread>());
  if (!MakeSharedMemory(launch.kernel->shared_bytes)) return false;
  if (has_barriers) return RunAsFibres(block);
  RunInTurn(block);
  return true;
}

// ---------------------------------------------------------------------------------------------
// What a thread asks for
// ---------------------------------------------------------------------------------------------

void BlockRunner::Wait(EmulatedThread* thread, MeetingPlace place) {
  if ((launch_->kernel->flags & kPkKernelBarriers) == 0) {
    End(thread, "waits at a barrier, in a kernel that is said to have none");
  }
  thread->waits_at = place;
  thread->fibre.Suspend();
}

BlockRunner::Exchange BlockRunner::Offer(EmulatedThread* thread, uint64_t number) {
  const int turn = thread->exchanges++ % 2;
  thread->numbers[turn] = number;
  Wait(thread, MeetingPlace::kExchange);
  const auto first = int32_t(thread->thread) / kPkWarpThreads * kPkWarpThreads;
  return {turn, first, std::min(kPkWarpThreads, launch_->threads - first)};
}

uint32_t BlockRunner::Match(EmulatedThread* thread, uint32_t number) {
  const auto [turn, first, lanes] = Offer(thread, number);
  uint32_t same = 0;
  for (int32_t lane = 0; lane < lanes; ++lane)
    same |= uint32_t{threads_[first + lane]->numbers[turn] == number} << lane;
  return same;
}

uint64_t BlockRunner::Shuffle(EmulatedThread* thread, uint64_t number, int32_t lane) {
  const auto [turn, first, lanes] = Offer(thread, number);
  const int32_t other = lane & (kPkWarpThreads - 1);
  return other < lanes ? threads_[first + other]->numbers[turn] : number;
}

void BlockRunner::CheckShared(EmulatedThread* thread, int64_t offset, int64_t bytes,
                              int32_t access) {
  if (access == kPkAccessAtomic) return;
  const bool is_store = access == kPkAccessStore;
  const int32_t other = accesses_.Note(thread->thread, offset, bytes, is_store);
  if (other == SharedAccesses::kNone) return;
  char what[160];
  std::snprintf(what, sizeof what,
                "%s at %" PRId64 " in shared memory races with an access of thread %d",
                NameOfAccess(access), offset, int(other));
  End(thread, what);
}

// Who looks at one place again and again waits for another block, which may have no processor.
void BlockRunner::LetOthersRun(const EmulatedThread* thread, const void* address) {
  const bool is_again = address == looks_at_ && thread->thread == looking_;
  looks_ = is_again ? looks_ + 1 : 0;
  looks_at_ = address;
  looking_ = thread->thread;
  if (looks_ > kLooks) sched_yield();
}

void BlockRunner::Check(EmulatedThread* thread, const void* address, int64_t bytes,
                        int32_t access) {
  if (access == kPkAccessAtomic && AddressWord(address) % uint64_t(bytes) != 0) {
    char what[160];
    std::snprintf(what, sizeof what,
                  "an atomic update of %" PRId64 " bytes at %p, which is no multiple of that",
                  bytes, address);
    End(thread, what);
  }
  const auto offset = uint64_t(AddressWord(address) - AddressWord(shared_.get()));
  const auto shared_bytes = uint64_t(launch_->kernel->shared_bytes);
  if (offset < shared_bytes && uint64_t(bytes) <= shared_bytes - offset) {
    return CheckShared(thread, int64_t(offset), bytes, access);
  }
  if (access == kPkAccessAtomic) LetOthersRun(thread, address);
  if (launch_->memory->Holds(address, bytes, &found_)) return;
  for (const auto& [buffer, size] : thread->own) {
    const uint64_t at = AddressWord(address) - AddressWord(buffer);
    if (at < uint64_t(size) && uint64_t(bytes) <= uint64_t(size) - at) return;
  }
  char what[160];
  std::snprintf(what, sizeof what, "%s of %" PRId64 " bytes at %p lies in no memory of the kernel",
                NameOfAccess(access), bytes, address);
  End(thread, what);
}

void BlockRunner::Fail(EmulatedThread* thread, int32_t site, int32_t place_count,
                       const int64_t* place, int32_t scalar_count, const int64_t* scalars) {
  PkErrorRecord* record = launch_->error_record();
  if (record == nullptr) End(thread, "fails, in a kernel that is said not to");
  if (place_count > kPkMostPlace) End(thread, "fails at too long a place");
  if (scalar_count > kPkMostScalars) End(thread, "fails with too many scalars");
  std::atomic_ref<int32_t> lock(record->lock);
  while (lock.exchange(1, std::memory_order_acquire) != 0) sched_yield();
  Record(record, site, place_count, place, scalar_count, scalars);
  lock.store(0, std::memory_order_release);
}

void* BlockRunner::Allocate(EmulatedThread* thread, int64_t bytes) {
  void* buffer = bytes < 0 ? nullptr : runtime::Allocate(uint64_t(bytes));
  if (buffer == nullptr) {
    Fail(thread, kPkSiteMemory, 0, nullptr, 1, &bytes);
    return nullptr;
  }
  thread->own.emplace_back(static_cast<char*>(buffer), bytes);
  return buffer;
}

void BlockRunner::Free(EmulatedThread* thread, void* buffer) {
  if (buffer == nullptr) return;
  auto& own = thread->own;
  const auto found =
      std::find_if(own.begin(), own.end(), [&](const auto& each) { return each.first == buffer; });
  if (found == own.end()) End(thread, "frees what it has not allocated");
  Release(buffer);
  own.erase(found);
}

}  // namespace parakeet::runtime

namespace {

using parakeet::runtime::EmulatedThread;
using parakeet::runtime::MeetingPlace;

EmulatedThread* Of(PkThread* thread) { return static_cast<EmulatedThread*>(thread); }

}  // namespace

extern "C" {

void pk_thread_barrier(PkThread* thread) {
  Of(thread)->runner->Wait(Of(thread), MeetingPlace::kBarrier);
}

void pk_thread_warp_barrier(PkThread* thread) {
  Of(thread)->runner->Wait(Of(thread), MeetingPlace::kWarpBarrier);
}

uint32_t pk_thread_match(PkThread* thread, uint32_t number) {
  return Of(thread)->runner->Match(Of(thread), number);
}

uint64_t pk_thread_shuffle(PkThread* thread, uint64_t number, int32_t lane) {
  return Of(thread)->runner->Shuffle(Of(thread), number, lane);
}

void pk_thread_fail(PkThread* thread, int32_t site, int32_t place_count, const int64_t* place,
                    int32_t scalar_count, const int64_t* scalars) {
  Of(thread)->runner->Fail(Of(thread), site, place_count, place, scalar_count, scalars);
}

void* pk_thread_alloc(PkThread* thread, int64_t bytes) {
  return Of(thread)->runner->Allocate(Of(thread), bytes);
}

void pk_thread_free(PkThread* thread, void* buffer) {
  Of(thread)->runner->Free(Of(thread), buffer);
}

void pk_thread_check(PkThread* thread, const void* address, int64_t bytes, int32_t access) {
  Of(thread)->runner->Check(Of(thread), address, bytes, access);
}

}  // extern "C"
