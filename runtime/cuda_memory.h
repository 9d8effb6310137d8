// The memory of a CUDA device: the driver's pool, in the order of streams, with account of it.
#ifndef PARAKEET_RUNTIME_CUDA_MEMORY_H_
#define PARAKEET_RUNTIME_CUDA_MEMORY_H_

#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "runtime/cuda_driver.h"
#include "runtime/device.h"

namespace parakeet::runtime {

// Called by any thread, with the device's context current.
class CudaMemory {
 public:
  explicit CudaMemory(const CudaDriver& driver) : driver_(driver) {}

  // Keeps what is freed with the pool, instead of giving it back whenever a stream is waited for.
  CuResult Open(CuDevice device);

  // For the work of `stream`. Null where there is not enough, also beside the limit.
  void* Allocate(int64_t bytes, CuStream stream);
  // In the order of `stream`. Ends the process where it is no live allocation.
  void Free(void* buffer, CuStream stream);

  void SetLimit(int64_t bytes);
  void ResetPeak();
  // All but the launches.
  DeviceCounters Counters() const;

 private:
  bool Reserve(int64_t bytes);
  void GiveUp(int64_t bytes);
  CuResult Ask(CuAddress* address, int64_t bytes, CuStream stream);

  const CudaDriver& driver_;
  CuMemoryPool pool_ = nullptr;
  mutable std::mutex mutex_;
  std::unordered_map<void*, int64_t> live_;
  DeviceCounters counters_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_MEMORY_H_
