// pk_find_stack and pk_too_deep: recursion ends in RecursionError, never in a crash.
//
// Calls hand down how many more there is room for. That alone would not do: a worker's stack may be
// small and a frame large, so each also compares where it begins with the floor of its stack.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/abi.h"
#include "runtime/call.h"

namespace parakeet::runtime {
namespace {

std::atomic<int32_t> recursion_limit{1000};

// What must stay free below where a frame begins: the frame itself, that of a function which calls
// nothing more and asks nothing (backends/llvm/ask_for_room.h), and what they call in C libraries.
constexpr uintptr_t kStackReserve = 2 * uintptr_t{kPkMaxFrameBytes} + 128 * 1024;

// Of the thread: frames may not begin below `floor`, which is 0 where the system does not tell.
struct ThreadStack {
  bool is_known = false;
  uintptr_t low = 0;
  uintptr_t high = 0;
  uintptr_t floor = 0;
};

// In the block that every thread begins with, from which it is read by one instruction.
__attribute__((tls_model("initial-exec"))) thread_local ThreadStack this_stack;

void FindBounds(ThreadStack* stack) {
  stack->is_known = true;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack->low = reinterpret_cast<uintptr_t>(low);
    stack->high = stack->low + size;
    stack->floor = stack->low + std::min<uintptr_t>(kStackReserve, size / 2);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace

void SetRecursionLimit(int32_t limit) { recursion_limit.store(limit, std::memory_order_relaxed); }

int32_t RecursionLimit() { return recursion_limit.load(std::memory_order_relaxed); }

}  // namespace parakeet::runtime

using namespace parakeet::runtime;

extern "C" int32_t pk_find_stack(PkCall* call, PkStack* stack) {
  ThreadStack& thread = this_stack;
  if (!thread.is_known) FindBounds(&thread);
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  // Outside of the thread's stack is a fibre's, of whose bounds nothing is known.
  const bool is_on_it = thread.low <= here && here < thread.high;
  *stack = {call, is_on_it ? thread.floor : 0};
  return RecursionLimit();
}

extern "C" void pk_too_deep(PkCall* call, int32_t room) {
  const int64_t depth = RecursionLimit() - room;
  pk_fail(call, kPkSiteRecursion, 0, nullptr, 1, &depth);
}
