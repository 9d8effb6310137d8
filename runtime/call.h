// One running call of compiled code: its error slot and the buffers it has not given away.
//
//   Call call(ThreadCount());
//   if (entry(&call, args, results) != 0) { ... call.error() ... }
//   KeepResult(&call, base);   // for each fresh buffer among the results
//   // the end of `call` frees every other buffer
//
// It lies on the caller's stack and takes a few stores to begin and a comparison to end.
#ifndef PARAKEET_RUNTIME_CALL_H_
#define PARAKEET_RUNTIME_CALL_H_

#include <atomic>
#include <cstdint>

#include "runtime/abi.h"
#include "runtime/error_slot.h"
#include "runtime/profile.h"
#include "runtime/spin_lock.h"

namespace parakeet::runtime {

struct Block;
class DeviceCall;

// Buffers of a call, linked through their headers.
struct BlockList {
  SpinLock lock;  // held only where the team is larger than 1
  Block* first = nullptr;
};

class Call : public PkCall {
 public:
  // `team` >= 1. With a team of 1 only the calling thread may use the call.
  explicit Call(int32_t team) : PkCall{0, team} {
    if (team > 1) owner_ = ThisThread();
  }
  ~Call() {
    if (own_.first != nullptr || others_.load(std::memory_order_relaxed) != nullptr) FreeBuffers();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Keeps account of the call's regions and buffers from here on. `profile` outlives the call.
  void set_profile(Profile* profile) { profile_ = profile; }
  Profile* profile() const { return profile_; }

  // The part of the call on a device (device_call.h), or null.
  void set_device_call(DeviceCall* device_call) { device_call_ = device_call; }
  DeviceCall* device_call() const { return device_call_; }

  bool has_failed() const { return slot_.is_set(); }

  // Assumes has_failed() and that no thread of the call runs any more.
  const ErrorRecord& error() const { return slot_.record(); }

  // What the functions of abi.h do, for callers written in C++.
  void* AllocateBuffer(int64_t bytes);
  void FreeBuffer(void* buffer);
  void Fail(int32_t site, int32_t place_count, const int64_t* place, int32_t scalar_count,
            const int64_t* scalars);

  // Takes a buffer off the list: it is the caller's, to be freed with Release (buffers.h).
  void Keep(void* buffer);

 private:
  class Lock;
  // The lists of a team's threads, which make buffers in loops: none waits for another. Made when
  // the first of them makes one.
  struct OtherLists;

  // An address that no other thread has.
  static const void* ThisThread() { return __builtin_thread_pointer(); }
  BlockList& ListOfThisThread();
  OtherLists* Others();
  void Unlink(Block* block);
  void FreeBuffers();

  SpinLock lock_;  // of the error slot and the profile; held only where the team is larger than 1
  std::atomic<OtherLists*> others_{nullptr};
  const void* owner_ = nullptr;  // that thread, of a larger team
  ErrorSlot slot_;
  Profile* profile_ = nullptr;
  DeviceCall* device_call_ = nullptr;
  // Of the thread that called, on a line of the cache of its own: other threads of a team read what
  // is before it for each buffer that they make.
  alignas(64) BlockList own_;
};

inline void KeepResult(PkCall* call, void* buffer) { static_cast<Call*>(call)->Keep(buffer); }

// How many calls may be open one in another before RecursionError; 1000 at first, as in Python.
// Applies where recursion begins afterwards.
void SetRecursionLimit(int32_t limit);
int32_t RecursionLimit();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CALL_H_
