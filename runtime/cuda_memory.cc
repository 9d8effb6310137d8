#include "runtime/cuda_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace parakeet::runtime {

CuResult CudaMemory::Open(CuDevice device) {
  if (const CuResult error = driver_.DeviceGetDefaultMemPool(&pool_, device)) return error;
  uint64_t all = UINT64_MAX;
  return driver_.MemPoolSetAttribute(pool_, kCuReleaseThreshold, &all);
}

bool CudaMemory::Reserve(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  const int64_t limit = counters_.limit_bytes;
  if (limit > 0 && bytes > limit - counters_.live_bytes) return false;
  counters_.live_bytes += bytes;
  counters_.live_buffers += 1;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  return true;
}

void CudaMemory::GiveUp(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  counters_.live_bytes -= bytes;
  counters_.live_buffers -= 1;
}

// What is freed on other streams, or in pieces, may do once it is given back.
CuResult CudaMemory::Ask(CuAddress* address, int64_t bytes, CuStream stream) {
  const size_t size = size_t(std::max<int64_t>(bytes, 1));
  CuResult result = driver_.MemAllocAsync(address, size, stream);
  if (result != kCuOutOfMemory) return result;
  driver_.StreamSynchronize(stream);
  driver_.MemPoolTrimTo(pool_, 0);
  return driver_.MemAllocAsync(address, size, stream);
}

void* CudaMemory::Allocate(int64_t bytes, CuStream stream) {
  if (!Reserve(bytes)) return nullptr;
  CuAddress address = 0;
  if (Ask(&address, bytes, stream) != 0) {
    GiveUp(bytes);
    return nullptr;
  }
  void* const buffer = reinterpret_cast<void*>(uintptr_t(address));
  const std::lock_guard lock(mutex_);
  live_.emplace(buffer, bytes);
  return buffer;
}

void CudaMemory::Free(void* buffer, CuStream stream) {
  int64_t bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(buffer);
    if (found == live_.end()) {
      std::fprintf(stderr, "parakeet: %p is no live buffer of the CUDA device\n", buffer);
      std::abort();
    }
    bytes = found->second;
    live_.erase(found);
  }
  // Fails where the context is lost, and the memory with it.
  driver_.MemFreeAsync(CuAddress(reinterpret_cast<uintptr_t>(buffer)), stream);
  GiveUp(bytes);
}

void CudaMemory::SetLimit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  counters_.limit_bytes = bytes;
}

void CudaMemory::ResetPeak() {
  const std::lock_guard lock(mutex_);
  counters_.peak_bytes = counters_.live_bytes;
}

DeviceCounters CudaMemory::Counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

}  // namespace parakeet::runtime
