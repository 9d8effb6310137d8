#include "runtime/emulated_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "runtime/clock.h"
#include "runtime/fibre.h"
#include "runtime/team.h"

namespace parakeet::runtime {
namespace {

Device& Emulated() {
  std::string why;
  return *OpenDevice(DeviceKind::kEmulated, 0, &why);
}

template <typename T>
class OnDevice {
 public:
  explicit OnDevice(int64_t count) : count_(count) {
    data_ = static_cast<T*>(Emulated().Allocate(count * int64_t(sizeof(T))));
    std::memset(static_cast<void*>(data_), 0, size_t(count) * sizeof(T));
  }
  ~OnDevice() { Emulated().Free(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* data() { return data_; }
  std::vector<T> Read() const {
    std::vector<T> numbers(static_cast<size_t>(count_));
    Emulated().CopyDown(numbers.data(), data_, count_ * int64_t(sizeof(T)));
    return numbers;
  }

 private:
  int64_t count_;
  T* data_;
};

struct Captures {
  PkErrorRecord* record;
  PkErrorRecord* before;
  int64_t* numbers;
  int64_t count;
};

int32_t Launch(PkEmulatedKernel code, Captures captures, int32_t flags, int64_t blocks,
               int32_t threads, int64_t shared_bytes = 0) {
  const PkKernel kernel = {
      kPkKernelEmulated, flags, shared_bytes, reinterpret_cast<const void*>(code), 0, "test"};
  return Emulated().Launch(kernel, blocks, threads, &captures, sizeof captures);
}

const Captures& Of(const void* captures) { return *static_cast<const Captures*>(captures); }

// Accesses as compiled kernels make them.
int64_t Load(PkThread* thread, const int64_t* at) {
  pk_thread_check(thread, at, 8, kPkAccessLoad);
  return *at;
}
void Store(PkThread* thread, int64_t* at, int64_t value) {
  pk_thread_check(thread, at, 8, kPkAccessStore);
  *at = value;
}
int64_t* SharedOf(PkThread* thread) { return reinterpret_cast<int64_t*>(thread->shared); }

TEST(EmulatedDevice, SaysWhatItIs) {
  std::string why;
  EXPECT_EQ(CountDevices(DeviceKind::kEmulated, &why), 1);
  EXPECT_EQ(OpenDevice(DeviceKind::kEmulated, 1, &why), nullptr);
  EXPECT_EQ(why, "there is no emulated device 1, only 0");
  EXPECT_EQ(Emulated().Name(), "emulated");
  EXPECT_EQ(Emulated().Architecture(), 0);
  EXPECT_EQ(Emulated().kind(), DeviceKind::kEmulated);
  EXPECT_EQ(Emulated().Wait(), 0);
}

void NumberEach(PkThread* thread, const void* captures) {
  const int64_t i = thread->block * 64 + thread->thread;
  if (i < Of(captures).count) Store(thread, Of(captures).numbers + i, i + 1);
}

TEST(EmulatedDevice, RunsEveryThreadOfEveryBlockOnce) {
  OnDevice<int64_t> numbers(1000);
  EXPECT_EQ(Launch(NumberEach, {nullptr, nullptr, numbers.data(), 1000}, 0, 16, 64), 0);
  const std::vector<int64_t> seen = numbers.Read();
  for (int64_t i = 0; i < 1000; ++i) EXPECT_EQ(seen[i], i + 1);
}

// Sums a block's numbers in a tree, as reductions do.
void SumBlock(PkThread* thread, const void* captures) {
  int64_t* shared = SharedOf(thread);
  const int64_t i = thread->thread;
  Store(thread, shared + i, thread->block + i);
  pk_thread_barrier(thread);
  for (int64_t half = 128; half > 0; half /= 2) {
    if (i < half)
      Store(thread, shared + i, Load(thread, shared + i) + Load(thread, shared + i + half));
    pk_thread_barrier(thread);
  }
  if (i == 0) Store(thread, Of(captures).numbers + thread->block, Load(thread, shared));
}

TEST(EmulatedDevice, ThreadsOfABlockWaitForOneAnother) {
  OnDevice<int64_t> sums(3);
  EXPECT_EQ(
      Launch(SumBlock, {nullptr, nullptr, sums.data(), 3}, kPkKernelBarriers, 3, 256, 256 * 8), 0);
  EXPECT_EQ(sums.Read(), (std::vector<int64_t>{255 * 128, 255 * 128 + 256, 255 * 128 + 512}));
}

// Keeps floats and integers in registers, and an array on its stack, from barrier to barrier.
void KeepState(PkThread* thread, const void* captures) {
  double sum = double(thread->thread);
  char on_stack[1024];
  std::memset(on_stack, int(thread->thread % 100), sizeof on_stack);
  for (int i = 0; i < 10; ++i) {
    sum = std::sqrt(sum * sum + 1);
    pk_thread_barrier(thread);
  }
  bool is_whole = std::abs(sum * sum - double(thread->thread * thread->thread + 10)) < 1e-6;
  for (const char byte : on_stack) is_whole = is_whole && byte == char(thread->thread % 100);
  Store(thread, Of(captures).numbers + thread->thread, is_whole);
}

TEST(EmulatedDevice, AFullBlockKeepsItsStacksAndRegisters) {
  OnDevice<int64_t> seen(kPkMostThreads);
  EXPECT_EQ(
      Launch(KeepState, {nullptr, nullptr, seen.data(), 0}, kPkKernelBarriers, 1, kPkMostThreads),
      0);
  EXPECT_EQ(seen.Read(), std::vector<int64_t>(kPkMostThreads, 1));
}

std::atomic<int> most_threads{0};

void TakeTime(PkThread* thread, const void* captures) {
  thread_local bool is_counted = false;
  if (!is_counted) most_threads.fetch_add(1);
  is_counted = true;
  const int64_t until = NowNanoseconds() + 1'000'000;
  while (NowNanoseconds() < until) continue;
  NumberEach(thread, captures);
}

TEST(EmulatedDevice, BlocksRunOnTheThreadsOfTheTeam) {
  const int32_t before = ThreadCount();
  SetThreadCount(3);
  OnDevice<int64_t> numbers(64 * 40);
  EXPECT_EQ(Launch(TakeTime, {nullptr, nullptr, numbers.data(), 64 * 40}, 0, 40, 1), 0);
  SetThreadCount(before);
  EXPECT_LE(most_threads.load(), 3);
  EXPECT_GE(most_threads.load(), 2);
  const std::vector<int64_t> seen = numbers.Read();
  for (int64_t block = 0; block < 40; ++block) EXPECT_EQ(seen[block * 64], block * 64 + 1);
}

// Waits for the block before it, as scans do.
void FollowThePrevious(PkThread* thread, const void* captures) {
  int64_t* numbers = Of(captures).numbers;
  int64_t previous = 0;
  while (thread->block > 0 && previous == 0) {
    pk_thread_check(thread, numbers + thread->block - 1, 8, kPkAccessAtomic);
    previous = std::atomic_ref(numbers[thread->block - 1]).load();
  }
  std::atomic_ref(numbers[thread->block]).store(previous + 1);
}

TEST(EmulatedDevice, ABlockMayWaitForEarlierOnes) {
  const int32_t before = ThreadCount();
  SetThreadCount(4);
  OnDevice<int64_t> numbers(20'000);
  EXPECT_EQ(Launch(FollowThePrevious, {nullptr, nullptr, numbers.data(), 0}, 0, 20'000, 1), 0);
  SetThreadCount(before);
  EXPECT_EQ(numbers.Read().back(), 20'000);
}

TEST(EmulatedDevice, ThreadsLaunchAtTheSameTime) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        OnDevice<int64_t> sums(2);
        Launch(SumBlock, {nullptr, nullptr, sums.data(), 2}, kPkKernelBarriers, 2, 256, 256 * 8);
        if (sums.Read()[1] != 255 * 128 + 256) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

void UseOwnMemory(PkThread* thread, const void* captures) {
  auto* own = static_cast<int64_t*>(pk_thread_alloc(thread, 80));
  auto* freed = static_cast<int64_t*>(pk_thread_alloc(thread, 8));
  Store(thread, freed, 3);
  for (int64_t i = 0; i < 10; ++i) Store(thread, own + i, thread->thread + Load(thread, freed));
  pk_thread_free(thread, freed);
  pk_thread_free(thread, nullptr);
  if ((thread->thread & 1) != 0) pk_thread_barrier(thread);
  Store(thread, Of(captures).numbers + thread->thread, Load(thread, own + 9));
}

TEST(EmulatedDevice, AThreadHasMemoryOfItsOwn) {
  OnDevice<int64_t> seen(1);
  EXPECT_EQ(Launch(UseOwnMemory, {nullptr, nullptr, seen.data(), 0}, kPkKernelBarriers, 1, 1), 0);
  EXPECT_EQ(seen.Read()[0], 3);
}

void AskForTooMuch(PkThread* thread, const void*) {
  if (pk_thread_alloc(thread, -8) != nullptr) pk_thread_barrier(thread);
}

TEST(EmulatedDevice, AThreadWithoutMemoryFailsTheLaunch) {
  OnDevice<PkErrorRecord> record(1);
  EXPECT_EQ(Launch(AskForTooMuch, {record.data(), nullptr, nullptr, 0}, kPkKernelMayFail, 1, 1), 0);
  const PkErrorRecord seen = record.Read()[0];
  EXPECT_EQ(seen.state, kPkRecordHolds);
  EXPECT_EQ(seen.lock, 0);
  EXPECT_EQ(seen.site, kPkSiteMemory);
  EXPECT_EQ(seen.scalars[0], -8);
}

void FailBackwards(PkThread* thread, const void*) {
  const int64_t i = 999 - (thread->block * 10 + thread->thread);
  const int64_t place[2] = {i / 3, 4};
  pk_thread_fail(thread, int32_t(i), i % 3 == 0 ? 1 : 2, place, 1, &i);
}

TEST(EmulatedDevice, TheLeastPlaceOfAllIsKept) {
  OnDevice<PkErrorRecord> record(1);
  EXPECT_EQ(Launch(FailBackwards, {record.data(), nullptr, nullptr, 0}, kPkKernelMayFail, 10, 10),
            0);
  const PkErrorRecord seen = record.Read()[0];
  EXPECT_EQ(seen.place[0], 300);
  EXPECT_EQ(seen.place_count, 1);
  EXPECT_EQ(seen.site, 900);
  EXPECT_EQ(seen.scalars[0], 900);
}

TEST(EmulatedDevice, CountsWhatItHolds) {
  const DeviceCounters before = Emulated().Counters();
  void* one = Emulated().Allocate(100);
  void* nothing = Emulated().Allocate(0);
  ASSERT_NE(nothing, nullptr);
  EXPECT_EQ(Emulated().Counters().live_bytes - before.live_bytes, 100);
  EXPECT_EQ(Emulated().Counters().live_buffers - before.live_buffers, 2);
  EXPECT_GE(Emulated().Counters().peak_bytes, before.live_bytes + 100);
  Emulated().Free(one);
  Emulated().Free(nothing);
  Emulated().Free(nullptr);
  EXPECT_EQ(Emulated().Counters().live_bytes, before.live_bytes);
  Launch(NumberEach, {nullptr, nullptr, nullptr, 0}, 0, 1, 1);
  EXPECT_EQ(Emulated().Counters().launches - before.launches, 1);
}

TEST(EmulatedDevice, MemoryBeginsWithPoison) {
  void* buffer = Emulated().Allocate(16);
  int64_t seen[2] = {};
  EXPECT_EQ(Emulated().CopyDown(seen, buffer, 16), 0);
  EXPECT_EQ(seen[0], -1);
  EXPECT_EQ(seen[1], -1);
  Emulated().Free(buffer);
}

TEST(EmulatedDevice, RefusesALaunchThatNoGpuTakes) {
  EXPECT_NE(Launch(NumberEach, {nullptr, nullptr, nullptr, 0}, 0, 1, kPkMostThreads + 1), 0);
  EXPECT_NE(Launch(NumberEach, {nullptr, nullptr, nullptr, 0}, 0, 1, 0), 0);
}

// ---------------------------------------------------------------------------------------------
// What ends the process: compiled code is wrong
// ---------------------------------------------------------------------------------------------

class EmulatedDeviceDeath : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  OnDevice<int64_t> numbers_{10};
  int64_t of_host_[2] = {};

  void Run(PkEmulatedKernel code, int32_t threads, int32_t flags = 0, int64_t shared_bytes = 0,
           int64_t* numbers = nullptr) {
    Launch(code, {nullptr, nullptr, numbers == nullptr ? numbers_.data() : numbers, 10}, flags, 2,
           threads, shared_bytes);
  }
};

TEST_F(EmulatedDeviceDeath, AnAddressBehindAnAllocation) {
  const auto store_behind = [](PkThread* thread, const void* captures) {
    if (thread->block == 1 && thread->thread == 2) Store(thread, Of(captures).numbers + 10, 1);
  };
  EXPECT_DEATH(
      Run(store_behind, 3),
      "parakeet: kernel test, block 1, thread 2: a store of 8 bytes at 0x[0-9a-f]+ lies in "
      "no memory of the kernel");
  const auto load_across = [](PkThread* thread, const void* captures) {
    pk_thread_check(thread, Of(captures).numbers + 9, 16, kPkAccessLoad);
  };
  EXPECT_DEATH(Run(load_across, 1), "a load of 16 bytes");
  const auto update_before = [](PkThread* thread, const void* captures) {
    pk_thread_check(thread, Of(captures).numbers - 1, 8, kPkAccessAtomic);
  };
  EXPECT_DEATH(Run(update_before, 1), "an atomic update of 8 bytes");
}

TEST_F(EmulatedDeviceDeath, AnAtomicUpdateOfBytesThatLieAcross) {
  const auto update_across = [](PkThread* thread, const void* captures) {
    const char* numbers = reinterpret_cast<const char*>(Of(captures).numbers);
    pk_thread_check(thread, numbers + 2, 4, kPkAccessAtomic);
  };
  EXPECT_DEATH(Run(update_across, 1),
               "an atomic update of 4 bytes at 0x[0-9a-f]+, which is no multiple of that");
}

TEST_F(EmulatedDeviceDeath, AnAddressOfTheHost) {
  const auto load = [](PkThread* thread, const void* captures) {
    Load(thread, Of(captures).numbers);
  };
  EXPECT_DEATH(Run(load, 1, 0, 0, of_host_), "a load of 8 bytes at 0x[0-9a-f]+ lies in no memory");
  EXPECT_DEATH(Emulated().CopyDown(of_host_, of_host_ + 1, 8),
               "parakeet: 8 bytes at 0x[0-9a-f]+ are not in memory of the emulated device");
  EXPECT_DEATH(Emulated().Free(of_host_), "is no live buffer of the emulated device");
}

TEST_F(EmulatedDeviceDeath, MemoryThatWasFreed) {
  const auto use_own_after = [](PkThread* thread, const void*) {
    auto* own = static_cast<int64_t*>(pk_thread_alloc(thread, 8));
    Store(thread, own, 1);
    pk_thread_free(thread, own);
    Load(thread, own);
  };
  EXPECT_DEATH(Run(use_own_after, 1), "a load of 8 bytes at 0x[0-9a-f]+ lies in no memory");
  // A runner remembers where the last access was.
  void* freed = Emulated().Allocate(64);
  const auto load = [](PkThread* thread, const void* captures) {
    Load(thread, Of(captures).numbers);
  };
  Run(load, 1, 0, 0, static_cast<int64_t*>(freed));
  Emulated().Free(freed);
  EXPECT_DEATH(Run(load, 1, 0, 0, static_cast<int64_t*>(freed)), "lies in no memory");
}

TEST_F(EmulatedDeviceDeath, RacesInSharedMemory) {
  const auto load_of_neighbours = [](PkThread* thread, const void*) {
    Store(thread, SharedOf(thread) + thread->thread, 1);
    Load(thread, SharedOf(thread) + (thread->thread + 1) % 4);
  };
  EXPECT_DEATH(Run(load_of_neighbours, 4, kPkKernelBarriers, 32),
               "block 0, thread 1: a store at 8 in shared memory races with an access of thread 0");
  const auto store_after_loads = [](PkThread* thread, const void*) {
    Load(thread, SharedOf(thread));
    if (thread->thread == 1) Store(thread, SharedOf(thread), 1);
  };
  EXPECT_DEATH(Run(store_after_loads, 2, 0, 32),
               "thread 1: a store at 0 in shared memory races with an access of thread 0");
  const auto stores_to_one = [](PkThread* thread, const void*) {
    pk_thread_barrier(thread);
    Store(thread, SharedOf(thread) + 3, 1);
  };
  EXPECT_DEATH(Run(stores_to_one, 2, kPkKernelBarriers, 32),
               "thread 1: a store at 24 in shared memory races with an access of thread 0");
  const auto load_after_a_store = [](PkThread* thread, const void*) {
    if (thread->thread == 0) Store(thread, SharedOf(thread), 1);
    pk_thread_check(thread, thread->shared + 4, 4, kPkAccessLoad);
  };
  EXPECT_DEATH(Run(load_after_a_store, 2, 0, 8),
               "thread 1: a load at 4 in shared memory races with an access of thread 0");
}

TEST_F(EmulatedDeviceDeath, ButNotThese) {
  const auto in_order = [](PkThread* thread, const void*) {
    const int64_t i = thread->thread;
    // Neighbouring bytes, one's own again, and loads by all.
    pk_thread_check(thread, thread->shared + i, 1, kPkAccessStore);
    pk_thread_check(thread, thread->shared + i, 1, kPkAccessLoad);
    pk_thread_check(thread, thread->shared + i, 1, kPkAccessStore);
    pk_thread_check(thread, thread->shared + 8, 8, kPkAccessAtomic);
    pk_thread_barrier(thread);
    pk_thread_check(thread, thread->shared, 8, kPkAccessLoad);
    pk_thread_barrier(thread);
    pk_thread_check(thread, thread->shared + 7 - i, 1, kPkAccessStore);
  };
  Run(in_order, 8, kPkKernelBarriers, 16);
  SUCCEED();
}

// A lane reads what the lane before stored, of the same warp.
void ReadOfWarp(PkThread* thread, const void*) {
  const int64_t i = thread->thread;
  Store(thread, SharedOf(thread) + i, i);
  pk_thread_warp_barrier(thread);
  Load(thread, SharedOf(thread) + (i + 32 - 1) % 32 + i / 32 * 32);
  pk_thread_warp_barrier(thread);
  Store(thread, SharedOf(thread) + i, i);
}

TEST_F(EmulatedDeviceDeath, WarpsWaitForTheirOwn) {
  Run(ReadOfWarp, 64, kPkKernelBarriers, 64 * 8);
  const auto read_of_other = [](PkThread* thread, const void*) {
    Store(thread, SharedOf(thread) + thread->thread, 1);
    pk_thread_warp_barrier(thread);
    if (thread->thread == 32) Load(thread, SharedOf(thread));
  };
  EXPECT_DEATH(Run(read_of_other, 64, kPkKernelBarriers, 64 * 8),
               "thread 32: a load at 0 in shared memory races with an access of thread 0");
  const auto store_too_soon = [](PkThread* thread, const void*) {
    Load(thread, SharedOf(thread));
    pk_thread_warp_barrier(thread);
    Load(thread, SharedOf(thread));
    if (thread->thread == 1) Store(thread, SharedOf(thread), 1);
  };
  EXPECT_DEATH(Run(store_too_soon, 32, kPkKernelBarriers, 8),
               "thread 1: a store at 0 in shared memory races with an access of thread 0");
  const auto match_orders_nothing = [](PkThread* thread, const void*) {
    Store(thread, SharedOf(thread) + thread->thread, 1);
    pk_thread_match(thread, 0);
    Load(thread, SharedOf(thread));
  };
  EXPECT_DEATH(Run(match_orders_nothing, 2, kPkKernelBarriers, 16), "races with an access");
  const auto mixed = [](PkThread* thread, const void*) {
    thread->thread == 0 ? pk_thread_barrier(thread) : pk_thread_warp_barrier(thread);
  };
  EXPECT_DEATH(Run(mixed, 2, kPkKernelBarriers), "waits at another kind of barrier");
}

void MatchTwice(PkThread* thread, const void* captures) {
  const int64_t i = thread->thread;
  const uint32_t thirds = pk_thread_match(thread, uint32_t(i % 3));
  const uint32_t halves = pk_thread_match(thread, uint32_t(i % 2));
  Store(thread, Of(captures).numbers + i, int64_t(uint64_t{thirds} << 32 | halves));
}

TEST(EmulatedDevice, LanesMatchThoseOfTheirWarp) {
  OnDevice<int64_t> seen(40);
  EXPECT_EQ(Launch(MatchTwice, {nullptr, nullptr, seen.data(), 0}, kPkKernelBarriers, 1, 40), 0);
  const std::vector<int64_t> bits = seen.Read();
  EXPECT_EQ(uint64_t(bits[0]), 0x4924924955555555u);
  EXPECT_EQ(uint64_t(bits[31]), 0x92492492aaaaaaaau);
  EXPECT_EQ(uint64_t(bits[32]), 0x4900000055u);
}

void Shuffles(PkThread* thread, const void* captures) {
  const int64_t i = thread->thread;
  const uint64_t next = pk_thread_shuffle(thread, uint64_t(i) << 40, int32_t(i + 1));
  const uint64_t first = pk_thread_shuffle(thread, uint64_t(i), 0);
  Store(thread, Of(captures).numbers + i, int64_t(next | first));
}

TEST(EmulatedDevice, LanesTakeWhatAnotherOfTheirWarpHas) {
  OnDevice<int64_t> seen(40);
  EXPECT_EQ(Launch(Shuffles, {nullptr, nullptr, seen.data(), 0}, kPkKernelBarriers, 1, 40), 0);
  const std::vector<int64_t> numbers = seen.Read();
  EXPECT_EQ(numbers[0], int64_t{1} << 40);
  EXPECT_EQ(numbers[31], 0);  // Around to the warp's first.
  EXPECT_EQ(numbers[38], int64_t{39} << 40 | 32);
  EXPECT_EQ(numbers[39], int64_t{39} << 40 | 32);  // There is no lane 8.
}

TEST_F(EmulatedDeviceDeath, SharedMemoryBeginsWithPoison) {
  const auto keep_first = [](PkThread* thread, const void* captures) {
    if (thread->thread == 0) Of(captures).numbers[thread->block] = *SharedOf(thread);
    *SharedOf(thread) = 5;
  };
  Run(keep_first, 1, 0, 8);
  EXPECT_EQ(numbers_.Read()[0], -1);
  EXPECT_EQ(numbers_.Read()[1], -1);
}

TEST_F(EmulatedDeviceDeath, BarriersNotReachedByAll) {
  const auto some_wait = [](PkThread* thread, const void*) {
    if (thread->thread != 1) pk_thread_barrier(thread);
  };
  EXPECT_DEATH(Run(some_wait, 3, kPkKernelBarriers),
               "thread 2: waits at a barrier that other threads of the block did not come to");
  EXPECT_DEATH(Run(some_wait, 1), "waits at a barrier, in a kernel that is said to have none");
}

TEST_F(EmulatedDeviceDeath, AnErrorThatWasNotAnnounced) {
  EXPECT_DEATH(Run(FailBackwards, 1), "fails, in a kernel that is said not to");
}

TEST_F(EmulatedDeviceDeath, AStackThatIsTooSmall) {
  static constexpr size_t kBytes = FibreStacks::kBytes + 4 * 1024;
  const auto overflow = [](PkThread* thread, const void*) {
    volatile char* below = static_cast<char*>(__builtin_frame_address(0)) - kBytes;
    for (int i = 0; i < 8 * 1024; ++i) below[i] = 1;
    pk_thread_barrier(thread);
  };
  EXPECT_DEATH(Run(overflow, 2, kPkKernelBarriers), "its frames are too large for its stack");
}

}  // namespace
}  // namespace parakeet::runtime
