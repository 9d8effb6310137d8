#include "runtime/emulated_memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "runtime/buffers.h"

namespace parakeet::runtime {
namespace {

// What memory holds before anybody writes it: nan as a float, -1 as an integer. The first bytes
// alone: enough to be seen, and to cost little.
constexpr int kPoison = 0xff;
constexpr int64_t kPoisonedBytes = 256 * 1024;

}  // namespace

void* EmulatedMemory::Allocate(int64_t bytes) {
  const std::unique_lock lock(mutex_);
  if (limit_ > 0 && bytes > limit_ - live_bytes_) return nullptr;
  void* buffer = runtime::Allocate(uint64_t(bytes));
  if (buffer == nullptr) return nullptr;
  std::memset(buffer, kPoison, size_t(std::min(bytes, kPoisonedBytes)));
  live_.emplace(reinterpret_cast<uintptr_t>(buffer), bytes);
  live_bytes_ += bytes;
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  return buffer;
}

void EmulatedMemory::Free(void* buffer) {
  if (buffer == nullptr) return;
  const std::unique_lock lock(mutex_);
  const auto found = live_.find(reinterpret_cast<uintptr_t>(buffer));
  if (found == live_.end()) {
    std::fprintf(stderr, "parakeet: %p is no live buffer of the emulated device\n", buffer);
    std::abort();
  }
  live_bytes_ -= found->second;
  live_.erase(found);
  frees_.fetch_add(1, std::memory_order_release);
  Release(buffer);
}

void EmulatedMemory::SetLimit(int64_t bytes) {
  const std::unique_lock lock(mutex_);
  limit_ = bytes;
}

void EmulatedMemory::ResetPeak() {
  const std::unique_lock lock(mutex_);
  peak_bytes_ = live_bytes_;
}

DeviceCounters EmulatedMemory::Counters() const {
  const std::shared_lock lock(mutex_);
  DeviceCounters counters;
  counters.live_bytes = live_bytes_;
  counters.live_buffers = int64_t(live_.size());
  counters.peak_bytes = peak_bytes_;
  counters.limit_bytes = limit_;
  return counters;
}

bool EmulatedMemory::Find(uintptr_t begin, int64_t bytes, Found* found) const {
  const std::shared_lock lock(mutex_);
  auto next = live_.upper_bound(begin);
  if (next == live_.begin()) return false;
  const auto [low, size] = *--next;
  if (begin + uint64_t(bytes) > low + uint64_t(size)) return false;
  found->Add(low, low + uint64_t(size), frees_.load(std::memory_order_relaxed));
  return true;
}

}  // namespace parakeet::runtime
