#include "backends/host_caches.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace parakeet::backends {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

// A third cache this large is spread over a die, and a line of it costs a core not much less than
// one of memory. y = 2 x + 1 (float64) on 1, 4 and 16 cores of a Xeon with 2 MiB a core and 300 MiB
// for all: past the caches, 32 MiB take 2.4, 0.60 and 0.31 ms and not 5.2, 1.3 and 0.51; 2 MiB a
// core are where it begins to pay. On an EPYC with 1 MiB a core and 32 MiB for all, 16 MiB take as
// long by both ways and 32 MiB are where it begins.
constexpr int64_t kFar = 96 * kMebibyte;
constexpr int64_t kLeastOfFar = 4 * kMebibyte;

// Steps of jacobi (float64, 1000 by 1000), some rows at a time, of 0.5, 1 and 1.5 MiB of a cache of
// 2 MiB: 100 steps take 33.6, 30.8 and 29.5 ms on a core of its own. 16 threads of 8 cores: 5.5 to
// 6.7 ms with 0.5 MiB, 6.2 to 8 ms with 1 MiB.
constexpr int64_t kBandsOfCache = 3;
constexpr int64_t kUsualBand = kMebibyte / 2;

// sysconf gives the sum of all third caches of a machine, of which a core sees one.
int64_t BytesOfCache(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    int has = 0;
    if (!(std::ifstream(folder + "level") >> has)) return 0;
    int64_t kibibytes = 0;
    if (has == level && std::ifstream(folder + "size") >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

StreamedBytes StreamedBytesOf(int64_t second, int64_t third) {
  if (third == 0) return {second == 0 ? 0 : std::max(second, kLeastOfFar), second};
  if (third < kFar || second == 0) return {third, 0};
  return {std::max(second, kLeastOfFar), second};
}

StreamedBytes HostStreamedBytes() {
  static const StreamedBytes kBytes = StreamedBytesOf(BytesOfCache(2), BytesOfCache(3));
  return kBytes;
}

int64_t HostBandBytes() {
  static const int64_t kBytes = BytesOfCache(2) / kBandsOfCache;
  return kBytes == 0 ? kUsualBand : kBytes;
}

}  // namespace parakeet::backends
