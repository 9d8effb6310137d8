#include "runtime/buffers.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/buffer_block.h"

namespace parakeet::runtime {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Empties the pool. Returns what the caches of other threads still keep.
int64_t TrimmedPool() {
  TrimPool();
  return ReadBufferCounters().pooled_bytes;
}

int64_t PooledBytes() { return ReadBufferCounters().pooled_bytes; }

uintptr_t AddressOf(void* buffer) { return reinterpret_cast<uintptr_t>(buffer); }

TEST(SizeClasses, HoldTheirRequestsAndGrow) {
  uint32_t previous = 0;
  for (uint64_t bytes = 0; bytes < 64 * kMiB; bytes += bytes < 4096 ? 1 : bytes / 97) {
    const uint32_t size_class = SizeClassOf(bytes);
    const uint64_t capacity = CapacityOf(size_class);
    ASSERT_GE(size_class, previous) << bytes;
    ASSERT_GE(capacity, bytes);
    ASSERT_EQ(SizeClassOf(capacity), size_class) << bytes;
    if (bytes > 512 && bytes < kMiB) {
      ASSERT_LE(capacity, bytes + bytes / 4 + 1) << bytes;
    }
    if (bytes > 16 * kMiB) {
      ASSERT_LE(capacity, bytes + bytes / 8 + kHugePage) << bytes;
    }
    previous = size_class;
  }
}

TEST(SizeClasses, ReachTheLargestRequest) {
  EXPECT_LT(SizeClassOf(kMaxBytes), kSizeClasses);
  EXPECT_EQ(CapacityOf(SizeClassOf(kMaxBytes)), kMaxBytes);
  EXPECT_EQ(CapacityOf(kCachedClasses - 1), kCachedCapacity);
}

TEST(SizeClasses, LargeCapacitiesAreWholeHugePages) {
  for (uint64_t bytes = kHugePage; bytes < 4096 * kMiB; bytes += bytes / 33) {
    EXPECT_EQ(CapacityOf(SizeClassOf(bytes)) % kHugePage, 0u) << bytes;
  }
}

TEST(Buffers, AreAlignedAndWritableThroughout) {
  for (uint64_t bytes : {0ull, 1ull, 64ull, 65ull, 1000ull, 32768ull, 32769ull, 1000000ull,
                         2097152ull, 2097153ull, 9000000ull}) {
    void* buffer = Allocate(bytes);
    ASSERT_NE(buffer, nullptr);
    EXPECT_EQ(AddressOf(buffer) % 64, 0u) << bytes;
    ASSERT_GE(CapacityOfBuffer(buffer), bytes);
    std::memset(buffer, 0xa5, CapacityOfBuffer(buffer));
    Release(buffer);
  }
}

TEST(Buffers, LiveOnesDoNotOverlap) {
  std::mt19937_64 random(7);
  std::vector<std::pair<unsigned char*, size_t>> buffers;
  for (int i = 0; i < 400; ++i) {
    const size_t bytes = random() % (i % 10 == 0 ? 3 * kMiB : 5000) + 1;
    buffers.push_back({static_cast<unsigned char*>(Allocate(bytes)), bytes});
    std::memset(buffers.back().first, i & 0xff, bytes);
  }
  for (int i = 0; i < 400; ++i) {
    const auto [data, bytes] = buffers[i];
    for (size_t at = 0; at < bytes; at += 61) ASSERT_EQ(data[at], i & 0xff);
    ASSERT_EQ(data[bytes - 1], i & 0xff);
    Release(data);
  }
}

TEST(Buffers, ComeBackFromThePool) {
  for (uint64_t bytes : {100ull, 20000ull, 100000ull, 10 * kMiB + 0ull}) {
    void* first = Allocate(bytes);
    Release(first);
    void* second = Allocate(bytes);
    EXPECT_EQ(first, second) << bytes;
    Release(second);
  }
}

// Whether the mapping that holds an address is advised to lie on huge pages.
bool IsAdvised(uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  bool inside = false;
  while (std::getline(maps, line)) {
    unsigned long begin, end;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) {
      inside = begin <= address && address < end;
    }
    const bool flags = line.rfind("VmFlags:", 0) == 0;
    if (inside && flags) return line.find(" hg") != std::string::npos;
  }
  return false;
}

