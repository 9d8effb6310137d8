// Forks that wait for compilations to end.
#ifndef PARAKEET_BACKENDS_FORKS_WAIT_H_
#define PARAKEET_BACKENDS_FORKS_WAIT_H_

namespace parakeet::backends {

// While it lives, a thread that forks waits: a child would find locks of the compiler's and of
// LLVM's held for good. It may not wait for the thread that forks meanwhile, as for Python's GIL.
class ForksWait {
 public:
  ForksWait();
  ~ForksWait();
  ForksWait(const ForksWait&) = delete;
  ForksWait& operator=(const ForksWait&) = delete;
};

// From here on forks wait. What registers its own handlers of forks does so before: those of the
// last to do so run first.
void WatchForks();

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_FORKS_WAIT_H_
