// One compilation of a function at a time: threads that miss together wait for the first, then find
// what it made.
#ifndef PARAKEET_PYLIB_CORE_COMPILE_LOCK_H_
#define PARAKEET_PYLIB_CORE_COMPILE_LOCK_H_

#include <atomic>
#include <cstdint>

#include "pylib/python.h"

namespace parakeet::pylib {

// Taken and released with the GIL held, which is given up while waiting. A child of fork starts
// with the lock free, whatever another thread of its parent was doing.
class CompileLock {
 public:
  CompileLock() = default;
  ~CompileLock();
  CompileLock(const CompileLock&) = delete;
  CompileLock& operator=(const CompileLock&) = delete;

  // False with an exception set, where this thread holds it already (compiling a function has
  // called the function) or there is no memory.
  bool Acquire();
  void Release();

  // To be called in the child after a fork.
  static void ForgetHolders();

 private:
  PyThread_type_lock lock_ = nullptr;
  unsigned long holder_ = 0;
  uint32_t generation_ = 0;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_COMPILE_LOCK_H_
