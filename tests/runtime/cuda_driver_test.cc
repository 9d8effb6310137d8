// The real driver: without one, that this is said; with a device, that what the runtime asks of it
// works.
#include "runtime/cuda_driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "runtime/clock.h"
#include "runtime/cuda_launches.h"
#include "runtime/device_call.h"

namespace parakeet::runtime {
namespace {

// add_ten: the captures are the runtime's words, numbers and their count. fail: records site 5, the
// place 42 and the scalar 42; every thread the same, so that no lock is needed.
constexpr char kCode[] = R"(
.version 8.0
.target sm_75
.address_size 64

.visible .entry add_ten(.param .align 8 .b8 captures[32]) {
  .reg .pred %outside;
  .reg .b32 %block, %size, %thread;
  .reg .b64 %i, %count, %numbers, %at, %number;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %thread, %tid.x;
  mul.wide.u32 %i, %block, %size;
  cvt.u64.u32 %at, %thread;
  add.u64 %i, %i, %at;
  ld.param.u64 %numbers, [captures+16];
  ld.param.u64 %count, [captures+24];
  setp.ge.s64 %outside, %i, %count;
  @%outside ret;
  shl.b64 %at, %i, 3;
  add.u64 %at, %at, %numbers;
  ld.global.u64 %number, [%at];
  add.s64 %number, %number, 10;
  st.global.u64 [%at], %number;
  ret;
}

.visible .entry fail(.param .align 8 .b8 captures[32]) {
  .reg .b32 %word;
  .reg .b64 %record, %scalar;
  ld.param.u64 %record, [captures];
  mov.u32 %word, 1;
  st.global.u32 [%record+4], %word;
  st.global.u32 [%record+12], %word;
  st.global.u32 [%record+16], %word;
  mov.u32 %word, 5;
  st.global.u32 [%record+8], %word;
  mov.u64 %scalar, 42;
  st.global.u64 [%record+24], %scalar;
  st.global.u64 [%record+280], %scalar;
  ret;
}
)";
static_assert(offsetof(PkErrorRecord, state) == 4 && kPkRecordHolds == 1 &&
              offsetof(PkErrorRecord, site) == 8 && offsetof(PkErrorRecord, place_count) == 12 &&
              offsetof(PkErrorRecord, scalar_count) == 16 && offsetof(PkErrorRecord, place) == 24 &&
              offsetof(PkErrorRecord, scalars) == 280);

struct Captures {
  void* records[2];
  void* numbers;
  int64_t count;
};

PkKernel KernelOf(const char* name, int32_t flags = 0, int64_t shared_bytes = 0) {
  return {kPkKernelCuda, flags, shared_bytes, kCode, int64_t(sizeof kCode - 1), name};
}

TEST(CudaDriver, SaysInALineThatThereIsNone) {
  std::string why;
  if (CountDevices(DeviceKind::kCuda, &why) > 0) GTEST_SKIP() << "skipped: there is a CUDA device";
  EXPECT_EQ(OpenDevice(DeviceKind::kCuda, 0, &why), nullptr);
  EXPECT_NE(why, "");
  EXPECT_EQ(why.find('\n'), std::string::npos);
  if (dlopen("libcuda.so.1", RTLD_NOW) == nullptr) {
    EXPECT_EQ(why.find("there is no CUDA driver: libcuda.so.1: "), 0u) << why;
  }
}

class OnCuda : public testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    device_ = OpenDevice(DeviceKind::kCuda, 0, &why);
    if (device_ == nullptr) GTEST_SKIP() << "skipped: " << why;
  }
  Device* device_ = nullptr;
};

TEST_F(OnCuda, KnowsTheDevice) {
  EXPECT_NE(device_->Name(), "");
  EXPECT_GE(device_->Architecture(), 50);
  EXPECT_GT(device_->Memory().total_bytes, 0);
  std::string why;
  EXPECT_EQ(OpenDevice(DeviceKind::kCuda, 1000, &why), nullptr);
  EXPECT_EQ(why.find("there is no CUDA device 1000: there "), 0u) << why;
}

