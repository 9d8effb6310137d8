#include "runtime/copy_threads.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

namespace parakeet::runtime {

struct CopyThreads::Shared {
  std::mutex mutex;  // of what follows
  std::condition_variable begins, ends;
  const std::function<void(size_t)>* task = nullptr;
  uint64_t turn = 0;   // of the last Run
  size_t threads = 0;  // those with a number below have a part in it
  size_t at_work = 0;
  bool is_over = false;
};

// Numbers begin at 1: 0 is the thread that asks.
void CopyThreads::Serve(const std::shared_ptr<Shared>& shared, size_t number) {
  std::unique_lock lock(shared->mutex);
  for (uint64_t seen = 0;;) {
    shared->begins.wait(lock, [&] { return shared->is_over || shared->turn != seen; });
    if (shared->is_over) return;
    seen = shared->turn;
    if (number >= shared->threads) continue;
    const auto& task = *shared->task;
    lock.unlock();
    task(number);
    lock.lock();
    if (--shared->at_work == 0) shared->ends.notify_one();
  }
}

void CopyThreads::Run(size_t count, const std::function<void(size_t)>& task) {
  if (count > 1 && shared_ == nullptr) shared_ = std::make_shared<Shared>();
  try {
    for (; made_ + 1 < count; ++made_) std::thread(Serve, shared_, made_ + 1).detach();
  } catch (const std::system_error&) {
    // Those that are there do it all.
  }
  const size_t helpers = std::min(made_, count - 1);
  if (helpers == 0) return task(0);
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->task = &task;
    shared_->threads = helpers + 1;
    shared_->at_work = helpers;
    ++shared_->turn;
  }
  shared_->begins.notify_all();
  task(0);
  std::unique_lock lock(shared_->mutex);
  shared_->ends.wait(lock, [this] { return shared_->at_work == 0; });
}

CopyThreads::~CopyThreads() {
  if (shared_ == nullptr) return;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_over = true;
  }
  shared_->begins.notify_all();
}

}  // namespace parakeet::runtime
