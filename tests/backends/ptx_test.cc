// PTX of kernels: what is in it, and that the CUDA assembler takes it where there is one.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "backends/compile.h"
#include "ir/parser.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"
#include "runtime/call.h"
#include "runtime/device.h"
#include "runtime/device_call.h"
#include "runtime/image.h"

namespace parakeet {
namespace {

backends::Compiled CompiledOf(const char* text, int threads = 1) {
  passes::Context context;
  context.options.kernels = true;
  const ir::Program program =
      passes::RunPipeline(ir::Parse(text), ir::Stage::kParallel, passes::GpuPipeline(), context, {})
          .program;
  backends::CompileOptions options;
  options.kernels = backends::KernelTarget::kCuda;
  options.gpu_architecture = 90;
  options.threads = threads;
  return backends::Compile(program, options);
}

template <typename Text>
int Count(const Text& text, const std::string& what) {
  int found = 0;
  auto at = text.begin();
  while ((at = std::search(at, text.end(), what.begin(), what.end())) != text.end()) {
    ++found;
    ++at;
  }
  return found;
}

std::string PtxOf(const char* text) { return CompiledOf(text).ptx; }

constexpr const char* kSaxpy = R"(
fn @saxpy(%x: [n]f64 c, %a: f64) -> [n]f64 entry {
  %r: [n]f64 = imap (%i) in (%n) {
    %v: f64 = load %x[%i]
    %s: f64 = sin %v
    %p: f64 = mul %s, %a
    yield %p }
  return %r }
)";

TEST(Ptx, HasAKernelWithItsFunctionsOfMathematicsInIt) {
  const std::string ptx = PtxOf(kSaxpy);
  EXPECT_NE(ptx.find(".visible .entry kernel_0"), std::string::npos) << ptx;
  EXPECT_NE(ptx.find(".target sm_90"), std::string::npos);
  EXPECT_EQ(ptx.find(".extern .func"), std::string::npos) << "libdevice is linked in";
  EXPECT_NE(ptx.find("ld.global"), std::string::npos) << "addresses are known to be global";
}

// Memory of the host; notes the name and the code of each kernel, and runs none.
class Recorder : public runtime::Device {
 public:
  runtime::DeviceKind kind() const override { return runtime::DeviceKind::kEmulated; }
  int number() const override { return 0; }
  std::string Name() const override { return "recorder"; }
  int Architecture() const override { return 90; }
  runtime::DeviceCounters Counters() const override { return {}; }
  void ResetPeak() override {}
  void* Allocate(int64_t bytes) override { return std::calloc(size_t(bytes) + 1, 1); }
  void Free(void* buffer) override { std::free(buffer); }
  void SetLimit(int64_t) override {}
  int32_t CopyUp(void* device, const void* host, int64_t bytes) override {
    return std::memcpy(device, host, size_t(bytes)), 0;
  }
  int32_t CopyDown(void* host, const void* device, int64_t bytes) override {
    return std::memcpy(host, device, size_t(bytes)), 0;
  }
  int32_t Launch(const PkKernel& kernel, int64_t, int32_t, const void*, int64_t) override {
    launched.emplace_back(
        kernel.name, std::string(static_cast<const char*>(kernel.code), size_t(kernel.code_bytes)));
    return 0;
  }
  int32_t Wait() override { return 0; }

