// CUDA devices on a driver that is none: how work is ordered, staged, cached and accounted for.
#include "runtime/cuda_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/buffers.h"
#include "runtime/device_call.h"
#include "runtime/pinned_buffers.h"
#include "runtime/team.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

Device& Cuda(int number = 0) {
  static const bool is_set = (SetCudaDriver(FakeCudaDriver()), true);
  EXPECT_TRUE(is_set);
  std::string why;
  Device* device = OpenDevice(DeviceKind::kCuda, number, &why);
  EXPECT_EQ(why, "");
  return *device;
}

struct Captures {
  PkErrorRecord* record;
  PkErrorRecord* before;
  int64_t* numbers;
  int64_t count;
};

PkKernel KernelOf(const char* name, const std::string& code, int32_t flags = 0,
                  int64_t shared_bytes = 0) {
  return {kPkKernelCuda, flags, shared_bytes, code.data(), int64_t(code.size()), name};
}

void AddTen(unsigned, unsigned, const void* captures) {
  const auto& at = *static_cast<const Captures*>(captures);
  for (int64_t i = 0; i < at.count; ++i) at.numbers[i] += 10;
}

std::vector<int64_t> Numbers(size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 1);
  return numbers;
}

TEST(CudaDevice, SaysWhatItIs) {
  EXPECT_EQ(Cuda().Name(), "Fake");
  EXPECT_EQ(Fake().heap_bytes, 3000 / 32);
  SetKernelHeap(50);
  EXPECT_EQ(Cuda(1).Name(), "Fake");
  EXPECT_EQ(Fake().heap_bytes, 50);
  EXPECT_EQ(Cuda().Architecture(), 90);
  EXPECT_EQ(Cuda(1).number(), 1);
  EXPECT_EQ(&Cuda(1), &Cuda(1));
  EXPECT_NE(&Cuda(1), &Cuda(0));
  EXPECT_EQ(Cuda().Memory().total_bytes, 3000);
  EXPECT_EQ(Fake().release_threshold, UINT64_MAX);
  std::string why;
  EXPECT_EQ(CountDevices(DeviceKind::kCuda, &why), 2);
  for (const int number : {2, -1}) {
    EXPECT_EQ(OpenDevice(DeviceKind::kCuda, number, &why), nullptr);
    EXPECT_EQ(why, "there is no CUDA device " + std::to_string(number) +
                       ": there are 2, numbered from 0");
  }
}

TEST(CudaDevice, OneThatIsTooOldIsRefused) {
  Cuda();
  Fake().devices = 3;
  Fake().capability = 6;
  std::string why;
  EXPECT_EQ(OpenDevice(DeviceKind::kCuda, 2, &why), nullptr);
  EXPECT_EQ(why, "CUDA device 2 is of compute capability 6.0; expected 7.0 or more");
  Fake().devices = 2;
  Fake().capability = 9;
}

// Sizes around those where a copy changes its way.
TEST(CudaDevice, CopiesOfAllSizesArrive) {
  const int32_t before = ThreadCount();
  SetThreadCount(3);
  const int64_t kb = 1024 / 8, mb = 1024 * kb;  // in numbers
  for (const int64_t count : {int64_t{1}, 64 * kb - 1, 64 * kb, 300 * kb, 2 * mb, 2 * mb + 1,
                              5 * mb - 3, 16 * mb, 21 * mb + 7}) {
    std::vector<int64_t> up = Numbers(size_t(count));
    std::vector<int64_t> down(up.size());
    const std::vector<int64_t> expected = up;
    auto* device = static_cast<int64_t*>(Cuda().Allocate(count * 8));
    ASSERT_EQ(Cuda().CopyUp(device, up.data(), count * 8), 0);
    std::fill(up.begin(), up.end(), -1);  // It has been read.
    ASSERT_EQ(Cuda().CopyDown(down.data(), device, count * 8), 0);
    EXPECT_TRUE(down == expected) << count;
    Cuda().Free(device);
  }
  SetThreadCount(before);
  EXPECT_EQ(Cuda().CopyUp(nullptr, nullptr, 0), 0);
  EXPECT_EQ(Cuda().CopyDown(nullptr, nullptr, 0), 0);
}