TEST(Buffers, LargeOnesLieOnAdvisedHugePages) {
  if (access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) != 0) {
    GTEST_SKIP() << "skipped: this kernel has no transparent huge pages";
  }
  for (const uint64_t bytes : {uint64_t{40000}, 2 * kMiB - 1, 8 * kMiB}) {
    void* buffer = Allocate(bytes);
    EXPECT_TRUE(IsAdvised(AddressOf(buffer))) << bytes;
    Release(buffer);
  }
  void* buffer = Allocate(8 * kMiB);
  EXPECT_LT(AddressOf(buffer) % kHugePage, 4096u);
  Release(buffer);
}

TEST(Buffers, LargeOnesDifferInTheirPageOffsets) {
  TrimPool();
  std::vector<void*> buffers;
  std::vector<bool> seen(4096);
  for (int i = 0; i < 8; ++i) {
    buffers.push_back(Allocate(i % 2 == 0 ? 4 * kMiB : 100000));
    const uint64_t offset = AddressOf(buffers.back()) % 4096;
    EXPECT_FALSE(seen[offset]) << offset;
    seen[offset] = true;
  }
  for (void* buffer : buffers) Release(buffer);
}

// The only two at hand, whatever lived beside them before.
TEST(Buffers, OnesOfThePoolDifferFromThoseThatLive) {
  const auto offset = [](void* buffer) { return AddressOf(buffer) % 4096; };
  for (const uint64_t bytes : {6 * kMiB, uint64_t{100000}}) {
    TrimPool();
    std::vector<void*> buffers;
    for (int i = 0; i < 9; ++i) buffers.push_back(Allocate(bytes));
    EXPECT_EQ(offset(buffers[0]), offset(buffers[8]));
    Release(buffers[0]);
    Release(buffers[8]);
    void* first = Allocate(bytes);
    void* second = Allocate(bytes);
    EXPECT_NE(offset(first), offset(second)) << bytes;
    std::memset(first, 1, bytes);
    std::memset(second, 2, bytes);
    EXPECT_EQ(static_cast<char*>(first)[bytes - 1], 1) << bytes;
    Release(first);
    Release(second);
    for (int i = 1; i < 8; ++i) Release(buffers[i]);
    // One that nobody else needs comes back as it was.
    void* again = Allocate(bytes);
    EXPECT_EQ(again, buffers[7]);
    Release(again);
  }
}

TEST(Counters, FollowAllocationsAndReleases) {
  TrimPool();
  const BufferCounters before = ReadBufferCounters();
  ResetPeak();
  void* small = Allocate(100);
  void* large = Allocate(5 * kMiB);
  BufferCounters during = ReadBufferCounters();
  EXPECT_EQ(during.live_bytes - before.live_bytes, int64_t(5 * kMiB + 100));
  EXPECT_EQ(during.live_buffers - before.live_buffers, 2);
  EXPECT_EQ(during.allocations - before.allocations, 2);
  Release(small);
  Release(large);
  const BufferCounters after = ReadBufferCounters();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
  EXPECT_EQ(after.peak_bytes - before.live_bytes, int64_t(5 * kMiB + 100));
  EXPECT_EQ(after.pooled_bytes - before.pooled_bytes, int64_t(128 + 6 * kMiB));
  EXPECT_EQ(TrimmedPool(), before.pooled_bytes);
}

