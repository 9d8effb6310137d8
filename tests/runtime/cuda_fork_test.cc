// Children of a process that uses CUDA: every use of a device says why it cannot be, and no call of
// the driver is made (the fake one ends a child that makes one), no lock taken that may be held.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/buffers.h"
#include "runtime/device_call.h"
#include "runtime/pinned_buffers.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

constexpr char kWhy[] =
    "CUDA does not work in a process that was forked after its parent had used it; start processes "
    "by \"spawn\"";

// What a child's exit says: 0 where `work` held.
int StatusOfChild(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    exit(work() ? 0 : 1);  // with the destructors of the thread
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

bool IsRefused(int32_t code) { return code != 0 && DeviceErrorText(code) == kWhy; }

PkKernel KernelOf(const std::string& code) {
  return {kPkKernelCuda, 0, 0, code.data(), int64_t(code.size()), "kernel"};
}

int32_t Launch(Device& device, const std::string& code) {
  const int64_t captures[2] = {};
  return device.Launch(KernelOf(code), 1, 1, captures, sizeof captures);
}

// Holds the lock of a device's modules for as long as a launch waits here.
class WaitingLoad {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    is_asked_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return may_go_; });
  }
  void WaitUntilAsked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_asked_; });
  }
  void LetGo() {
    const std::lock_guard lock(mutex_);
    may_go_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_asked_ = false, may_go_ = false;
};

bool EveryUseIsRefused(Device* device, void* buffer, const std::string& known_code) {
  std::string why;
  char byte = 0;
  bool holds = CountDevices(DeviceKind::kCuda, &why) == 0 && why == kWhy;
  why.clear();
  holds &= OpenDevice(DeviceKind::kCuda, 0, &why) == nullptr && why == kWhy;
  holds &= IsRefused(device->CopyUp(buffer, &byte, 1));
  holds &= IsRefused(device->CopyDown(&byte, buffer, 1));
  holds &= IsRefused(Launch(*device, known_code)) && IsRefused(Launch(*device, "new code"));
  holds &= IsRefused(device->Wait()) && IsRefused(device->Share());
  holds &= IsRefused(device->WaitForStream(buffer)) && IsRefused(device->MakeStreamWait(buffer));
  holds &= device->Stream() == nullptr && device->Allocate(8) == nullptr;
  holds &= device->Memory().total_bytes == 0 && device->Counters().live_bytes == 0;
  device->SetLimit(1);
  device->ResetPeak();
  device->Free(buffer);
  return holds;
}

// In this order: what a child may do depends on what the process has done before.
TEST(CudaFork, ChildrenOfOneThatDoesNotUseItMay) {
  SetCudaDriver(FakeCudaDriver());
  Fake().kernels["kernel"] = [](unsigned, unsigned, const void*) {};
  EXPECT_EQ(StatusOfChild([] {
              std::string why;
              Device* device = OpenDevice(DeviceKind::kCuda, 0, &why);
              const bool is_there = device != nullptr && Launch(*device, "code") == 0;
              // Now it is a parent that has used it.
              return is_there && StatusOfChild([&] { return IsRefused(device->Wait()); }) == 0;
            }),
            0);
}

TEST(CudaFork, ChildrenOfOneThatUsesItAreToldSo) {
  std::string why;
  Device* const device = OpenDevice(DeviceKind::kCuda, 0, &why);
  ASSERT_NE(device, nullptr) << why;
  const std::string code = "code";
  EXPECT_EQ(Launch(*device, code), 0);
  void* const buffer = device->Allocate(8);
  WaitingLoad load;
  Fake().on_load = [&] { load.Wait(); };
  std::thread loading([&] { EXPECT_EQ(Launch(*device, "other code"), 0); });
  load.WaitUntilAsked();
  EXPECT_EQ(StatusOfChild([&] { return EveryUseIsRefused(device, buffer, code); }), 0);
  const auto of_a_child = [&] { return EveryUseIsRefused(device, buffer, code); };
  EXPECT_EQ(StatusOfChild([&] { return StatusOfChild(of_a_child) == 0; }), 0);
  load.LetGo();
  loading.join();
  Fake().on_load = [] {};
  // The parent goes on.
  EXPECT_EQ(Launch(*device, code), 0);
  device->Free(buffer);
  EXPECT_EQ(device->Counters().live_buffers, 0);
  EXPECT_EQ(device->Counters().limit_bytes, 0);
}

TEST(CudaFork, NothingIsPinnedInAChildNorBehindIt) {
  std::string why;
  Device* const device = OpenDevice(DeviceKind::kCuda, 0, &why);
  constexpr int64_t kBytes = 10'000'000;
  void* const on_device = device->Allocate(kBytes);
  void* const host = Allocate(kBytes);
  const auto bring = [&] { return device->CopyResult(host, on_device, kBytes) == 0; };
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(bring());
  EXPECT_GE(CountPinned(), kBytes);
  static_cast<char*>(host)[kBytes - 1] = 7;
  EXPECT_EQ(StatusOfChild([&] {
              const bool is_there = static_cast<char*>(host)[kBytes - 1] == 7;
              Release(host);
              TrimPool();
              return is_there && CountPinned() == 0;
            }),
            0);
  EXPECT_TRUE(Fake().registered.empty());
  EXPECT_EQ(CountPinned(), 0);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(bring());
  EXPECT_GE(CountPinned(), kBytes);
  Release(host);
  TrimPool();
  EXPECT_EQ(CountPinned(), 0);
  device->Free(on_device);
}

TEST(CudaFork, ACallInAChildFailsAndEnds) {
  std::string why;
  Device* const device = OpenDevice(DeviceKind::kCuda, 0, &why);
  int64_t number = 5;
  const int64_t size = 1, stride = 8;
  EXPECT_EQ(StatusOfChild([&] {
              Call call(1);
              DeviceCall on_device(&call, device);
              DeviceArgument arguments[] = {{&number, 8, 1, &size, &stride, true}};
              return !on_device.TakeArguments(arguments) && call.has_failed() &&
                     on_device.GiveBackArguments() && number == 5;
            }),
            0);
}

}  // namespace
}  // namespace parakeet::runtime
