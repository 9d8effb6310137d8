#include "backends/prepare.h"

#include <pthread.h>

#include <cstdlib>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "backends/compile.h"
#include "backends/forks_wait.h"
#include "backends/llvm/target.h"

namespace parakeet::backends {
namespace {

// A process that forks or ends meanwhile waits: a child would find LLVM's locks held for good, and
// what a process destroys at its end is LLVM's too. The mutex is held across fork.
class Preparation {
 public:
  void Start() {
    const std::lock_guard lock(mutex_);
    if (is_started_) return;
    is_started_ = true;
    try {
      std::promise<void> machine;
      machine_ = machine.get_future().share();
      thread_ = std::thread(Run, std::move(machine));
    } catch (const std::system_error&) {
      return;  // No thread is to be had.
    }
    pthread_atfork(BeforeFork, AfterFork, AfterFork);
    WatchForks();  // who compiles may wait for the machine
    std::atexit(WaitUntilPrepared);
  }

  void WaitForMachine() {
    std::shared_future<void> machine;
    {
      const std::lock_guard lock(mutex_);
      machine = machine_;
    }
    if (machine.valid()) machine.wait();
  }

  void Wait() {
    const std::lock_guard lock(mutex_);
    Join();
  }

 private:
  static void BeforeFork();
  static void AfterFork();

  void Join() {
    if (thread_.joinable()) thread_.join();
  }

  static void Run(std::promise<void> machine) {
    Try(PrepareMachine);
    machine.set_value();
    Try(PrepareWriter);
  }

  static void Try(void (*prepare)()) {
    try {
      prepare();
    } catch (...) {
      // The first compilation will tell.
    }
  }

  std::mutex mutex_;
  bool is_started_ = false;
  std::shared_future<void> machine_;
  std::thread thread_;
};

Preparation& ThePreparation() {
  static Preparation* const preparation = new Preparation;
  return *preparation;
}

void Preparation::BeforeFork() {
  ThePreparation().mutex_.lock();
  ThePreparation().Join();
}

void Preparation::AfterFork() { ThePreparation().mutex_.unlock(); }

}  // namespace

void WaitForMachine() { ThePreparation().WaitForMachine(); }

void WaitUntilPrepared() { ThePreparation().Wait(); }

void Prepare() { ThePreparation().Start(); }

}  // namespace parakeet::backends
