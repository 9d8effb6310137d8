// How a device runs the blocks of a kernel: what host code and kernels call for it.
#ifndef PARAKEET_BACKENDS_LLVM_KERNEL_RUNNER_H_
#define PARAKEET_BACKENDS_LLVM_KERNEL_RUNNER_H_

#include "backends/llvm/emission.h"

namespace parakeet::backends {

// What the runtime is told of a kernel (runtime/device_abi.h).
struct KernelTraits {
  bool may_fail = false;
  bool has_barriers = false;
  bool matches = false;   // Lanes of a warp ask what others have.
  bool shuffles = false;  // They take what others have.
  int64_t own_bytes = 0;  // of a thread's own arrays, and of the widest of their elements
  int64_t own_width = 0;
  int group = 0;           // Kernels of one are launched together, if at all.
  bool any_order = false;  // No block waits for another.
  int64_t shared_bytes = 0;
  int64_t capture_bytes = 0;        // that the kernel is launched with
  bool captures_elsewhere = false;  // Behind the runtime's, they are in memory of the launch.
  int64_t threads = 1;              // of a block, at most
  friend auto operator<=>(const KernelTraits&, const KernelTraits&) = default;
};

// Threads of one warp, which are together at every step.
inline constexpr int64_t kWarpThreads = 32;

// A kernel is written as a function (context, captures) of no result, whose captures begin with two
// words of the runtime's, and a PkBlockOrder where its blocks may come in any order. `context` is
// what the functions for failures and memory take first.
class KernelRunner {
 public:
  virtual ~KernelRunner() = default;
  virtual const MathLibrary& math() const = 0;
  // Whether kernels are the host's code, with its instructions.
  virtual bool IsHost() const = 0;

  // In a kernel, at the builder's place. Numbers are i64.
  virtual llvm::Value* Context(Emission& emission, llvm::Function* kernel) const = 0;
  virtual llvm::Value* BlockNumber(Emission& emission, llvm::Value* context) const = 0;
  virtual llvm::Value* ThreadNumber(Emission& emission, llvm::Value* context) const = 0;
  virtual void Barrier(Emission& emission, llvm::Value* context) const = 0;
  // The same for the threads of each warp, who wait for one another.
  virtual void WarpBarrier(Emission& emission, llvm::Value* context) const = 0;
  // The block's shared memory from a byte on.
  virtual llvm::Value* Shared(Emission& emission, llvm::Value* context, int64_t offset) const = 0;
  // pk_fail, pk_alloc and pk_free with the context for the call.
  virtual llvm::Function* Fail(Emission& emission) const = 0;
  virtual llvm::Function* Allocate(Emission& emission) const = 0;
  virtual llvm::Function* Free(Emission& emission) const = 0;
  // Stands before an access to an element; `access` is a PkAccess.
  virtual void Check(Emission& emission, llvm::Value* context, llvm::Value* address, int64_t bytes,
                     int access) const = 0;
  // What the thread did before is seen before what it does later, by all blocks.
  virtual void Fence(Emission& emission) const = 0;

  // Behind the finished kernel: the PkKernel of it, a constant.
  virtual llvm::Constant* Describe(Emission& emission, llvm::Function* kernel,
                                   const KernelTraits& traits) = 0;

  // The lanes of the warp, as bits of an i32, whose number (an i32 of which no more than the low
  // `bits` are set) is the thread's. All threads of the warp come here.
  virtual llvm::Value* Match(Emission& emission, llvm::Value* context, llvm::Value* number,
                             int bits) const = 0;

  // The integer of 32 or 64 bits that a lane of the warp has, by its number (an i32), or the
  // thread's own where there is none. All threads of the warp come here.
  virtual llvm::Value* Shuffle(Emission& emission, llvm::Value* context, llvm::Value* number,
                               llvm::Value* lane) const = 0;
};

// The PkKernel of a kernel, whose code is known later.
llvm::GlobalVariable* DeclareKernelConstant(Emission& emission, llvm::StringRef name);
void DefineKernelConstant(llvm::GlobalVariable* constant, int kind, const KernelTraits& traits,
                          llvm::Constant* code, int64_t code_bytes, llvm::StringRef name);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_KERNEL_RUNNER_H_
