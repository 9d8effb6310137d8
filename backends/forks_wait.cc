#include "backends/forks_wait.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <new>

namespace parakeet::backends {
namespace {

class Gate {
 public:
  void Watch() {
    std::call_once(once_, [] { pthread_atfork(BeforeFork, InParent, InChild); });
  }

  void Enter() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !is_forking_; });
    ++inside_;
  }

  void Leave() {
    const std::lock_guard lock(mutex_);
    --inside_;
    changed_.notify_all();
  }

 private:
  static void BeforeFork();
  static void InParent();
  static void InChild();

  // The mutex is held across fork.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::once_flag once_;
  int inside_ = 0;
  bool is_forking_ = false;
};

Gate& TheGate() {
  static Gate* const gate = new Gate;
  return *gate;
}

void Gate::BeforeFork() {
  Gate& gate = TheGate();
  std::unique_lock lock(gate.mutex_);
  // Another thread may be at it.
  gate.changed_.wait(lock, [&] { return !gate.is_forking_; });
  gate.is_forking_ = true;
  gate.changed_.wait(lock, [&] { return gate.inside_ == 0; });
  lock.release();
}

void Gate::InParent() {
  Gate& gate = TheGate();
  gate.is_forking_ = false;
  gate.mutex_.unlock();
  gate.changed_.notify_all();
}

// Threads that waited are none of the child's.
void Gate::InChild() {
  Gate& gate = TheGate();
  gate.is_forking_ = false;
  new (&gate.changed_) std::condition_variable;
  gate.mutex_.unlock();
}

}  // namespace

ForksWait::ForksWait() {
  TheGate().Watch();
  TheGate().Enter();
}

ForksWait::~ForksWait() { TheGate().Leave(); }

void WatchForks() { TheGate().Watch(); }

}  // namespace parakeet::backends
