// A lock of one byte for a few instructions at a time; fits on the stack and costs nothing to make.
#ifndef PARAKEET_RUNTIME_SPIN_LOCK_H_
#define PARAKEET_RUNTIME_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace parakeet::runtime {

// Meets BasicLockable. A waiter yields its core at once: what holds the lock may be waiting for
// one, since teams are often as large as the machine.
class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_SPIN_LOCK_H_
