// What a CUDA device loads of kernels' code, and how long it keeps code that has gone.
#include "runtime/cuda_modules.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device_call.h"
#include "runtime/image.h"
#include "runtime/team.h"
#include "tests/runtime/fake_cuda_driver.h"
#include "tests/runtime/image_bytes.h"

namespace parakeet::runtime {
namespace {

class CudaModulesTest : public testing::Test {
 protected:
  CudaModulesTest() {
    static const bool is_set = (SetCudaDriver(FakeCudaDriver()), true);
    EXPECT_TRUE(is_set);
    Fake().kernels["kernel"] = [](unsigned, unsigned, const void*) {};
  }

  static std::unique_ptr<Image> MakeImage() {
    ImageParts parts;
    parts.text = "\xc3";
    std::string error;
    const std::string bytes = Pack(parts);
    auto image = LoadImage(bytes.data(), bytes.size(), &error);
    EXPECT_EQ(error, "");
    return image;
  }

  static Device& Cuda() {
    std::string why;
    return *OpenDevice(DeviceKind::kCuda, 0, &why);
  }

  // Each of another place, as in an image: a thread knows kernels by where they are.
  static const PkKernel& KernelOf(const std::string& code, const char* name = "kernel") {
    struct Placed {
      std::string code;
      PkKernel kernel;
    };
    static auto* const placed = new std::deque<Placed>;
    Placed& made = placed->emplace_back(Placed{code, {}});
    made.kernel = {kPkKernelCuda, 0, 0, made.code.data(), int64_t(code.size()), name};
    return made.kernel;
  }

  static int32_t LaunchCode(const std::string& code, const char* name = "kernel") {
    const PkKernel& kernel = KernelOf(code, name);
    const int64_t captures[2] = {};
    return Cuda().Launch(kernel, 1, 1, captures, sizeof captures);
  }

  static int32_t Launch(const Image& image, const std::string& code) {
    const CodeOfThread of(image.life());
    return LaunchCode(code);
  }

  // Loads and drops so many kernels, then loads another.
  static void DropSome(int count, const std::string& name) {
    std::vector<std::unique_ptr<Image>> images;
    for (int k = 0; k < count; ++k) {
      images.push_back(MakeImage());
      EXPECT_EQ(Launch(*images.back(), name + std::to_string(k)), 0);
    }
    images.clear();
    const auto last = MakeImage();
    EXPECT_EQ(Launch(*last, name + " and one more"), 0);
  }

  const int unloads_ = Fake().unloads;
  const int loads_ = Fake().loads;
  const int libraries_ = Fake().libraries;
};

TEST_F(CudaModulesTest, EachTextIsLoadedByItselfAndHasItsKernel) {
  int ran[2] = {};
  Fake().kernels["first"] = [&](unsigned, unsigned, const void*) { ran[0] += 1; };
  Fake().kernels["second"] = [&](unsigned, unsigned, const void*) { ran[1] += 1; };
  const std::string code = std::string(".entry first(") + '\0' + ".entry second(" + '\0';
  EXPECT_EQ(LaunchCode(code, "second"), 0);
  EXPECT_EQ(Fake().loads - loads_, 2);
  EXPECT_EQ(Fake().libraries - libraries_, 2);
  EXPECT_EQ(LaunchCode(code, "first"), 0);
  EXPECT_EQ(LaunchCode(code, "first"), 0);
  EXPECT_EQ(Fake().loads - loads_, 2);
  EXPECT_EQ(Cuda().Wait(), 0);
  EXPECT_EQ(ran[0], 2);
  EXPECT_EQ(ran[1], 1);
}

TEST_F(CudaModulesTest, ManyTextsAreLoadedByThreadsThatHaveTheContext) {
  std::string code;
  for (int k = 0; k < 40; ++k) code += ".entry of_many" + std::to_string(k) + '(' + '\0';
  Fake().kernels["of_many17"] = [](unsigned, unsigned, const void*) {};
  ASSERT_TRUE(SetThreadCount(4));
  EXPECT_EQ(LaunchCode(code, "of_many17"), 0);
  EXPECT_EQ(Fake().loads - loads_, 40);
}

TEST_F(CudaModulesTest, OneTextThatIsRefusedUnloadsTheOthers) {
  const std::string code = std::string(".entry good(") + '\0' + ".entry bad(" + '\0';
  EXPECT_EQ(LaunchCode(code, "good"), 218);
  EXPECT_EQ(DeviceErrorText(218),
            "cannot load kernel good: it is said so (FAKE_ERROR): line 1: bad; line 2: worse");
  EXPECT_EQ(Fake().unloads - unloads_, 1);
}

TEST_F(CudaModulesTest, ModulesOfCodeThatHasGoneAreUnloadedSomeTogether) {
  const int synchronizations = Fake().synchronizations;
  DropSome(3, "few");
  EXPECT_EQ(Fake().unloads, unloads_);
  EXPECT_EQ(Fake().synchronizations, synchronizations);
  DropSome(8, "more");
  EXPECT_EQ(Fake().unloads - unloads_, 3 + 1 + 8);
  EXPECT_EQ(Fake().synchronizations - synchronizations, 1);
  // What comes again is loaded again.
  const auto image = MakeImage();
  const int loads = Fake().loads;
  EXPECT_EQ(Launch(*image, "more3"), 0);
  EXPECT_EQ(Fake().loads - loads, 1);
}

TEST_F(CudaModulesTest, CodeThatAnotherImageHasTooStays) {
  const auto other = MakeImage();
  {
    const auto image = MakeImage();
    EXPECT_EQ(Launch(*image, "shared"), 0);
    EXPECT_EQ(Launch(*other, "shared"), 0);
  }
  DropSome(20, "beside");
  EXPECT_GE(Fake().unloads - unloads_, 20);
  const int loads = Fake().loads;
  EXPECT_EQ(Launch(*other, "shared"), 0);
  EXPECT_EQ(Fake().loads, loads);
}

TEST_F(CudaModulesTest, CodeOfNobodyThatIsKnownStays) {
  EXPECT_EQ(LaunchCode("nobody's"), 0);
  {
    const auto image = MakeImage();
    EXPECT_EQ(Launch(*image, "nobody's"), 0);
  }
  DropSome(20, "beside nobody's");
  const int loads = Fake().loads;
  EXPECT_EQ(LaunchCode("nobody's"), 0);
  EXPECT_EQ(Fake().loads, loads);
}

// Others are told by their functions' handles, so that no other function may have one.
TEST_F(CudaModulesTest, CodeInGraphsStays) {
  {
    const auto image = MakeImage();
    const CodeOfThread of(image->life());
    const PkKernel& kernel = KernelOf("in a graph");
    const int graphs = Fake().graphs;
    Call call(1);
    DeviceCall on_device(&call, &Cuda());
    for (int turn = 0; turn < 100; ++turn) {
      int64_t captures[2] = {};
      EXPECT_EQ(on_device.Launch(kernel, 1, 1, captures, sizeof captures), 0);
    }
    EXPECT_GT(Fake().graphs, graphs);
  }
  DropSome(20, "beside a graph");
  EXPECT_GE(Fake().unloads - unloads_, 20);
  const auto image = MakeImage();
  const int loads = Fake().loads;
  EXPECT_EQ(Launch(*image, "in a graph"), 0);
  EXPECT_EQ(Fake().loads, loads);
}

}  // namespace
}  // namespace parakeet::runtime
