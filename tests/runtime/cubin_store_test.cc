// What a CUDA device keeps of the code that the driver has assembled, and what it finds again.
#include "runtime/cubin_store.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "runtime/device.h"
#include "tests/runtime/fake_cuda_driver.h"

namespace parakeet::runtime {
namespace {

class StoreInMemory : public CubinStore {
 public:
  bool IsOpen() override { return is_open; }
  std::optional<std::string> Find(const std::string& key) override {
    const auto found = kept.find(key);
    return found == kept.end() ? std::nullopt : std::optional(found->second);
  }
  void Keep(const std::string& key, std::string_view cubin) override { kept[key] = cubin; }

  bool is_open = true;
  std::map<std::string, std::string> kept;
};

// The devices of the fake driver have one architecture and modules of their own: for the second,
// the first is what another process would be.
class CubinStoreTest : public testing::Test {
 protected:
  CubinStoreTest() {
    static const bool is_set = (SetCudaDriver(OldDriver()), true);
    EXPECT_TRUE(is_set);
    Fake().kernels["one"] = Fake().kernels["other"] = [](unsigned, unsigned, const void*) {};
    SetCubinStore(&store_);
  }
  ~CubinStoreTest() override { SetCubinStore(nullptr); }

  // One that knows of no libraries.
  static CudaDriver OldDriver() {
    CudaDriver driver = FakeCudaDriver();
    driver.LibraryLoadData = nullptr;
    return driver;
  }

  // What the device says of launching a kernel whose code this is.
  static int32_t Launch(int number, const std::string& code, const char* name = "one") {
    const PkKernel kernel = {kPkKernelCuda, 0, 0, code.data(), int64_t(code.size()), name};
    const int64_t captures[2] = {};
    return OnDevice(number).Launch(kernel, 1, 1, captures, sizeof captures);
  }
  static Device& OnDevice(int number) {
    std::string why;
    return *OpenDevice(DeviceKind::kCuda, number, &why);
  }

  StoreInMemory store_;
  const int links_ = Fake().links;
  const int loads_ = Fake().loads;
};

TEST_F(CubinStoreTest, CodeIsAssembledOnceAndFoundAgain) {
  const std::string code = "kernels one and other";
  const std::string key = "architecture 90, driver 13000\n" + code;
  const int64_t before[2] = {OnDevice(0).Counters().assembled, OnDevice(1).Counters().assembled};
  EXPECT_EQ(Launch(0, code), 0);
  EXPECT_EQ(Launch(0, code, "other"), 0);
  EXPECT_EQ(Fake().links - links_, 1);
  EXPECT_EQ(OnDevice(0).Counters().assembled - before[0], 1);
  ASSERT_EQ(store_.kept.size(), 1u);
  EXPECT_EQ(store_.kept.begin()->first, key);
  EXPECT_EQ(store_.kept[key], std::string("\x7f"
                                          "ELF of kernels one and other") +
                                  '\0');
  EXPECT_EQ(Launch(1, code, "other"), 0);
  EXPECT_EQ(Launch(1, code), 0);
  EXPECT_EQ(Fake().links - links_, 1);
  EXPECT_EQ(Fake().loads - loads_, 2);
  EXPECT_EQ(OnDevice(1).Counters().assembled, before[1]);
}

TEST_F(CubinStoreTest, EachTextIsKeptByItself) {
  const std::string code = std::string("kernel one") + '\0' + "kernel other";
  EXPECT_EQ(Launch(0, code), 0);
  EXPECT_EQ(Fake().links - links_, 2);
  EXPECT_EQ(store_.kept.size(), 2u);
  EXPECT_EQ(Launch(1, code, "other"), 0);
  EXPECT_EQ(Fake().links - links_, 2);
}

TEST_F(CubinStoreTest, AZeroAtTheEndIsNotText) {
  EXPECT_EQ(Launch(0, "kernel one, ended"), 0);
  EXPECT_EQ(Launch(0, std::string("kernel one, ended") + '\0'), 0);
  EXPECT_EQ(store_.kept.size(), 1u);
  EXPECT_EQ(Fake().links - links_, 1);
}

TEST_F(CubinStoreTest, OtherCodeIsAnotherKey) {
  EXPECT_EQ(Launch(0, "kernel one, 1"), 0);
  EXPECT_EQ(Launch(1, "kernel one, 2"), 0);
  EXPECT_EQ(store_.kept.size(), 2u);
  EXPECT_EQ(Fake().links - links_, 2);
}

TEST_F(CubinStoreTest, WhatTheDriverRefusesIsAssembledAgain) {
  const std::string code = "kernel one, kept ill";
  std::string& kept = store_.kept["architecture 90, driver 13000\n" + code];
  kept =
      "\x7f"
      "ELF, bad";
  EXPECT_EQ(Launch(0, code), 0);
  EXPECT_EQ(Fake().links - links_, 1);
  EXPECT_EQ(kept.find("\x7f"
                      "ELF of kernel one"),
            0u);
}

TEST_F(CubinStoreTest, WhatCannotBeAssembledIsToldAndNotKept) {
  EXPECT_EQ(Launch(0, "bad kernel one"), 218);
  EXPECT_EQ(DeviceErrorText(218),
            "cannot load kernel one: it is said so (FAKE_ERROR): line 1: bad; line 2: worse");
  EXPECT_TRUE(store_.kept.empty());
}

TEST_F(CubinStoreTest, CubinsAndCodeOfClosedStoresAreLoadedAsTheyAre) {
  const std::string cubin =
      "\x7f"
      "ELF of kernel one";
  EXPECT_EQ(Launch(0, cubin), 0);
  EXPECT_EQ(Fake().loaded_code, cubin);
  store_.is_open = false;
  EXPECT_EQ(Launch(0, "kernel one, not kept"), 0);
  SetCubinStore(nullptr);
  EXPECT_EQ(Launch(0, "kernel one, nowhere"), 0);
  EXPECT_EQ(Fake().loaded_code, "kernel one, nowhere");
  EXPECT_EQ(Fake().links, links_);
  EXPECT_TRUE(store_.kept.empty());
}

}  // namespace
}  // namespace parakeet::runtime
