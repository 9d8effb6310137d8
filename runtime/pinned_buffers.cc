#include "runtime/pinned_buffers.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>

#include "runtime/buffer_block.h"
#include "runtime/buffer_pool.h"

namespace parakeet::runtime {

// What is known of a mapping of the pool.
struct PinnedMapping {
  int64_t bytes = 0;
  int results = 0;              // that have come down to it
  int users = 0;                // copies that are under way
  CuContext context = nullptr;  // where it is pinned
  const CudaDriver* driver = nullptr;

  bool is_pinned() const { return context != nullptr; }
};

namespace {

// Copies that save together what it costs to pin.
constexpr int kResultsWorthPinning = 4;
constexpr uint64_t kMostOfDefault = uint64_t{4} << 30;
constexpr unsigned kOfAllContexts = 1;

// One mutex, held across fork, so that a child finds it whole. Never destroyed, like the pool.
struct Pins {
  std::mutex mutex;
  std::condition_variable unused;
  std::map<const char*, PinnedMapping> mappings;
  int64_t pinned_bytes = 0;
  int64_t most_bytes = int64_t(std::min(DefaultPoolCap() / 2, kMostOfDefault));
};

Pins& ThePins();

// With the lock held, as in what follows.
void Pin(Pins& pins, const CudaDriver& driver, char* begin, PinnedMapping* mapping) {
  if (pins.pinned_bytes + mapping->bytes > pins.most_bytes) return;
  CuContext context = nullptr;
  driver.CtxGetCurrent(&context);
  if (driver.MemHostRegister(begin, size_t(mapping->bytes), kOfAllContexts) != 0) return;
  pins.pinned_bytes += mapping->bytes;
  mapping->context = context;
  mapping->driver = &driver;
}

// Nobody copies. A lost context has given the memory free itself.
void Unpin(Pins& pins, const char* begin, PinnedMapping* mapping) {
  if (!mapping->is_pinned()) return;
  const CudaDriver& driver = *mapping->driver;
  CuContext before = nullptr;
  driver.CtxGetCurrent(&before);
  if (before != mapping->context) driver.CtxSetCurrent(mapping->context);
  driver.MemHostUnregister(const_cast<char*>(begin));
  if (before != mapping->context) driver.CtxSetCurrent(before);
  pins.pinned_bytes -= mapping->bytes;
  mapping->context = nullptr;
}

void ForgetMapping(void* begin) {
  if (IsForkOfCuda()) return;
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  const auto found = pins.mappings.find(static_cast<char*>(begin));
  if (found == pins.mappings.end()) return;
  Unpin(pins, found->first, &found->second);
  pins.mappings.erase(found);
}

bool IsUsed(const Pins& pins) {
  return std::any_of(pins.mappings.begin(), pins.mappings.end(),
                     [](const auto& each) { return each.second.users > 0; });
}

// Waits for copies of other threads, which the device makes by itself.
void UnpinForFork() {
  Pins& pins = ThePins();
  std::unique_lock lock(pins.mutex);
  if (!IsForkOfCuda()) {
    pins.unused.wait(lock, [&] { return !IsUsed(pins); });
    for (auto& [begin, mapping] : pins.mappings) {
      Unpin(pins, begin, &mapping);
      mapping.results = 0;
    }
  }
  lock.release();
}

void UnlockBehindFork() { ThePins().mutex.unlock(); }

Pins* MakePins() {
  auto* pins = new Pins;
  pthread_atfork(UnpinForFork, UnlockBehindFork, UnlockBehindFork);
  WatchMappings(ForgetMapping);
  return pins;
}

Pins& ThePins() {
  static Pins* const pins = MakePins();
  return *pins;
}

}  // namespace

void NoteResultBuffer(const CudaDriver& driver, void* buffer) {
  const Mapping of_buffer = MappingOf(BlockOf(buffer));
  if (of_buffer.begin == nullptr) return;
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  PinnedMapping& mapping = pins.mappings[of_buffer.begin];
  mapping.bytes = int64_t(of_buffer.bytes);
  if (mapping.is_pinned() || ++mapping.results < kResultsWorthPinning) return;
  mapping.results = 0;
  Pin(pins, driver, of_buffer.begin, &mapping);
}

PinnedUse::PinnedUse(const void* host, int64_t bytes) : mapping_(nullptr) {
  const auto* begin = static_cast<const char*>(host);
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  auto found = pins.mappings.upper_bound(begin);
  if (found == pins.mappings.begin()) return;
  --found;
  if (!found->second.is_pinned() || begin + bytes > found->first + found->second.bytes) return;
  mapping_ = &found->second;
  ++mapping_->users;
}

PinnedUse::~PinnedUse() {
  if (mapping_ == nullptr) return;
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  if (--mapping_->users == 0) pins.unused.notify_all();
}

void SetMostPinned(int64_t bytes) {
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  pins.most_bytes = bytes;
}

int64_t MostPinned() {
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  return pins.most_bytes;
}

int64_t CountPinned() {
  if (IsForkOfCuda()) return 0;
  Pins& pins = ThePins();
  const std::lock_guard lock(pins.mutex);
  return pins.pinned_bytes;
}

}  // namespace parakeet::runtime
