#include "runtime/team.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>

#include <thread>
#include <vector>

#include "runtime/buffers.h"
#include "runtime/call.h"
#include "runtime/fork.h"
#include "runtime/image.h"
#include "tests/runtime/image_bytes.h"
#include "tests/runtime/parallel_region.h"

#if defined(__SANITIZE_ADDRESS__)
// The leak checker crashes while it looks through the workers that sleep inside libomp at the end
// of the process; leaks of ours are found by the pool's counters.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace parakeet::runtime {
namespace {

class Team : public testing::Test {
 protected:
  void SetUp() override {
    if (TestOpenMpPath().empty()) GTEST_SKIP() << "skipped: no libomp on this machine";
    SetOpenMpPath(TestOpenMpPath());
    ASSERT_EQ(BindOpenMp(), "");
  }
};

TEST_F(Team, HasTheSizeOfEachRegion) {
  for (int32_t team : {1, 2, 3, 1, 4}) EXPECT_TRUE(RegionWorks(team)) << team;
}

TEST_F(Team, ServesSeveralThreadsAtOnce) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int32_t team : {2, 3}) {
    callers.emplace_back([&wrong, team] {
      for (int i = 0; i < 200; ++i) wrong += !RegionWorks(team);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// Forks, runs regions in the child and returns its exit status: 0 when all worked.
int RunInChild() {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    bool works = true;
    for (int i = 0; i < 5; ++i) works = works && RegionWorks(2) && RegionWorks(3);
    _exit(works ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(Team, WorksInAForkedChildAndStillInTheParent) {
  ASSERT_TRUE(RegionWorks(2));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(RunInChild(), 0);
    EXPECT_TRUE(RegionWorks(2));
  }
}

TEST_F(Team, WorksInAChildForkedByAnotherThread) {
  ASSERT_TRUE(RegionWorks(2));
  int status = -1;
  std::thread([&status] { status = RunInChild(); }).join();
  EXPECT_EQ(status, 0);
}

// Each thread of a region allocates and fails at its own place.
void FailingBody(int32_t* /*global*/, int32_t* number, PkCall* call) {
  for (int64_t i = 20; i >= 0; --i) {
    const int64_t place[] = {1, 10 * *number + i};
    const int64_t scalar = *number;
    pk_fail(call, 4, 2, place, 1, &scalar);
    void* buffer = pk_alloc(call, 1000);
    if (i % 2 == 0) pk_free(call, buffer);
  }
}

TEST_F(Team, SharesOneCall) {
  using Body = void (*)(int32_t*, int32_t*, PkCall*);
  using ForkCall = void (*)(Location*, int32_t, Body, ...);
  const int64_t live = ReadBufferCounters().live_buffers;
  {
    Call call(3);
    Location location;
    const void* fork_call = Table()->symbol("__kmpc_fork_call");
    reinterpret_cast<ForkCall>(const_cast<void*>(fork_call))(&location, 1, FailingBody, &call);
    EXPECT_EQ(call.failed, 1);
    EXPECT_EQ(call.error().place, (std::vector<int64_t>{1, 0}));
    EXPECT_EQ(call.error().scalars, std::vector<int64_t>{0});
  }
  EXPECT_EQ(ReadBufferCounters().live_buffers, live);
}

// Counts each trip; captures point to counts.
void CountTrips(PkCall* /*call*/, void* captures, int64_t begin, int64_t end) {
  auto* const counts = static_cast<std::atomic<int>*>(captures);
  for (int64_t i = begin; i < end; ++i) ++counts[i];
}

TEST_F(Team, RegionsRunEachTripOnce) {
  Call call(3);
  const auto block_time = reinterpret_cast<int (*)()>(OpenMpSymbol("kmp_get_blocktime"));
  const int before = block_time();
  for (const bool yields : {false, true}) {
    for (const bool is_dynamic : {false, true}) {
      for (const int64_t trips : {1, 2, 3, 7, 100, 1001}) {
        for (const int64_t pieces : {1, 3, 48}) {
          std::vector<std::atomic<int>> counts(trips + 1);
          const Shares shares{std::min(trips, pieces), is_dynamic};
          RunShared(&call, CountTrips, counts.data(), trips, shares, 3, yields);
          for (int64_t i = 0; i < trips; ++i) EXPECT_EQ(counts[i], 1) << trips << " " << pieces;
          EXPECT_EQ(counts[trips], 0);
        }
      }
    }
  }
  EXPECT_EQ(block_time(), before);
}

TEST_F(Team, AForkRunsEachTripOnce) {
  for (const int32_t team : {1, 3}) {
    Call call(team);
    for (const int64_t cost : {0, 1, 30'000, 1'000'000}) {
      for (const int64_t trips : {0, 1, 2, 100}) {
        std::vector<std::atomic<int>> counts(trips + 1);
        pk_fork(&call, CountTrips, counts.data(), trips, cost, kPkForkEven);
        for (int64_t i = 0; i < trips; ++i) EXPECT_EQ(counts[i], 1) << trips << " " << cost;
        EXPECT_EQ(counts[trips], 0);
      }
    }
  }
}

TEST(Shares, AreOfLoopsThatAreWorthAFork) {
  const auto pieces_of = [](int64_t trips, int64_t cost, int32_t team, int32_t how) {
    return SharesOf(trips, cost, team, how).pieces;
  };
  EXPECT_EQ(pieces_of(1'000'000, 1'000, 1, 0), 0);  // nobody to share with
  EXPECT_EQ(pieces_of(1, 0, 16, 0), 0);
  EXPECT_EQ(pieces_of(40'000, 1, 2, 0), 0);
  EXPECT_EQ(pieces_of(40'004, 1, 2, 0), 2);
  EXPECT_EQ(pieces_of(40'004, 1, 2, kPkForkYields), 0);  // who sleeps has to be woken
  EXPECT_EQ(pieces_of(51'000, 1, 16, 0), 0);
  EXPECT_EQ(pieces_of(52'000, 1, 16, 0), 16);
}

TEST(Shares, AreSeveralAThreadWhereTripsAreDearOrUnknown) {
  EXPECT_EQ(SharesOf(1'000, 0, 4, 0).pieces, 64);
  EXPECT_TRUE(SharesOf(1'000, 0, 4, 0).is_dynamic);
  EXPECT_EQ(SharesOf(20, 0, 4, 0).pieces, 20);
  EXPECT_EQ(SharesOf(1'000, 10'000, 4, 0).pieces, 64);
  EXPECT_TRUE(SharesOf(1'000, 10'000, 4, 0).is_dynamic);
  EXPECT_EQ(SharesOf(100, 1'000, 2, 0).pieces, 16);
  EXPECT_TRUE(SharesOf(100, 1'000, 2, 0).is_dynamic);
  // Few threads whose trips are even keep what they had; more take what comes.
  EXPECT_EQ(SharesOf(200, 10'000, 4, kPkForkEven).pieces, 4);
  EXPECT_FALSE(SharesOf(200, 10'000, 4, kPkForkEven).is_dynamic);
  EXPECT_EQ(SharesOf(400, 10'000, 16, kPkForkEven).pieces, 133);
  EXPECT_TRUE(SharesOf(400, 10'000, 16, kPkForkEven).is_dynamic);
}

// An image that runs a region of its own: each thread adds 1 to the int32 that args[0] points to.
// Its location is a run of slots, as the linker makes of constants that hold pointers.
ImageParts RegionParts() {
  constexpr size_t kTextSize = 64;
  ImageParts parts;
  parts.AddImport("__kmpc_fork_call");
  parts.slots.push_back({kPkSlotInternal, 0, 48});                 // the body
  parts.slots.push_back({kPkSlotLiteral, 0, uint64_t{2} << 32});   // location: flags
  parts.slots.push_back({kPkSlotLiteral, 0, uint64_t{22} << 32});  //
  parts.slots.push_back({kPkSlotInternal, 0, 56});                 // location: its string
  parts.text =
      "\x51"           // push rcx
      "\x48\x8b\x0e"   // mov rcx, [rsi]
      "\x48\x8d\x3d";  // lea rdi, [rip + slot 2]
  AppendSlotDisplacement(&parts.text, kTextSize, 2);
  parts.text += "\xbe\x01";  // mov esi, 1
  parts.text.append(3, '\0');
  parts.text += "\x48\x8b\x15";  // mov rdx, [rip + slot 1]
  AppendSlotDisplacement(&parts.text, kTextSize, 1);
  parts.text.append("\x31\xc0", 2);  // xor eax, eax
  parts.text += "\xff\x15";          // call [rip + slot 0]
  AppendSlotDisplacement(&parts.text, kTextSize, 0);
  parts.text += "\x59\x31\xc0\xc3";  // pop rcx; xor eax, eax; ret
  parts.text.resize(48, '\xcc');
  parts.text += "\xf0\xff\x02\xc3";  // body: lock inc dword [rdx]; ret
  parts.text.resize(56, '\xcc');
  parts.text += ";a;b;;;";
  parts.text.resize(kTextSize, '\0');
  return parts;
}

TEST_F(Team, RunsARegionOfAnImage) {
  std::string error;
  const std::string bytes = Pack(RegionParts());
  const auto image = LoadImage(bytes.data(), bytes.size(), &error);
  ASSERT_NE(image, nullptr) << error;
  Call call(1);
  int32_t threads = 0;
  const uint64_t args[] = {reinterpret_cast<uint64_t>(&threads)};
  EXPECT_EQ(image->entry()(&call, args, nullptr), 0);
  EXPECT_GE(threads, 1);
}

TEST(ThreadCount, CanBeSetInItsRange) {
  const int32_t before = ThreadCount();
  EXPECT_GE(before, 1);
  EXPECT_TRUE(SetThreadCount(3));
  EXPECT_EQ(ThreadCount(), 3);
  EXPECT_FALSE(SetThreadCount(0));
  EXPECT_FALSE(SetThreadCount(-2));
  EXPECT_FALSE(SetThreadCount(kMaxThreads + 1));
  EXPECT_EQ(ThreadCount(), 3);
  EXPECT_TRUE(SetThreadCount(before));
}

void ExitWithThreadCount(const char* variable, int cores) {
  variable == nullptr ? unsetenv("PARAKEET_NUM_THREADS")
                      : setenv("PARAKEET_NUM_THREADS", variable, 1);
  if (cores == 1) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  std::fprintf(stderr, "%s", ThreadCountProblem().c_str());
  _exit(ThreadCount());
}

class ThreadCountDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(ThreadCountDeathTest, ComesFromTheEnvironment) {
  EXPECT_EXIT(ExitWithThreadCount("7", 0), testing::ExitedWithCode(7), "^$");
}

TEST_F(ThreadCountDeathTest, ElseFromTheCoresOfThisProcess) {
  EXPECT_EXIT(ExitWithThreadCount(nullptr, 1), testing::ExitedWithCode(1), "^$");
}

TEST_F(ThreadCountDeathTest, ABadNumberIsReportedAndNotUsed) {
  EXPECT_EXIT(ExitWithThreadCount("many", 1), testing::ExitedWithCode(1),
              "PARAKEET_NUM_THREADS is 'many'; expected a number from 1 to 1024");
  EXPECT_EXIT(ExitWithThreadCount("0", 1), testing::ExitedWithCode(1), "is '0'");
  EXPECT_EXIT(ExitWithThreadCount("2x", 1), testing::ExitedWithCode(1), "is '2x'");
}

}  // namespace
}  // namespace parakeet::runtime