TEST(CudaDevice, ManySmallCopiesPassThroughTheRing) {
  constexpr int64_t kCount = 5000, kEach = 1001;
  auto* device = static_cast<char*>(Cuda().Allocate(kCount * kEach));
  std::vector<char> one(kEach);
  std::vector<char> all(kCount * kEach);
  for (int64_t i = 0; i < kCount; ++i) {
    std::fill(one.begin(), one.end(), char(i % 127));
    ASSERT_EQ(Cuda().CopyUp(device + i * kEach, one.data(), kEach), 0);
  }
  ASSERT_EQ(Cuda().CopyDown(all.data(), device, kCount * kEach), 0);
  for (int64_t i = 0; i < kCount * kEach; ++i) ASSERT_EQ(all[i], char(i / kEach % 127)) << i;
  Cuda().Free(device);
}

TEST(CudaDevice, ACallRunsItsKernelsInOrder) {
  Fake().kernels["add_ten"] = AddTen;
  const std::string code = "code of add_ten";
  const PkKernel kernel = KernelOf("add_ten", code);
  std::vector<int64_t> numbers = {1, 2, 3};
  const int64_t size = 3, stride = 8;
  const int64_t launches = Cuda().Counters().launches;
  {
    Call call(1);
    DeviceCall on_device(&call, &Cuda());
    DeviceArgument arguments[] = {{numbers.data(), 8, 1, &size, &stride, true}};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    Captures captures = {nullptr, nullptr, static_cast<int64_t*>(arguments[0].data), 3};
    EXPECT_EQ(pk_device_launch(&call, &kernel, 2, 64, &captures, sizeof captures), 0);
    EXPECT_EQ(pk_device_launch(&call, &kernel, 2, 64, &captures, sizeof captures), 0);
    captures = {};  // A launch has its own copy.
    EXPECT_EQ(pk_device_launch(&call, &kernel, 0, 64, &captures, sizeof captures), 0);
    EXPECT_TRUE(on_device.GiveBackArguments());
  }
  EXPECT_EQ(numbers, (std::vector<int64_t>{21, 22, 23}));
  EXPECT_EQ(Cuda().Counters().launches - launches, 2);
  EXPECT_EQ(Cuda().Counters().live_bytes, 0);
}

TEST(CudaDevice, WhatThreadsRecordIsTheCallsError) {
  Fake().kernels["fail"] = [](unsigned, unsigned, const void* captures) {
    PkErrorRecord& record = *static_cast<const Captures*>(captures)->record;
    EXPECT_EQ(record.state, kPkRecordEmpty);
    record.state = kPkRecordHolds;
    record.site = 4;
    record.place_count = record.scalar_count = 1;
    record.place[0] = 7;
    record.scalars[0] = -5;
  };
  const std::string code = "code of fail";
  const PkKernel kernel = KernelOf("fail", code, kPkKernelMayFail);
  Captures captures = {};
  Call call(1);
  DeviceCall on_device(&call, &Cuda());
  EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 1, &captures, sizeof captures), 0);
  EXPECT_FALSE(on_device.Settle());
  ASSERT_TRUE(call.has_failed());
  EXPECT_EQ(call.error().site, 4);
  EXPECT_EQ(call.error().place, std::vector<int64_t>{7});
  EXPECT_EQ(call.error().scalars, std::vector<int64_t>{-5});
  EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 1, &captures, sizeof captures), 1);
}

// What the driver is asked for by a call, beside its kernels.
TEST(CudaDevice, ACallThatCannotFailDoesNotWait) {
  Fake().kernels["add_ten"] = AddTen;
  const std::string code = "code of add_ten";
  const PkKernel kernel = KernelOf("add_ten", code);
  auto* numbers = static_cast<int64_t*>(Cuda().Allocate(8));
  const int64_t size = 1, stride = 8, zero = 0;
  EXPECT_EQ(Cuda().CopyUp(numbers, &zero, 8), 0);
  const int waits = Fake().waits, changes = Fake().context_changes;
  {
    Call call(1);
    DeviceCall on_device(&call, &Cuda());
    DeviceArgument arguments[] = {{numbers, 8, 1, &size, &stride, true, true}};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    void* temporary = on_device.AllocateBuffer(800);
    for (int i = 0; i < 5; ++i) {
      Captures captures = {nullptr, nullptr, numbers, 1};
      EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 64, &captures, sizeof captures), 0);
    }
    on_device.FreeBuffer(temporary);
    EXPECT_TRUE(on_device.GiveBackArguments());
    EXPECT_TRUE(on_device.Share());
  }
  EXPECT_EQ(Fake().waits, waits);
  EXPECT_EQ(Fake().context_changes - changes, 1);
  int64_t seen = 0;
  EXPECT_EQ(Cuda().CopyDown(&seen, numbers, 8), 0);
  EXPECT_EQ(seen, 50);
  Cuda().Free(numbers);
}

