#include "runtime/fibre.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// Saves the registers that a function must keep and its stack pointer in `*from`, and goes on where
// the stack pointer `to` was saved.
extern "C" void parakeet_switch_stack(void** from, void* to);
// Where a new fibre begins: calls the function in r13 with r12.
extern "C" void parakeet_begin_fibre();

asm(R"(
.text
.p2align 4
.hidden parakeet_switch_stack
.globl parakeet_switch_stack
.type parakeet_switch_stack, @function
parakeet_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size parakeet_switch_stack, . - parakeet_switch_stack

.p2align 4
.hidden parakeet_begin_fibre
.globl parakeet_begin_fibre
.type parakeet_begin_fibre, @function
parakeet_begin_fibre:
  movq %r12, %rdi
  callq *%r13
  ud2
.size parakeet_begin_fibre, . - parakeet_begin_fibre
)");

namespace parakeet::runtime {
namespace {

// What stands on a stack that waits in parakeet_switch_stack. Above it the stack is 16-byte
// aligned, as it has to be before a call.
struct SavedRegisters {
  uint64_t r15, r14, r13, r12, rbx, rbp;
  void (*return_address)();
};
static_assert(sizeof(SavedRegisters) == 56);

// `kept` is a place for the sanitizer's state of the stack that is left; null where it ends.
void StartSwitch([[maybe_unused]] void** kept, [[maybe_unused]] const void* stack,
                 [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(kept, stack, bytes);
#endif
}

void FinishSwitch([[maybe_unused]] void* kept, [[maybe_unused]] const void** left_stack,
                  [[maybe_unused]] size_t* left_bytes) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(kept, left_stack, left_bytes);
#endif
}

}  // namespace

void Fibre::Begin(Fibre* fibre) {
  FinishSwitch(nullptr, &fibre->resumer_stack_, &fibre->resumer_stack_bytes_);
  fibre->body_(fibre->argument_);
  fibre->has_ended_ = true;
  StartSwitch(nullptr, fibre->resumer_stack_, fibre->resumer_stack_bytes_);
  parakeet_switch_stack(&fibre->own_, fibre->resumer_);
}

void Fibre::Start(char* stack, size_t bytes, void (*body)(void*), void* argument) {
  SavedRegisters first = {};
  first.r12 = reinterpret_cast<uint64_t>(this);
  first.r13 = reinterpret_cast<uint64_t>(&Begin);
  first.return_address = parakeet_begin_fibre;
  char* top = stack + bytes - reinterpret_cast<uintptr_t>(stack + bytes) % 16;
  own_ = top - sizeof first;
  std::memcpy(own_, &first, sizeof first);
  body_ = body;
  argument_ = argument;
  has_ended_ = false;
  stack_ = stack;
  stack_bytes_ = bytes;
}

void Fibre::Resume() {
  void* kept = nullptr;
  StartSwitch(&kept, stack_, stack_bytes_);
  parakeet_switch_stack(&resumer_, own_);
  FinishSwitch(kept, nullptr, nullptr);
}

void Fibre::Suspend() {
  void* kept = nullptr;
  StartSwitch(&kept, resumer_stack_, resumer_stack_bytes_);
  parakeet_switch_stack(&own_, resumer_);
  FinishSwitch(kept, &resumer_stack_, &resumer_stack_bytes_);
}

namespace {

// Below each stack stands a mark, below the first of them as much memory again. Stacks begin at
// different places of a page and of a power of two, since equal depths of all of them would fall on
// the same sets of the caches.

constexpr size_t kPage = 4096;
constexpr size_t kStride = FibreStacks::kBytes + 2 * kPage;
constexpr size_t kColourStep = 64;
constexpr size_t BytesOf(int32_t stacks) { return kStride * size_t(stacks + 1); }

constexpr uint64_t kMark[8] = {0x6b7261705f646e65, 1, 2, 3, 5, 8, 13, 21};

}  // namespace

FibreStacks::~FibreStacks() { Unmap(); }

void FibreStacks::Unmap() {
  if (low_ != nullptr) munmap(low_, BytesOf(count_));
  low_ = nullptr;
  count_ = 0;
}

bool FibreStacks::Reserve(int32_t count) {
  if (count <= count_) return true;
  Unmap();
  void* memory = mmap(nullptr, BytesOf(count), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  low_ = static_cast<char*>(memory);
  count_ = count;
  for (int32_t i = 0; i < count; ++i) std::memcpy(At(i) - sizeof kMark, kMark, sizeof kMark);
  return true;
}

char* FibreStacks::At(int32_t i) const {
  const size_t colour = size_t(i) * kColourStep % kPage;
  return low_ + BytesOf(i) + sizeof kMark + colour;
}

bool FibreStacks::IsIntact(int32_t i) const {
  return std::memcmp(At(i) - sizeof kMark, kMark, sizeof kMark) == 0;
}

}  // namespace parakeet::runtime
