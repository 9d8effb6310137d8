// pk_enter and pk_leave: recursion ends in RecursionError, never in a crash.
//
// Depth is counted for each thread, because the threads of a team recurse each on its own stack.
// The count alone would not do: a worker's stack may be small and a frame large, so the address of
// the stack is compared too.

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "runtime/abi.h"
#include "runtime/call.h"

namespace parakeet::runtime {
namespace {

std::atomic<int32_t> recursion_limit{1000};

// What must stay free below a frame: the frame itself, and what it calls in C libraries.
constexpr uintptr_t kStackReserve = uintptr_t{kPkMaxFrameBytes} + 128 * 1024;

// Frames may not begin in [low, floor). An address outside the thread's stack is a fibre's, of
// which only the depth is known. Where the system does not tell the bounds, the range is empty.
// Before anybody has asked, it is everything.
struct ThreadStack {
  int32_t depth = 0;
  bool is_known = false;
  uintptr_t low = 0;
  uintptr_t floor = UINTPTR_MAX;
};

// In the block that every thread begins with, from which it is read by one instruction: found by
// name in a library that was opened, it would cost more than the calls that are counted.
__attribute__((tls_model("initial-exec"))) thread_local ThreadStack this_stack;

void FindBounds(ThreadStack* stack) {
  stack->is_known = true;
  stack->floor = 0;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
    stack->low = reinterpret_cast<uintptr_t>(low);
    stack->floor = stack->low + std::min<uintptr_t>(kStackReserve, size / 2);
  }
  pthread_attr_destroy(&attributes);
}

bool HasRoom(const ThreadStack& stack) {
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return stack.depth < RecursionLimit() && !(stack.low <= frame && frame < stack.floor);
}

}  // namespace

void SetRecursionLimit(int32_t limit) { recursion_limit.store(limit, std::memory_order_relaxed); }

int32_t RecursionLimit() { return recursion_limit.load(std::memory_order_relaxed); }

}  // namespace parakeet::runtime

using namespace parakeet::runtime;

namespace {

// Apart, so that what nearly every call does is a few instructions.
__attribute__((noinline)) int32_t EnterAtLimit(PkCall* call) {
  ThreadStack& stack = this_stack;
  if (!stack.is_known) {
    FindBounds(&stack);
    return pk_enter(call);
  }
  const int64_t depth = stack.depth;
  pk_fail(call, kPkSiteRecursion, 0, nullptr, 1, &depth);
  return 1;
}

}  // namespace

extern "C" int32_t pk_enter(PkCall* call) {
  ThreadStack& stack = this_stack;
  if (!HasRoom(stack)) return EnterAtLimit(call);
  ++stack.depth;
  return 0;
}

extern "C" void pk_leave(PkCall* /*call*/) { --this_stack.depth; }