TEST(CudaDevice, ACallThatCanFailWaitsOnceAndAllocatesNothing) {
  Fake().kernels["add_ten"] = AddTen;
  const std::string code = "code of add_ten";
  const PkKernel kernel = KernelOf("add_ten", code, kPkKernelMayFail);
  const auto run = [&] {
    Captures captures = {};
    Call call(1);
    DeviceCall on_device(&call, &Cuda());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 64, &captures, sizeof captures), 0);
    }
  };
  run();
  const int waits = Fake().waits, allocations = Fake().allocations;
  const int64_t live = Fake().live_bytes;
  run();
  EXPECT_EQ(Fake().waits - waits, 1);
  EXPECT_EQ(Fake().allocations, allocations);
  EXPECT_EQ(Fake().live_bytes, live);
}

TEST(CudaDevice, EqualCodeIsLoadedOnceWhereverItIs) {
  Fake().kernels["twin"] = AddTen;
  const std::string one = "code of twins", other = "code of twins";
  const int before = Fake().loads;
  Captures captures = {};
  for (const std::string* code : {&one, &other, &one}) {
    const PkKernel kernel = KernelOf("twin", *code);
    EXPECT_EQ(Cuda().Launch(kernel, 1, 1, &captures, sizeof captures), 0);
  }
  EXPECT_EQ(Fake().loads - before, 1);
  EXPECT_EQ(Fake().loaded_code, one);
  // Another device has modules of its own.
  EXPECT_EQ(Cuda(1).Launch(KernelOf("twin", one), 1, 1, &captures, sizeof captures), 0);
  EXPECT_EQ(Fake().loads - before, 2);
  EXPECT_EQ(Cuda().Wait(), 0);
  EXPECT_EQ(Cuda(1).Wait(), 0);
}

TEST(CudaDevice, MuchSharedMemoryIsAskedForOnce) {
  Fake().kernels["large"] = AddTen;
  const std::string code = "code of large";
  Captures captures = {};
  Fake().most_shared_bytes = 0;
  EXPECT_EQ(Cuda().Launch(KernelOf("large", code, 0, 48 * 1024), 1, 1, &captures, 32), 0);
  EXPECT_EQ(Fake().most_shared_bytes, 0);
  const PkKernel large = KernelOf("large", code, 0, 100 * 1024);
  EXPECT_EQ(Cuda().Launch(large, 1, 1, &captures, 32), 0);
  EXPECT_EQ(Fake().most_shared_bytes, 100 * 1024);
  EXPECT_EQ(Cuda().Wait(), 0);
}

TEST(CudaDevice, SaysWhatHelpsWhereCodeIsNewerThanTheDriver) {
  Captures captures = {};
  const std::string ours = "new code", theirs = "new code // Generated by NVIDIA NVVM Compiler";
  EXPECT_EQ(Cuda().Launch(KernelOf("k", ours), 1, 1, &captures, sizeof captures), 222);
  const std::string text =
      "cannot load kernel k: it is said so (FAKE_ERROR); the driver is older than this code: "
      "update it";
  EXPECT_EQ(DeviceErrorText(222), text);
  EXPECT_EQ(Cuda().Launch(KernelOf("k", theirs), 1, 1, &captures, sizeof captures), 222);
  EXPECT_EQ(DeviceErrorText(222), text +
                                      ", set parakeet.config.gpu_assembler to 'nvptx', or install "
                                      "an older libNVVM (nvidia-cuda-nvcc-cu12)");
}

