#include "runtime/emulated_device.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/clock.h"
#include "runtime/device_error.h"
#include "runtime/emulated_block.h"
#include "runtime/emulated_memory.h"
#include "runtime/matrix_libraries.h"
#include "runtime/team.h"

namespace parakeet::runtime {
namespace {

// What runs no longer than this runs on the calling thread alone: others take as long to start.
constexpr int64_t kAloneNanoseconds = 200'000;

constexpr int32_t kBadLaunch = -1;

// Runners keep their stacks and shared memory from launch to launch.
class RunnerPool {
 public:
  std::unique_ptr<BlockRunner> Take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<BlockRunner>();
    std::unique_ptr<BlockRunner> runner = std::move(free_.back());
    free_.pop_back();
    return runner;
  }

  void Put(std::unique_ptr<BlockRunner> runner) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(runner));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<BlockRunner>> free_;
};

// The blocks of one launch, which threads of the host take in order: a block may wait for what
// earlier ones write.
class Grid {
 public:
  Grid(const EmulatedLaunch& launch, int64_t blocks, RunnerPool* runners)
      : launch_(launch), blocks_(blocks), runners_(*runners) {}

  // False where there was no memory for a block.
  bool Run() {
    const int64_t begin = NowNanoseconds();
    std::vector<std::thread> team;
    RunBlocks([&] {
      if (team.empty() && NowNanoseconds() - begin > kAloneNanoseconds) StartTeam(&team);
    });
    for (std::thread& thread : team) thread.join();
    return !lacks_memory_.load();
  }

 private:
  template <typename AfterBlock>
  void RunBlocks(AfterBlock after_block) {
    std::unique_ptr<BlockRunner> runner = runners_.Take();
    for (int64_t block; (block = next_.fetch_add(1)) < blocks_;) {
      if (!runner->Run(launch_, block)) {
        lacks_memory_.store(true);
        next_.store(blocks_);
      }
      after_block();
    }
    runners_.Put(std::move(runner));
  }

  // As many as there is work for. Where the system starts no more, the others do it.
  void StartTeam(std::vector<std::thread>* team) {
    const int64_t left = blocks_ - next_.load();
    const int64_t count = std::min<int64_t>(ThreadCount() - 1, left - 1);
    try {
      for (int64_t i = 0; i < count; ++i) team->emplace_back([this] { RunBlocks([] {}); });
    } catch (const std::system_error&) {
    }
  }

  const EmulatedLaunch& launch_;
  const int64_t blocks_;
  RunnerPool& runners_;
  std::atomic<int64_t> next_{0};
  std::atomic<bool> lacks_memory_{false};
};

// Work is done by the time a function returns, so every thread's is in order.
class EmulatedDevice : public Device {
 public:
  DeviceKind kind() const override { return DeviceKind::kEmulated; }
  int number() const override { return 0; }
  std::string Name() const override { return "emulated"; }
  int Architecture() const override { return 0; }

  DeviceCounters Counters() const override {
    DeviceCounters counters = memory_.Counters();
    counters.launches = launches_.load(std::memory_order_relaxed);
    counters.bytes_up = bytes_up_.load(std::memory_order_relaxed);
    counters.bytes_down = bytes_down_.load(std::memory_order_relaxed);
    counters.products = products_.load(std::memory_order_relaxed);
    return counters;
  }

  void ResetPeak() override { memory_.ResetPeak(); }

  void* Allocate(int64_t bytes) override { return memory_.Allocate(bytes); }
  void Free(void* buffer) override { memory_.Free(buffer); }
  void SetLimit(int64_t bytes) override { memory_.SetLimit(bytes); }

  int32_t CopyUp(void* device, const void* host, int64_t bytes) override {
    Check(device, bytes);
    if (bytes > 0) std::memcpy(device, host, size_t(bytes));
    bytes_up_.fetch_add(bytes, std::memory_order_relaxed);
    return 0;
  }

  int32_t CopyDown(void* host, const void* device, int64_t bytes) override {
    Check(device, bytes);
    if (bytes > 0) std::memcpy(host, device, size_t(bytes));
    bytes_down_.fetch_add(bytes, std::memory_order_relaxed);
    return 0;
  }

  int32_t Launch(const PkKernel& kernel, int64_t blocks, int32_t threads, const void* captures,
                 int64_t bytes) override;

  bool Multiply(const BlasProduct& product) override;

  int32_t Wait() override { return 0; }

  bool Holds(const void* address) const {
    EmulatedMemory::Found found;
    return memory_.Holds(address, 0, &found);
  }

 private:
  // Ends the process where compiled host code, or the runtime, takes another address for one of the
  // device.
  void Check(const void* device, int64_t bytes) const {
    EmulatedMemory::Found found;
    if (bytes == 0 || memory_.Holds(device, bytes, &found)) return;
    std::fprintf(stderr, "parakeet: %lld bytes at %p are not in memory of the emulated device\n",
                 static_cast<long long>(bytes), device);
    std::abort();
  }

  EmulatedMemory memory_;
  RunnerPool runners_;
  std::atomic<int64_t> launches_{0}, products_{0}, bytes_up_{0}, bytes_down_{0};
};

int32_t EmulatedDevice::Launch(const PkKernel& kernel, int64_t blocks, int32_t threads,
                               const void* captures, int64_t bytes) {
  if (kernel.kind != kPkKernelEmulated) {
    return NoteDeviceError(
        kBadLaunch, std::string("kernel ") + kernel.name + " is not for the emulated device");
  }
  if (threads < 1 || threads > kPkMostThreads || bytes < kPkRuntimeBytes ||
      bytes > kPkMostCaptureBytes) {
    return NoteDeviceError(kBadLaunch, std::string("kernel ") + kernel.name +
                                           " is launched with too many threads or captures");
  }
  launches_.fetch_add(1, std::memory_order_relaxed);
  const EmulatedLaunch launch = {&kernel, threads, captures, &memory_};
  if (Grid(launch, blocks, &runners_).Run()) return 0;
  return NoteDeviceError(kBadLaunch,
                         std::string("no memory for the threads of kernel ") + kernel.name);
}

// Every product that BLAS has words for, so that programs of the tests go the way they go on a GPU.
bool EmulatedDevice::Multiply(const BlasProduct& product) {
  const auto check = [&](const BlasMatrix& matrix, int64_t rows, int64_t columns) {
    const int64_t bytes = BytesOf(product.element);
    if (matrix.reading != Reading::kAsIs) std::swap(rows, columns);
    for (int64_t number = 0; number < product.batch; ++number) {
      const int64_t elements = (columns - 1) * matrix.column_stride + rows;
      Check(matrix.data + number * matrix.batch_stride * bytes, elements * bytes);
    }
  };
  check(product.a, product.rows, product.depth);
  check(product.b, product.depth, product.columns);
  check(product.c, product.rows, product.columns);
  if (!MultiplyOnHost(product)) return false;
  products_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

EmulatedDevice& TheDevice() {
  static auto* const device = new EmulatedDevice;
  return *device;
}

}  // namespace

Device* OpenEmulatedDevice(int number, std::string* why) {
  if (number == 0) return &TheDevice();
  *why = "there is no emulated device " + std::to_string(number) + ", only 0";
  return nullptr;
}

bool FindEmulatedDevice(const void* address, int* number) {
  *number = 0;
  return TheDevice().Holds(address);
}

}  // namespace parakeet::runtime
