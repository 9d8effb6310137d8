#include "runtime/cuda_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

namespace parakeet::runtime {
namespace {

// What the driver's pool gives is a multiple of this.
constexpr size_t kGrain = 512;

size_t SizeOf(int64_t bytes) {
  return (size_t(std::max<int64_t>(bytes, 1)) + kGrain - 1) / kGrain * kGrain;
}

}  // namespace

CuResult CudaMemory::Open(CuDevice device) {
  if (const CuResult error = driver_.DeviceGetDefaultMemPool(&pool_, device)) return error;
  uint64_t all = UINT64_MAX;
  return driver_.MemPoolSetAttribute(pool_, kCuReleaseThreshold, &all);
}

// This and the next with the lock held.
bool CudaMemory::Reserve(int64_t bytes) {
  const int64_t limit = counters_.limit_bytes;
  if (limit > 0 && bytes > limit - counters_.live_bytes) return false;
  counters_.live_bytes += bytes;
  counters_.live_buffers += 1;
  counters_.peak_bytes = std::max(counters_.peak_bytes, counters_.live_bytes);
  return true;
}

void CudaMemory::GiveUp(int64_t bytes) {
  counters_.live_bytes -= bytes;
  counters_.live_buffers -= 1;
}

// Fails where the context is lost, and the memory with it.
bool CudaMemory::Release(const std::vector<FreedBlocks::Block>& blocks, CuStream stream) {
  for (const FreedBlocks::Block& block : blocks) driver_.MemFreeAsync(block.address, stream);
  return !blocks.empty();
}

bool CudaMemory::GiveBackTooMuch(FreedBlocks& freed) {
  std::unique_lock lock(mutex_);
  const std::vector<FreedBlocks::Block> blocks = freed.TakeTooMuch();
  lock.unlock();
  return Release(blocks, freed.stream());
}

bool CudaMemory::GiveBack(FreedBlocks& freed) {
  std::unique_lock lock(mutex_);
  const std::vector<FreedBlocks::Block> blocks = freed.TakeAll();
  lock.unlock();
  return Release(blocks, freed.stream());
}

// What is freed on other streams, or in pieces, may do once it is given back.
CuResult CudaMemory::Ask(CuAddress* address, size_t bytes, FreedBlocks& freed) {
  const CuResult result = driver_.MemAllocAsync(address, bytes, freed.stream());
  if (result != kCuOutOfMemory) return result;
  GiveBack(freed);
  driver_.StreamSynchronize(freed.stream());
  driver_.MemPoolTrimTo(pool_, 0);
  return driver_.MemAllocAsync(address, bytes, freed.stream());
}

// With the lock held.
void* CudaMemory::Hold(CuAddress address, int64_t bytes) {
  void* const buffer = reinterpret_cast<void*>(uintptr_t(address));
  live_.emplace(buffer, bytes);
  return buffer;
}

void* CudaMemory::Reuse(int64_t bytes, FreedBlocks& freed) {
  const std::lock_guard lock(mutex_);
  if (!Reserve(bytes)) return nullptr;
  if (const std::optional<CuAddress> address = freed.Take(SizeOf(bytes))) {
    return Hold(*address, bytes);
  }
  GiveUp(bytes);
  return nullptr;
}

void* CudaMemory::Allocate(int64_t bytes, FreedBlocks& freed) {
  std::unique_lock lock(mutex_);
  if (!Reserve(bytes)) return nullptr;
  lock.unlock();
  CuAddress address = 0;
  const CuResult error = Ask(&address, SizeOf(bytes), freed);
  lock.lock();
  if (error == 0) return Hold(address, bytes);
  GiveUp(bytes);
  return nullptr;
}

bool CudaMemory::Free(void* buffer, FreedBlocks& freed) {
  const std::lock_guard lock(mutex_);
  const auto found = live_.find(buffer);
  if (found == live_.end()) {
    std::fprintf(stderr, "parakeet: %p is no live buffer of the CUDA device\n", buffer);
    std::abort();
  }
  const int64_t bytes = found->second;
  live_.erase(found);
  GiveUp(bytes);
  return freed.Keep({CuAddress(reinterpret_cast<uintptr_t>(buffer)), SizeOf(bytes)});
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