TEST(CudaDevice, SaysInALineWhatTheDriverRefuses) {
  Captures captures = {};
  const std::string bad = "bad code", code = "code without it";
  EXPECT_EQ(Cuda().Launch(KernelOf("k", bad), 1, 1, &captures, sizeof captures), 218);
  EXPECT_EQ(DeviceErrorText(218),
            "cannot load kernel k: it is said so (FAKE_ERROR): line 1: bad; line 2: worse");
  EXPECT_EQ(Cuda().Launch(KernelOf("missing", code), 1, 1, &captures, sizeof captures), 500);
  EXPECT_EQ(DeviceErrorText(500),
            "there is no kernel missing in its code: it is said so (FAKE_ERROR)");
  PkKernel kernel = KernelOf("k", code);
  EXPECT_EQ(Cuda().Launch(kernel, int64_t{1} << 31, 1, &captures, sizeof captures), -1);
  EXPECT_EQ(DeviceErrorText(-1), "kernel k is launched with too many blocks");
  EXPECT_EQ(Cuda().Launch(kernel, 1, 1025, &captures, sizeof captures), -1);
  EXPECT_EQ(Cuda().Launch(kernel, 1, 1, &captures, 4001), -1);
  kernel.kind = kPkKernelEmulated;
  EXPECT_EQ(Cuda().Launch(kernel, 1, 1, &captures, sizeof captures), -1);
  EXPECT_EQ(DeviceErrorText(-1), "kernel k is not for a CUDA device");
  Fake().failure = 700;
  EXPECT_EQ(Cuda().Wait(), 700);
  EXPECT_EQ(DeviceErrorText(700), "CUDA device 0 fails: it is said so (FAKE_ERROR)");
}