TEST(Pool, KeepsAtMostItsCapAndTheNewest) {
  const int64_t others = TrimmedPool();
  const uint64_t cap = PoolCap();
  SetPoolCap(5 * kMiB);
  void* old = Allocate(2 * kMiB);
  void* middle = Allocate(2 * kMiB - 1);
  void* young = Allocate(4 * kMiB);
  Release(old);
  Release(middle);
  EXPECT_EQ(PooledBytes() - others, int64_t(4 * kMiB));
  Release(young);
  EXPECT_EQ(PooledBytes() - others, int64_t(4 * kMiB));
  void* again = Allocate(4 * kMiB);
  EXPECT_EQ(again, young);
  EXPECT_EQ(PooledBytes(), others);
  Release(again);
  SetPoolCap(0);
  EXPECT_EQ(PooledBytes(), others);
  SetPoolCap(cap);
}

TEST(Pool, DefaultCapIsAFractionOfTheMachine) {
  EXPECT_GT(PoolCap(), 16 * kMiB);
  EXPECT_LE(PoolCap(), uint64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / 8);
}

TEST(Buffers, AThreadsCacheEndsWithIt) {
  TrimPool();
  const BufferCounters before = ReadBufferCounters();
  int64_t pooled_inside = 0;
  std::thread([&] {
    Release(Allocate(1000));
    pooled_inside = PooledBytes() - before.pooled_bytes;
  }).join();
  const BufferCounters after = ReadBufferCounters();
  EXPECT_EQ(pooled_inside, 1024);
  EXPECT_EQ(after.pooled_bytes, before.pooled_bytes);
  EXPECT_EQ(after.allocations - before.allocations, 1);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
}

TEST(Buffers, CacheOfOneClassIsBounded) {
  const int64_t others = TrimmedPool();
  std::vector<void*> buffers;
  for (int i = 0; i < 1000; ++i) buffers.push_back(Allocate(8192));
  for (void* buffer : buffers) Release(buffer);
  EXPECT_EQ(PooledBytes() - others, 64 * 1024);
  TrimPool();
}

TEST(Buffers, AThreadTakesWhatItReleasedLast) {
  TrimPool();
  void* own = Allocate(300000);
  void* smaller = Allocate(100000);
  Release(own);
  Release(smaller);
  void* of_other = nullptr;
  std::thread([&] { of_other = Allocate(300000); }).join();
  EXPECT_NE(of_other, own);
  EXPECT_EQ(Allocate(300000), own);
  EXPECT_EQ(Allocate(100000), smaller);
  for (void* buffer : {own, smaller, of_other}) Release(buffer);
  TrimPool();
}

TEST(Buffers, WhatAThreadKeepsIsBounded) {
  const int64_t others = TrimmedPool();
  const uint64_t cap = PoolCap();
  SetPoolCap(0);
  std::vector<void*> buffers;
  for (int i = 0; i < 40; ++i) buffers.push_back(Allocate(uint64_t{65536} << i % 4));
  for (void* buffer : buffers) Release(buffer);
  EXPECT_LE(PooledBytes() - others, int64_t(kMiB));
  EXPECT_GT(PooledBytes(), others);
  TrimPool();
  EXPECT_EQ(PooledBytes(), others);
  SetPoolCap(cap);
}

