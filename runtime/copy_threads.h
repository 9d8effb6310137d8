// Threads that wait for a large copy and do it together.
//
// Starting a thread takes as long as the link needs for a piece, and copies come one behind
// another: threads stay once they are made, asleep between copies.
#ifndef PARAKEET_RUNTIME_COPY_THREADS_H_
#define PARAKEET_RUNTIME_COPY_THREADS_H_

#include <cstddef>
#include <functional>
#include <memory>

namespace parakeet::runtime {

// Used by one thread at a time.
class CopyThreads {
 public:
  CopyThreads() = default;
  // The threads end by themselves.
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;

  // task(0) on the thread that asks, task(1) to task(count - 1) on others at the same time; returns
  // when all have. Where the system gives fewer threads, fewer tasks run: a task takes its share
  // from what is left.
  void Run(size_t count, const std::function<void(size_t)>& task);

 private:
  struct Shared;

  static void Serve(const std::shared_ptr<Shared>& shared, size_t number);

  std::shared_ptr<Shared> shared_;  // with the threads, which may outlive this
  size_t made_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_COPY_THREADS_H_
