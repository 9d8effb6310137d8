#include "pylib/core/compile_lock.h"

#include "pylib/take_gil.h"

namespace parakeet::pylib {
namespace {

uint32_t generation = 1;  // of forks; changed in a child that has one thread

}  // namespace

CompileLock::~CompileLock() {
  if (lock_ != nullptr) PyThread_free_lock(lock_);
}

bool CompileLock::Acquire() {
  if (generation_ != generation) {
    // A lock that someone held at the fork is lost, not freed: its state is unknown.
    lock_ = PyThread_allocate_lock();
    holder_ = 0;
    generation_ = generation;
    if (lock_ == nullptr) {
      PyErr_NoMemory();
      return false;
    }
  }
  const unsigned long me = PyThread_get_thread_ident();
  if (holder_ == me) {
    PyErr_SetString(PyExc_RuntimeError, "a jitted function was called while it was being compiled");
    return false;
  }
  if (PyThread_acquire_lock(lock_, NOWAIT_LOCK) == 0) {
    PyThreadState* state = PyEval_SaveThread();
    PyThread_acquire_lock(lock_, WAIT_LOCK);
    PkTakeGil(state);
  }
  holder_ = me;
  return true;
}

void CompileLock::Release() {
  holder_ = 0;
  PyThread_release_lock(lock_);
}

void CompileLock::ForgetHolders() { ++generation; }

}  // namespace parakeet::pylib
