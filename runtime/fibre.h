// A function on a stack of its own that can wait, while its thread runs others.
//
// A switch saves the registers that functions keep and no signal mask, so it costs what a call
// costs; ucontext's enters the kernel.
#ifndef PARAKEET_RUNTIME_FIBRE_H_
#define PARAKEET_RUNTIME_FIBRE_H_

#include <cstddef>
#include <cstdint>

namespace parakeet::runtime {

// Used by one thread.
class Fibre {
 public:
  // Prepares `body(argument)` to run on the stack, which has no use before and outlives it.
  void Start(char* stack, size_t bytes, void (*body)(void*), void* argument);

  // Runs it until it suspends itself or ends. Assumes !has_ended().
  void Resume();

  // Called by the fibre itself: returns when it is next resumed.
  void Suspend();

  bool has_ended() const { return has_ended_; }

 private:
  static void Begin(Fibre* fibre);

  void* own_ = nullptr;      // the stack pointer while it waits
  void* resumer_ = nullptr;  // the resumer's, while it runs
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  bool has_ended_ = true;
  // What AddressSanitizer wants to know of a switch.
  const void* stack_ = nullptr;
  size_t stack_bytes_ = 0;
  const void* resumer_stack_ = nullptr;
  size_t resumer_stack_bytes_ = 0;
};

// Equal stacks side by side, mapped at their first use and kept.
class FibreStacks {
 public:
  // Kernels are compiled with the least effort: each value has a place in their frames.
  static constexpr size_t kBytes = 128 * 1024;

  FibreStacks() = default;
  ~FibreStacks();
  FibreStacks(const FibreStacks&) = delete;
  FibreStacks& operator=(const FibreStacks&) = delete;

  // Makes stacks 0 .. count - 1; false where there is no memory. No stack is in use.
  bool Reserve(int32_t count);

  // The lowest address of a stack of kBytes.
  char* At(int32_t i) const;

  // Whether nothing has written below it, as a fibre with too large frames does.
  bool IsIntact(int32_t i) const;

 private:
  void Unmap();

  char* low_ = nullptr;
  int32_t count_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_FIBRE_H_
