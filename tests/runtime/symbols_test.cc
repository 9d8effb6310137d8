#include "runtime/symbols.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/clock.h"

namespace parakeet::runtime {
namespace {

template <typename Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(const_cast<void*>(Table()->symbol(name)));
}

TEST(Table, CarriesTheAbiId) {
  EXPECT_EQ(Table()->abi_id, kPkAbiId);
  EXPECT_NE(PkComputeAbiId("one build"), PkComputeAbiId("another"));
}

TEST(Table, FindsOurOwn) {
  EXPECT_EQ(Find<decltype(pk_alloc)>("pk_alloc"), &pk_alloc);
  EXPECT_EQ(Find<decltype(pk_free)>("pk_free"), &pk_free);
  EXPECT_EQ(Find<decltype(pk_fail)>("pk_fail"), &pk_fail);
  EXPECT_EQ(Find<decltype(pk_find_stack)>("pk_find_stack"), &pk_find_stack);
  EXPECT_EQ(Find<decltype(pk_too_deep)>("pk_too_deep"), &pk_too_deep);
}

TEST(Table, FindsWhatCallsAndKernelsOfADeviceImport) {
  for (const char* name : {"pk_device_alloc", "pk_device_free", "pk_device_read", "pk_device_write",
                           "pk_device_launch", "pk_device_copy_to_host", "pk_device_end_copies",
                           "pk_device_library_call", "pk_thread_barrier", "pk_thread_fail",
                           "pk_thread_alloc", "pk_thread_free", "pk_thread_check",
                           "pk_thread_warp_barrier", "pk_thread_match", "pk_thread_shuffle"}) {
    EXPECT_NE(Table()->symbol(name), nullptr) << name;
  }
}

TEST(Table, FindsMathAndMemory) {
  ASSERT_NE(Find<double(double)>("exp"), nullptr);
  EXPECT_EQ(Find<double(double)>("exp")(1.0), std::exp(1.0));
  EXPECT_EQ(Find<float(float)>("tanhf")(0.5f), std::tanh(0.5f));
  EXPECT_EQ(Find<double(double, double)>("fma") == nullptr, false);
  char text[4] = "abc";
  Find<void*(void*, const void*, size_t)>("memmove")(text + 1, text, 2);
  EXPECT_STREQ(text, "aab");
  for (const char* name : {"memcpy", "memset", "pow", "fmod", "log1p"}) {
    EXPECT_NE(Table()->symbol(name), nullptr) << name;
  }
}

TEST(Table, FindsArithmeticHelpers) {
  for (const char* name : {"__truncsfhf2", "__truncdfhf2", "__extendhfsf2"}) {
    EXPECT_NE(Table()->symbol(name), nullptr) << name;
  }
  using Wide = __int128;
  auto* divide = Find<Wide(Wide, Wide)>("__divti3");
  ASSERT_NE(divide, nullptr);
  EXPECT_EQ(int64_t(divide(Wide{1} << 100, Wide{1} << 98)), 4);
}

TEST(Table, FindsVectorMath) {
  void* library = dlopen("libmvec.so.1", RTLD_NOW);
  if (library == nullptr) GTEST_SKIP() << "skipped: no libmvec.so.1";
  EXPECT_EQ(Table()->symbol("_ZGVbN2v_exp"), dlsym(library, "_ZGVbN2v_exp"));
  EXPECT_NE(Table()->symbol("_ZGVeN16v_tanhf"), nullptr);
}

TEST(Table, SaysWhyANameIsMissing) {
  EXPECT_EQ(Table()->symbol("no_such_function"), nullptr);
  EXPECT_STREQ(Table()->why_missing("no_such_function"), "no library has no_such_function");
  EXPECT_STREQ(Table()->why_missing("exp"), "");
}

TEST(Clock, GoesForwardInNanoseconds) {
  const int64_t begin = Table()->now();
  timespec wait = {0, 2'000'000};
  nanosleep(&wait, nullptr);
  const int64_t end = NowNanoseconds();
  EXPECT_GE(end - begin, 2'000'000);
  EXPECT_LT(end - begin, 60'000'000'000);
}

}  // namespace
}  // namespace parakeet::runtime
