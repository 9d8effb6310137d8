#include "backends/host_caches.h"

#include <gtest/gtest.h>

namespace parakeet::backends {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

TEST(HostCaches, AThirdCacheOfOneDieHoldsWhatItHolds) {
  const StreamedBytes bytes = StreamedBytesOf(kMebibyte, 32 * kMebibyte);
  EXPECT_EQ(bytes.least, 32 * kMebibyte);
  EXPECT_EQ(bytes.of_thread, 0);
}

TEST(HostCaches, AThirdCacheFarFromACoreLeavesTheSecond) {
  const StreamedBytes bytes = StreamedBytesOf(2 * kMebibyte, 300 * kMebibyte);
  EXPECT_EQ(bytes.least, 4 * kMebibyte);
  EXPECT_EQ(bytes.of_thread, 2 * kMebibyte);
}

TEST(HostCaches, WithoutAThirdCacheTheSecondIsTheLast) {
  EXPECT_EQ(StreamedBytesOf(8 * kMebibyte, 0).least, 8 * kMebibyte);
}

TEST(HostCaches, NothingIsSaidOfUnknownCaches) { EXPECT_EQ(StreamedBytesOf(0, 0).least, 0); }

}  // namespace
}  // namespace parakeet::backends
