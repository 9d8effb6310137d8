// The memory of a CUDA device: the driver's pool, in the order of streams, with account of it. What
// a stream has freed it gets again first (freed_blocks.h).
#ifndef PARAKEET_RUNTIME_CUDA_MEMORY_H_
#define PARAKEET_RUNTIME_CUDA_MEMORY_H_

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "runtime/cuda_driver.h"
#include "runtime/device.h"
#include "runtime/freed_blocks.h"

namespace parakeet::runtime {

// Called by any thread, with the device's context current.
class CudaMemory {
 public:
  explicit CudaMemory(const CudaDriver& driver) : driver_(driver) {}

  // Keeps what is freed with the pool, instead of giving it back whenever a stream is waited for.
  CuResult Open(CuDevice device);

  // For the work of the stream whose blocks are `freed`. Null where there is not enough, also
  // beside the limit.
  void* Allocate(int64_t bytes, FreedBlocks& freed);
  // The same of what is kept alone, which asks the driver for nothing. Null where that has none.
  void* Reuse(int64_t bytes, FreedBlocks& freed);
  // In the order of that stream, without the driver. False where GiveBackTooMuch is to follow. Ends
  // the process where it is no live allocation.
  bool Free(void* buffer, FreedBlocks& freed);
  // What is too much, or all that is kept, goes back to the driver, behind what the stream has to
  // do by now. False where that is nothing.
  bool GiveBackTooMuch(FreedBlocks& freed);
  bool GiveBack(FreedBlocks& freed);

  void SetLimit(int64_t bytes);
  void ResetPeak();
  // All but the launches.
  DeviceCounters Counters() const;

 private:
  bool Reserve(int64_t bytes);
  void GiveUp(int64_t bytes);
  bool Release(const std::vector<FreedBlocks::Block>& blocks, CuStream stream);
  void* Hold(CuAddress address, int64_t bytes);
  CuResult Ask(CuAddress* address, size_t bytes, FreedBlocks& freed);

  const CudaDriver& driver_;
  CuMemoryPool pool_ = nullptr;
  mutable std::mutex mutex_;  // of what follows and of all freed blocks
  std::unordered_map<void*, int64_t> live_;
  DeviceCounters counters_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_MEMORY_H_