TEST(CudaDevice, MemoryEndsAndComesBack) {
  const int64_t before = Cuda().Counters().live_bytes;
  Fake().memory_bytes = 1000;
  const int trims = Fake().trims;
  EXPECT_EQ(Cuda().Allocate(777'000), nullptr);
  EXPECT_EQ(Fake().trims - trims, 1);
  Fake().memory_bytes = int64_t{1} << 40;
  Cuda().SetLimit(before + 100);
  EXPECT_EQ(Cuda().Allocate(101), nullptr);
  void* most = Cuda().Allocate(100);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(Cuda().Allocate(1), nullptr);
  void* nothing = Cuda().Allocate(0);
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(Cuda().Counters().live_bytes, before + 100);
  EXPECT_EQ(Cuda().Counters().limit_bytes, before + 100);
  Cuda().Free(most);
  Cuda().Free(nothing);
  Cuda().Free(nullptr);
  Cuda().SetLimit(0);
  EXPECT_GE(Cuda().Counters().peak_bytes, before + 100);
  Cuda().ResetPeak();
  EXPECT_EQ(Cuda().Counters().peak_bytes, before);
}

TEST(CudaDevice, OtherThreadsComeAfterWhatIsShared) {
  Fake().kernels["add_ten"] = AddTen;
  const std::string code = "code of add_ten";
  const PkKernel kernel = KernelOf("add_ten", code);
  auto* numbers = static_cast<int64_t*>(Cuda().Allocate(8));
  int64_t seen = 0;
  const auto add_ten = [&] {
    Captures captures = {nullptr, nullptr, numbers, 1};
    EXPECT_EQ(Cuda().Launch(kernel, 1, 1, &captures, sizeof captures), 0);
  };
  const int64_t one = 1;
  EXPECT_EQ(Cuda().CopyUp(numbers, &one, 8), 0);
  // A thread whose stream is new, then one that has the same stream.
  for (int i = 0; i < 2; ++i) {
    add_ten();
    EXPECT_EQ(Cuda().Share(), 0);
    std::thread([&] {
      EXPECT_EQ(Cuda().CopyDown(&seen, numbers, 8), 0);
      EXPECT_EQ(seen, 1 + 20 * i + 10);
      add_ten();
      EXPECT_EQ(Cuda().Share(), 0);
    }).join();
    EXPECT_EQ(Cuda().CopyDown(&seen, numbers, 8), 0);
    EXPECT_EQ(seen, 1 + 20 * i + 20);
  }
  Cuda().Free(numbers);
}

TEST(CudaDevice, ThreadsWithoutWorkCostThoseWithSomeNothing) {
  int64_t seen = 0;
  auto* numbers = static_cast<int64_t*>(Cuda().Allocate(8));
  const auto share = [&](int64_t number) {
    EXPECT_EQ(Cuda().CopyUp(numbers, &number, 8), 0);
    EXPECT_EQ(Cuda().Share(), 0);
  };
  std::thread([&] {
    EXPECT_EQ(Cuda().Wait(), 0);
    const int before = Fake().stream_waits;
    std::thread([&] {
      for (int i = 0; i < 10; ++i) share(i);
    }).join();
    const int made = Fake().stream_waits;  // its stream may be new, and waits for all others
    std::thread([&] {
      for (int i = 0; i < 10; ++i) share(i);
    }).join();
    EXPECT_EQ(Fake().stream_waits, made);
    EXPECT_GE(made, before);
    EXPECT_EQ(Cuda().CopyDown(&seen, numbers, 8), 0);
    EXPECT_EQ(seen, 9);
    EXPECT_EQ(Fake().stream_waits, made + 1);
    EXPECT_EQ(Cuda().Wait(), 0);
    EXPECT_EQ(Fake().stream_waits, made + 1);
  }).join();
  Cuda().Free(numbers);
}

TEST(CudaDevice, AStreamIsUsedAgainWhenItsThreadHasEnded) {
  std::thread([] { EXPECT_EQ(Cuda().Wait(), 0); }).join();
  const int streams = Fake().streams;
  for (int i = 0; i < 5; ++i) std::thread([] { EXPECT_EQ(Cuda().Wait(), 0); }).join();
  EXPECT_EQ(Fake().streams, streams);
}

TEST(CudaDevice, WaitsForStreamsOfOthers) {
  const CudaDriver driver = FakeCudaDriver();
  auto* numbers = static_cast<int64_t*>(Cuda().Allocate(16));
  const int64_t up[2] = {5, 6};
  int64_t down[2] = {};
  CuStream other = nullptr;
  CuContext context = nullptr;
  driver.DevicePrimaryCtxRetain(&context, 0);
  driver.CtxSetCurrent(context);
  driver.StreamCreate(&other, 0);
  const auto address = CuAddress(reinterpret_cast<uintptr_t>(numbers));
  driver.MemcpyHtoDAsync(address, up, 16, other);
  EXPECT_EQ(Cuda().WaitForStream(other), 0);
  EXPECT_EQ(Cuda().CopyDown(down, numbers, 16), 0);
  EXPECT_EQ(down[1], 6);
  const int64_t more[2] = {7, 8};
  EXPECT_EQ(Cuda().CopyUp(numbers, more, 16), 0);
  EXPECT_EQ(Cuda().MakeStreamWait(other), 0);
  driver.MemcpyDtoHAsync(down, address, 16, other);
  driver.StreamSynchronize(other);
  EXPECT_EQ(down[1], 8);
  EXPECT_NE(Cuda().Stream(), nullptr);
  // The context that was another library's is so still.
  CuContext after = nullptr;
  driver.CtxGetCurrent(&after);
  EXPECT_EQ(after, context);
  driver.CtxSetCurrent(nullptr);
  Cuda().Free(numbers);
}

// The driver of these tests refuses streams, memory and kernels of another device than the current
// context's.
TEST(CudaDevice, ThreadsUseTwoDevicesAtOnceAndInTurns) {
  Fake().kernels["add_ten"] = AddTen;
  const std::string code = "code of add_ten";
  const PkKernel kernel = KernelOf("add_ten", code);
  Cuda(1);
  const auto work = [&](std::vector<int> numbers) {
    for (int round = 0; round < 200; ++round) {
      Device& device = Cuda(numbers[round % numbers.size()]);
      std::vector<int64_t> up = Numbers(100), down(100);
      auto* there = static_cast<int64_t*>(device.Allocate(800));
      EXPECT_EQ(device.CopyUp(there, up.data(), 800), 0);
      Captures captures = {nullptr, nullptr, there, 100};
      EXPECT_EQ(device.Launch(kernel, 1, 64, &captures, sizeof captures), 0);
      EXPECT_EQ(device.Share(), 0);
      EXPECT_EQ(device.CopyDown(down.data(), there, 800), 0);
      EXPECT_EQ(down[99], 110);
      device.Free(there);
    }
  };
  const int64_t before[] = {Cuda(0).Counters().live_bytes, Cuda(1).Counters().live_bytes};
  std::thread first(work, std::vector<int>{0}), second(work, std::vector<int>{1}),
      third(work, std::vector<int>{0, 1});
  first.join(), second.join(), third.join();
  for (const int number : {0, 1}) EXPECT_EQ(Cuda(number).Counters().live_bytes, before[number]);
}

TEST(CudaDevice, MemoryIsFreedByAnyThreadAndContext) {
  const CudaDriver driver = FakeCudaDriver();
  void *first = nullptr, *second = nullptr;
  std::thread([&] { first = Cuda(0).Allocate(100), second = Cuda(1).Allocate(200); }).join();
  int number = -1;
  EXPECT_TRUE(FindDevice(DeviceKind::kCuda, first, &number));
  EXPECT_EQ(number, 0);
  EXPECT_TRUE(FindDevice(DeviceKind::kCuda, second, &number));
  EXPECT_EQ(number, 1);
  EXPECT_FALSE(FindDevice(DeviceKind::kCuda, &number, &number));
  CuContext context = nullptr, after = nullptr;
  driver.DevicePrimaryCtxRetain(&context, 1);
  driver.CtxSetCurrent(context);
  const int64_t live[] = {Cuda(0).Counters().live_bytes, Cuda(1).Counters().live_bytes};
  Cuda(0).Free(first);
  Cuda(1).Free(second);
  EXPECT_EQ(live[0] - Cuda(0).Counters().live_bytes, 100);
  EXPECT_EQ(live[1] - Cuda(1).Counters().live_bytes, 200);
  driver.CtxGetCurrent(&after);
  EXPECT_EQ(after, context);
  driver.CtxSetCurrent(nullptr);
}

// Two buffers alternate, as in a time loop: x = step(x).
TEST(CudaDevice, AThreadGetsAgainWhatItHasFreed) {
  void* x = Cuda().Allocate(5000);
  std::vector<void*> seen;
  int allocations = 0;
  for (int step = 0; step < 10; ++step) {
    if (step == 1) allocations = Fake().allocations;
    void* next = Cuda().Allocate(5000);
    Cuda().Free(std::exchange(x, next));
    seen.push_back(x);
  }
  EXPECT_EQ(Fake().allocations, allocations);
  for (size_t step = 2; step < seen.size(); ++step) EXPECT_EQ(seen[step], seen[step - 2]);
  Cuda().Free(x);
  // Another size is another block's, and another thread's blocks are its own.
  x = Cuda().Allocate(50'000);
  EXPECT_EQ(Fake().allocations, allocations + 1);
  std::thread([&] {
    void* others = Cuda().Allocate(5000);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), others), 0);
    Cuda().Free(others);
  }).join();
  Cuda().Free(x);
}