TEST_F(OnCuda, CopiesOfAllSizesArrive) {
  for (const int64_t count : {1, 1000, 8191, 8192, 100'000, 1'000'000, 40'000'000}) {
    std::vector<int64_t> up(static_cast<size_t>(count));
    std::iota(up.begin(), up.end(), 1);
    std::vector<int64_t> down(up.size());
    const std::vector<int64_t> expected = up;
    void* buffer = device_->Allocate(count * 8);
    ASSERT_NE(buffer, nullptr);
    for (int turn = 0; turn < 3; ++turn) {
      const int64_t begin = NowNanoseconds();
      ASSERT_EQ(device_->CopyUp(buffer, up.data(), count * 8), 0);
      ASSERT_EQ(device_->Wait(), 0);
      const int64_t middle = NowNanoseconds();
      ASSERT_EQ(device_->CopyDown(down.data(), buffer, count * 8), 0);
      const int64_t end = NowNanoseconds();
      std::printf("%9ld bytes: %7.2f GB/s up, %7.2f GB/s down\n", long(count * 8),
                  double(count * 8) / double(middle - begin),
                  double(count * 8) / double(end - middle));
    }
    EXPECT_TRUE(down == expected) << count;
    device_->Free(buffer);
  }
}

TEST_F(OnCuda, RunsKernels) {
  std::vector<int64_t> numbers(1000);
  std::iota(numbers.begin(), numbers.end(), 0);
  const int64_t size = 1000, stride = 8;
  const PkKernel kernel = KernelOf("add_ten"), large = KernelOf("add_ten", 0, 64 * 1024);
  {
    Call call(1);
    DeviceCall on_device(&call, device_);
    DeviceArgument arguments[] = {{numbers.data(), 8, 1, &size, &stride, true}};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    Captures captures = {{}, arguments[0].data, 1000};
    EXPECT_EQ(pk_device_launch(&call, &kernel, 4, 256, &captures, sizeof captures), 0);
    EXPECT_EQ(pk_device_launch(&call, &large, 8, 128, &captures, sizeof captures), 0);
    EXPECT_TRUE(on_device.GiveBackArguments());
    EXPECT_FALSE(call.has_failed()) << DeviceErrorText(int32_t(call.error().scalars[0]));
  }
  for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(numbers[i], i + 20);
  EXPECT_EQ(device_->Counters().live_bytes, 0);
}

// Beside what the driver alone takes, by itself and inside of a call.
TEST_F(OnCuda, ALaunchTakesLittleTimeOfTheHost) {
  std::string why;
  const CudaDriver& driver = *OpenCudaDriver(&why);
  void* buffer = device_->Allocate(8);
  Captures captures = {{}, buffer, 0};
  const PkKernel kernel = KernelOf("add_ten");
  size_t bytes = sizeof captures;
  void* extra[] = {reinterpret_cast<void*>(1), &captures, reinterpret_cast<void*>(2), &bytes,
                   nullptr};
  CuModule module = nullptr;
  CuFunction function = nullptr;
  void* const entered = device_->Enter();
  ASSERT_EQ(driver.ModuleLoadDataEx(&module, kCode, 0, nullptr, nullptr), 0);
  ASSERT_EQ(driver.ModuleGetFunction(&function, module, "add_ten"), 0);
  auto* const stream = static_cast<CuStream>(device_->Stream());
  const auto measure = [&](const char* what, const auto& launch) {
    for (int turn = 0; turn < 3; ++turn) {
      EXPECT_EQ(device_->Wait(), 0);
      const int64_t begin = NowNanoseconds();
      for (int i = 0; i < 500; ++i) EXPECT_EQ(launch(), 0);
      std::printf("%.2f us a launch, %s\n", double(NowNanoseconds() - begin) / 500e3, what);
    }
  };
  const auto ours = [&] { return device_->Launch(kernel, 1, 32, &captures, sizeof captures); };
  measure("of the driver", [&] {
    const CuLaunch launch = {1, 1, 1, 32, 1, 1, 0, stream, nullptr, 0};
    return driver.LaunchKernel(&launch, function, nullptr, extra);
  });
  measure("in a call", ours);
  device_->Leave(entered);
  measure("by itself", ours);
  EXPECT_EQ(device_->Wait(), 0);
  device_->Free(buffer);
}

// A time loop, with graphs and without, beside each other.
TEST_F(OnCuda, LoopsGoAsGraphs) {
  std::vector<int64_t> numbers(1000);
  const int64_t size = 1000, stride = 8;
  const PkKernel kernel = KernelOf("add_ten");
  for (const bool is_on : {true, false, true, false}) {
    UseGraphs(is_on);
    const int64_t replays = device_->Counters().replays;
    std::iota(numbers.begin(), numbers.end(), 0);
    const int64_t begin = NowNanoseconds();
    {
      Call call(1);
      DeviceCall on_device(&call, device_);
      DeviceArgument arguments[] = {{numbers.data(), 8, 1, &size, &stride, true}};
      ASSERT_TRUE(on_device.TakeArguments(arguments));
      for (int64_t i = 0; i < 1000; ++i) {
        Captures captures = {{}, arguments[0].data, i};  // one number more each time
        ASSERT_EQ(pk_device_launch(&call, &kernel, 4, 256, &captures, sizeof captures), 0);
        on_device.FreeBuffer(on_device.AllocateBuffer(8000));
      }
      ASSERT_TRUE(on_device.GiveBackArguments());
    }
    std::printf("%.2f us a launch, %s graphs\n", double(NowNanoseconds() - begin) / 1e6,
                is_on ? "with" : "without");
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(numbers[i], i + 10 * (999 - i));
    EXPECT_EQ(device_->Counters().replays > replays, is_on);
  }
  UseGraphs(true);
}

TEST_F(OnCuda, WhatThreadsRecordIsTheCallsError) {
  Call call(1);
  DeviceCall on_device(&call, device_);
  Captures captures = {};
  const PkKernel kernel = KernelOf("fail", kPkKernelMayFail);
  EXPECT_EQ(pk_device_launch(&call, &kernel, 1, 32, &captures, sizeof captures), 0);
  EXPECT_FALSE(on_device.Settle());
  ASSERT_TRUE(call.has_failed());
  EXPECT_EQ(call.error().site, 5);
  EXPECT_EQ(call.error().place, std::vector<int64_t>{42});
  EXPECT_EQ(call.error().scalars, std::vector<int64_t>{42});
}

TEST_F(OnCuda, SaysWhatIsWrongWithCode) {
  const char code[] = ".version 8.0\n.target sm_75\nnonsense\n";
  const PkKernel kernel = {kPkKernelCuda, 0, 0, code, sizeof code - 1, "wrong"};
  Captures captures = {};
  const int32_t error = device_->Launch(kernel, 1, 1, &captures, sizeof captures);
  ASSERT_NE(error, 0);
  const std::string text = DeviceErrorText(error);
  EXPECT_EQ(text.find("cannot load kernel wrong: "), 0u) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST_F(OnCuda, RunsOutOfMemoryAndGoesOn) {
  EXPECT_EQ(device_->Allocate(int64_t{1} << 50), nullptr);
  void* buffer = device_->Allocate(1 << 20);
  EXPECT_NE(buffer, nullptr);
  device_->Free(buffer);
}

TEST_F(OnCuda, ThreadsShareWhatTheyMake) {
  auto* numbers = static_cast<int64_t*>(device_->Allocate(8));
  const int64_t one = 1;
  int64_t seen = 0;
  const PkKernel kernel = KernelOf("add_ten");
  Captures captures = {{}, numbers, 1};
  EXPECT_EQ(device_->CopyUp(numbers, &one, 8), 0);
  EXPECT_EQ(device_->Launch(kernel, 1, 32, &captures, sizeof captures), 0);
  EXPECT_EQ(device_->Share(), 0);
  std::thread([&] {
    EXPECT_EQ(device_->Launch(kernel, 1, 32, &captures, sizeof captures), 0);
    EXPECT_EQ(device_->CopyDown(&seen, numbers, 8), 0);
  }).join();
  EXPECT_EQ(seen, 21);
  EXPECT_EQ(device_->WaitForStream(device_->Stream()), 0);
  EXPECT_EQ(device_->MakeStreamWait(device_->Stream()), 0);
  device_->Free(numbers);
}

}  // namespace
}  // namespace parakeet::runtime