  std::vector<std::pair<std::string, std::string>> launched;
};

TEST(Ptx, HostCodeLaunchesWhatOtherThreadsHaveMade) {
  for (const int threads : {1, 4}) {
    const backends::Compiled compiled = CompiledOf(kSaxpy, threads);
    std::string error;
    const auto image = runtime::LoadImage(compiled.image.data(), compiled.image.size(), &error);
    ASSERT_NE(image, nullptr) << error;
    Recorder device;
    runtime::Call call(1);
    runtime::DeviceCall on_device(&call, &device);
    double x[3] = {1, 2, 3};
    const int64_t size = 3, stride = 8;
    runtime::DeviceArgument arguments[] = {{x, 8, 1, &size, &stride, false}};
    ASSERT_TRUE(on_device.TakeArguments(arguments));
    const uint64_t slots[] = {reinterpret_cast<uint64_t>(arguments[0].data), 3, 8,
                              std::bit_cast<uint64_t>(2.0)};
    uint64_t results[5] = {};
    EXPECT_EQ(image->entry()(&call, slots, results), 0);
    EXPECT_TRUE(on_device.Settle());
    ASSERT_EQ(device.launched.size(), 1u);
    EXPECT_EQ(device.launched[0].first, "kernel_0");
    EXPECT_EQ(device.launched[0].second, compiled.ptx + std::string(1, 0));
  }
}

// One side of a branch alone runs, and the driver takes long to assemble a kernel.
TEST(Ptx, KernelsOfEachSideOfABranchAreAModule) {
  const backends::Compiled compiled = CompiledOf(R"(
fn @f(%x: [n]f64 c, %p: bool) -> [n]f64 entry {
  %a: [n]f64 = if %p {
    %r: [n]f64 = imap (%i) in (%n) {
      %v: f64 = load %x[%i]
      %s: f64 = add %v, 1.0
      yield %s }
    yield %r } else {
    %t: [n]f64 = imap (%j) in (%n) {
      %w: f64 = load %x[%j]
      %u: f64 = mul %w, 2.0
      yield %u }
    yield %t }
  return %a }
)");
  EXPECT_EQ(Count(compiled.ptx, ".visible .entry"), 2) << compiled.ptx;
  EXPECT_EQ(Count(compiled.ptx, ".target sm_90"), 1);
  EXPECT_EQ(Count(compiled.image, ".visible .entry"), 2);
  EXPECT_EQ(Count(compiled.image, ".target sm_90"), 2);
}

// Each module has a kernel that both launch, though it is compiled once.
TEST(Ptx, AKernelOfBothSidesOfABranchIsInTwoModules) {
  const backends::Compiled compiled = CompiledOf(R"(
fn @f(%x: [n]f64 c, %p: bool) -> [n]f64 entry {
  %a: [n]f64 = if %p {
    %r: [n]f64 = imap (%i) in (%n) {
      %v: f64 = load %x[%i]
      %s: f64 = add %v, 1.0
      yield %s }
    yield %r } else {
    %t: [n]f64 = imap (%j) in (%n) {
      %w: f64 = load %x[%j]
      %u: f64 = add %w, 1.0
      yield %u }
    yield %t }
  return %a }
)");
  EXPECT_EQ(Count(compiled.ptx, ".visible .entry"), 1) << compiled.ptx;
  EXPECT_EQ(Count(compiled.image, ".visible .entry"), 2);
  EXPECT_EQ(Count(compiled.image, ".target sm_90"), 2);
}

// Tables of sin and what a kernel calls that fails are in it once, whichever thread made them.
TEST(Ptx, OfSeveralThreadsHasWhatKernelsShareOnce) {
  std::string text = "site 0 ValueError \"no\"\n\nfn @f(";
  std::string results, body, names;
  for (const std::string k : {"1", "2", "3", "4", "5"}) {
    const std::string comma = k == "1" ? "" : ", ";
    text += comma + "%x" + k + ": [n" + k + "]f64 c";
    results += comma + "[n" + k + "]f64";
    names += comma + "%r" + k;
    body += "  %r" + k + ": [n" + k + "]f64 = imap (%i) in (%n" + k + ") {\n    %v: f64 = load %x" +
            k + "[%i]\n    %s0: f64 = sin %v\n";
    for (int step = 1; step <= 120; ++step) {
      const std::string before = "%s" + std::to_string(step - 1);
      body += "    %s" + std::to_string(step) + ": f64 = " + (step % 2 != 0 ? "mul " : "sub ") +
              before + ", %v\n";
    }
    // Kernels that say the same would be one.
    body += "    %q: bool = lt %s120, " + k +
            ".0\n    check %q, site 0 at (0, %i)\n    yield %s120 }\n";
  }
  text += ") -> (" + results + ") entry {\n" + body + "  return " + names + " }\n";
  const std::string one = CompiledOf(text.c_str()).ptx;
  for (const int threads : {2, 3, 16}) {
    const std::string several = CompiledOf(text.c_str(), threads).ptx;
    EXPECT_TRUE(several != one) << "nothing was shared out";
    EXPECT_EQ(Count(several, "\n.visible .entry"), 5) << threads;
    for (const char* shared : {"\n.version", "\n.func parakeet_fail(", "b8 __cudart_i2opi_d["})
      EXPECT_EQ(Count(several, shared), 1) << shared << threads;
    EXPECT_EQ(Count(several, ".weak"), 0);
    EXPECT_TRUE(CompiledOf(text.c_str(), threads).ptx == several) << threads;
  }
}

TEST(Ptx, KernelsThatSayTheSameAreOne) {
  const std::string ptx = PtxOf(R"(
fn @f(%x: [n]f64 c, %y: [m]f64 c) -> ([n]f64, [m]f64, [m]f64) entry {
  %r: [n]f64 = imap (%i) in (%n) {
    %v: f64 = load %x[%i]
    %a: f64 = add %v, 1.0
    yield %a }
  %s: [m]f64 = imap (%j) in (%m) {
    %w: f64 = load %y[%j]
    %b: f64 = add %w, 1.0
    yield %b }
  %t: [m]f64 = imap (%k) in (%m) {
    %u: f64 = load %y[%k]
    %c: f64 = add %u, 2.0
    yield %c }
  return %r, %s, %t }
)");
  EXPECT_EQ(Count(ptx, ".visible .entry"), 2) << ptx;
}

TEST(Ptx, OfAProgramWithoutKernelsIsNone) {
  EXPECT_EQ(PtxOf("fn @f(%a: f64) -> f64 entry { %b: f64 = add %a, 1.0 return %b }"), "");
}

}  // namespace
}  // namespace parakeet
