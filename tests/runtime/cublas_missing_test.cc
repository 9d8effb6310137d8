// A CUDA device in a process that finds no cuBLAS.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/cublas.h"
#include "runtime/device_call.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

TEST(CublasMissing, LeavesProductsToKernels) {
  SetCudaDriver(FakeCudaDriver());
  SetCublasFiles({"/nowhere/libcublas.so.12", "/dev/null"});
  std::string why;
  Device& device = *OpenDevice(DeviceKind::kCuda, 0, &why);
  constexpr int64_t kSize = 200;
  void* memory = device.Allocate(kSize * kSize * 8);
  std::vector<int64_t> words = {0, 1, 1, 1, 0};
  for (int array = 0; array < 3; ++array)
    words.insert(words.end(), {reinterpret_cast<int64_t>(memory), kSize, kSize, kSize * 8, 8});
  {
    Call call(1);
    DeviceCall on_device(&call, &device);
    EXPECT_EQ(pk_device_matmul(&call, kPkF64, words.data()), 1);
    EXPECT_FALSE(call.has_failed());
  }
  device.Free(memory);
  EXPECT_EQ(OpenCublas(*OpenCudaDriver(&why), &why), nullptr);
  EXPECT_EQ(why, "no libcublas.so was found");
  EXPECT_EQ(CublasFile(), "");
}

}  // namespace
}  // namespace parakeet::runtime