TEST(CudaDevice, WhatIsKeptIsBounded) {
  const int64_t before = Fake().live_bytes;
  for (const int64_t bytes : {int64_t{20} << 20, int64_t{10} << 20, int64_t{1} << 10}) {
    std::vector<void*> buffers;
    for (int i = 0; i < 100; ++i) buffers.push_back(Cuda().Allocate(bytes));
    EXPECT_EQ(Cuda().Counters().live_bytes, 100 * bytes);
    for (void* buffer : buffers) Cuda().Free(buffer);
    EXPECT_EQ(Cuda().Counters().live_bytes, 0);
    EXPECT_LE(Fake().live_bytes - before, int64_t{64} << 20);
  }
}

// One thread's at its next need, also what threads have kept that are gone.
TEST(CudaDevice, WhatIsKeptIsGivenBackWhereMemoryEnds) {
  std::thread([] { Cuda().Free(Cuda().Allocate(3'000'000)); }).join();
  Cuda().Free(Cuda().Allocate(2'000'000));
  const int64_t live = Fake().live_bytes;
  const int64_t most = std::exchange(Fake().memory_bytes, 1000);
  EXPECT_EQ(Cuda().Allocate(1'000'000), nullptr);
  Fake().memory_bytes = most;
  EXPECT_LE(Fake().live_bytes, live - 5'000'000);
  EXPECT_EQ(Cuda().Counters().live_bytes, 0);
}