// Buffers are allocated, checked and released by threads chosen at random.
TEST(Buffers, MoveBetweenThreads) {
  constexpr int kThreads = 4;
  const BufferCounters before = ReadBufferCounters();
  std::mutex mutex;
  std::vector<uint64_t*> passed;
  std::atomic<int> damaged{0};
  const auto work = [&](int seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 20000; ++i) {
      const size_t words = random() % (i % 50 == 0 ? 100000 : 300) + 1;
      auto* fresh = static_cast<uint64_t*>(Allocate(words * 8));
      fresh[0] = words;
      fresh[words - 1] = words;
      uint64_t* other;
      {
        const std::lock_guard lock(mutex);
        passed.push_back(fresh);
        std::swap(passed[random() % passed.size()], passed.back());
        other = passed.back();
        if (passed.size() < 64) continue;
        passed.pop_back();
      }
      if (other[other[0] - 1] != other[0]) ++damaged;
      Release(other);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  for (uint64_t* buffer : passed) Release(buffer);
  EXPECT_EQ(damaged, 0);
  const BufferCounters after = ReadBufferCounters();
  EXPECT_EQ(after.live_bytes, before.live_bytes);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
  EXPECT_EQ(after.allocations - before.allocations, kThreads * 20000);
}

// Children are forked while other threads hold the pool's lock or are inside their caches.
TEST(Buffers, SurviveForksUnderLoad) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        Release(Allocate(100));
        Release(Allocate(100000));
        TrimPool();  // The next ones come from the C library and from slabs.
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    void* inherited = Allocate(70000);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      Release(inherited);
      const int64_t live = ReadBufferCounters().live_buffers;
      void* small = Allocate(100);
      void* large = Allocate(3 * kMiB);
      std::memset(large, 1, 3 * kMiB);
      const bool counted = ReadBufferCounters().live_buffers == live + 2;
      Release(small);
      Release(large);
      TrimPool();
      _exit(counted && ReadBufferCounters().pooled_bytes == 0 ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    Release(inherited);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(Buffers, TooLargeIsNull) {
  EXPECT_EQ(Allocate(kMaxBytes + 1), nullptr);
  EXPECT_EQ(Allocate(UINT64_MAX), nullptr);
  EXPECT_EQ(Allocate(kMaxBytes - 1), nullptr);
}

#if !defined(__SANITIZE_ADDRESS__)
void ExhaustMemory() {
  SetPoolCap(UINT64_MAX);
  Release(Allocate(1024 * kMiB));
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  const rlimit limit = {pages * 4096 + 600 * kMiB, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
  void* other_class = Allocate(1300 * kMiB);
  void* beyond = Allocate(1300 * kMiB);
  _exit(other_class != nullptr && beyond == nullptr ? 0 : 1);
}

TEST(PoolDeathTest, GivesItsBlocksBackBeforeAnAllocationFails) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(ExhaustMemory(), testing::ExitedWithCode(0), "");
}
#endif

TEST(BuffersDeathTest, SecondReleaseEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  void* buffer = Allocate(50000);
  Release(buffer);
  EXPECT_DEATH(Release(buffer), "no live buffer");
}

TEST(Numpy, CallocClearsReusedMemory) {
  void* dirty = NumpyMalloc(nullptr, 4000);
  std::memset(dirty, 0xff, 4000);
  NumpyFree(nullptr, dirty, 4000);
  auto* clear = static_cast<unsigned char*>(NumpyCalloc(nullptr, 1000, 4));
  EXPECT_EQ(clear, dirty);
  for (int i = 0; i < 4000; ++i) ASSERT_EQ(clear[i], 0);
  NumpyFree(nullptr, clear, 4000);
  EXPECT_EQ(NumpyCalloc(nullptr, SIZE_MAX / 2, 3), nullptr);
}

TEST(Numpy, ReallocKeepsContentsAndCounts) {
  const BufferCounters before = ReadBufferCounters();
  auto* data = static_cast<unsigned char*>(NumpyRealloc(nullptr, nullptr, 100));
  for (int i = 0; i < 100; ++i) data[i] = i;
  EXPECT_EQ(NumpyRealloc(nullptr, data, 120), data);
  EXPECT_EQ(ReadBufferCounters().live_bytes - before.live_bytes, 120);
  for (size_t bytes : {5000u, 3000000u, 90000u, 100u}) {
    data = static_cast<unsigned char*>(NumpyRealloc(nullptr, data, bytes));
    for (int i = 0; i < 100; ++i) ASSERT_EQ(data[i], i) << bytes;
    EXPECT_EQ(ReadBufferCounters().live_bytes - before.live_bytes, int64_t(bytes));
  }
  EXPECT_EQ(NumpyRealloc(nullptr, data, SIZE_MAX), nullptr);
  EXPECT_EQ(data[99], 99);
  NumpyFree(nullptr, data, 100);
  EXPECT_EQ(ReadBufferCounters().live_bytes, before.live_bytes);
  EXPECT_EQ(ReadBufferCounters().live_buffers, before.live_buffers);
}

}  // namespace
}  // namespace parakeet::runtime