// On a stream that is new, while the threads of others live: those of earlier threads have pieces.
void OnNewStream(const std::function<void()>& work) {
  std::thread([&] {
    const int streams = Fake().streams;
    Cuda().Wait();
    Fake().streams == streams ? OnNewStream(work) : work();
  }).join();
}

// As the results of a call that comes again: to memory of the pool.
void BringDown(const std::vector<char>& expected) {
  const auto bytes = int64_t(expected.size());
  void* device = Cuda().Allocate(bytes);
  EXPECT_EQ(Cuda().CopyUp(device, expected.data(), bytes), 0);
  void* host = Allocate(uint64_t(bytes));
  std::memset(host, 0, expected.size());
  EXPECT_EQ(Cuda().CopyResult(host, device, bytes), 0);
  EXPECT_EQ(std::memcmp(host, expected.data(), expected.size()), 0);
  std::memset(host, 1, expected.size());
  EXPECT_EQ(Cuda().CopyUp(device, host, bytes), 0);  // straight, where it is pinned
  std::vector<char> back(expected.size());
  EXPECT_EQ(Cuda().CopyDown(back.data(), device, bytes), 0);
  EXPECT_EQ(std::memcmp(back.data(), host, back.size()), 0);
  Release(host);
  Cuda().Free(device);
}

std::vector<char> AnyBytes(size_t count) {
  std::vector<char> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = char(i * 2654435761u >> 13);
  return bytes;
}

TEST(CudaDevice, MemoryThatResultsComeToAgainIsPinnedUntilThePoolGivesItBack) {
  TrimPool();
  const std::vector<char> bytes = AnyBytes(20'000'003);
  BringDown(bytes);
  EXPECT_TRUE(Fake().registered.empty());
  for (int i = 0; i < 5; ++i) BringDown(bytes);
  ASSERT_EQ(Fake().registered.size(), 1u);
  EXPECT_EQ(CountPinned(), int64_t(Fake().registered.begin()->second));
  EXPECT_GE(CountPinned(), 20'000'003);
  TrimPool();
  EXPECT_TRUE(Fake().registered.empty());
  EXPECT_EQ(CountPinned(), 0);
}

TEST(CudaDevice, NoMoreIsPinnedThanTheLimitSays) {
  const int64_t most = MostPinned();
  SetMostPinned(20'000'000);
  for (int i = 0; i < 6; ++i) BringDown(AnyBytes(20'000'003));
  EXPECT_TRUE(Fake().registered.empty());
  SetMostPinned(most);
  for (int i = 0; i < 6; ++i) BringDown(AnyBytes(100'000));  // Small ones have no mapping.
  EXPECT_TRUE(Fake().registered.empty());
  TrimPool();
}

// Another context may be the thread's when the pool gives the memory back, or none.
TEST(CudaDevice, PinnedMemoryGoesFromAnyThread) {
  for (int i = 0; i < 6; ++i) BringDown(AnyBytes(20'000'003));
  EXPECT_EQ(Fake().registered.size(), 1u);
  std::thread([] { TrimPool(); }).join();
  EXPECT_TRUE(Fake().registered.empty());
}

TEST(CudaDevice, CopiesFailWithoutPinnedMemory) {
  const int64_t pinned = std::exchange(Fake().pinned_bytes, 0);
  std::vector<char> memory(100'000);
  OnNewStream([&] {
    void* device = Cuda().Allocate(100'000);
    EXPECT_EQ(Cuda().CopyUp(device, memory.data(), 100'000), kCuOutOfMemory);
    EXPECT_EQ(DeviceErrorText(kCuOutOfMemory),
              "CUDA device 0 cannot copy 100000 bytes from the host: it is said so "
              "(FAKE_ERROR)");
    EXPECT_EQ(Cuda().CopyDown(memory.data(), device, 10), kCuOutOfMemory);
    Cuda().Free(device);
  });
  Fake().pinned_bytes = pinned;
}

}  // namespace
}  // namespace parakeet::runtime
