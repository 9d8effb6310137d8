#include "runtime/trip_costs.h"

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/call.h"
#include "runtime/openmp_calls.h"
#include "runtime/openmp_library.h"
#include "tests/runtime/parallel_region.h"

namespace parakeet::runtime {
namespace {

PkForkBody BodyAt(uintptr_t address) { return reinterpret_cast<PkForkBody>(address); }

TEST(TripCosts, AreOfTheLoopThatTookThem) {
  TripCosts costs;
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 10), 0);
  costs.Note(BodyAt(0x1000), 10, 5'000);
  costs.Note(BodyAt(0x2000), 100, 3);
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 12), 500);
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 100), 0);  // Many trips may be others than few.
  EXPECT_EQ(costs.Of(BodyAt(0x2000), 100), 1);  // 0 would be a loop that nobody has seen.
  EXPECT_EQ(costs.Of(BodyAt(0x3000), 10), 0);
}

TEST(TripCosts, FallAtOnceAndRiseSlowly) {
  TripCosts costs;
  costs.Note(BodyAt(0x1000), 2, 2'000);
  costs.Note(BodyAt(0x1000), 2, 18'000);
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 2), 3'000);
  costs.Note(BodyAt(0x1000), 2, 800);
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 2), 400);
  for (int i = 0; i < 50; ++i) costs.Note(BodyAt(0x1000), 2, 804);
  EXPECT_EQ(costs.Of(BodyAt(0x1000), 2), 402);
}

TEST(TripCosts, OfMoreLoopsThanThereIsRoomForAreThoseOfTheLast) {
  TripCosts costs;
  for (uintptr_t k = 1; k <= 5'000; ++k) {
    costs.Note(BodyAt(16 * k), 2, 200 + 2 * k);
    EXPECT_EQ(costs.Of(BodyAt(16 * k), 2), 100 + k);
  }
}

TEST(TripCosts, AreAskedForAtFirstAndNowAndThen) {
  TripCosts costs;
  EXPECT_TRUE(costs.IsDue(BodyAt(0x1000), 2));
  EXPECT_TRUE(costs.IsDue(BodyAt(0x1000), 2));  // Nobody has told.
  costs.Note(BodyAt(0x1000), 2, 1);
  int due = 0;
  for (int i = 0; i < 64; ++i) due += costs.IsDue(BodyAt(0x1000), 2);
  EXPECT_EQ(due, 4);
}

void SeeTeam(PkCall* /*call*/, void* captures, int64_t /*begin*/, int64_t /*end*/) {
  if (OpenMpCalls::Bound().IsInParallel()) *static_cast<std::atomic<bool>*>(captures) = true;
}

TEST(TripCosts, DecideWhetherALoopForksWhoseCostIsAGuess) {
  if (TestOpenMpPath().empty()) GTEST_SKIP() << "skipped: no libomp on this machine";
  SetOpenMpPath(TestOpenMpPath());
  ASSERT_EQ(BindOpenMp(), "");
  Call call(2);
  const auto forks = [&](int64_t took, int64_t guess, int32_t how) {
    TripCosts& costs = TripCosts::OfProcess();
    for (int i = 0; i < 100; ++i) costs.Note(SeeTeam, 64, 64 * took);
    std::atomic<bool> has_forked{false};
    pk_fork(&call, SeeTeam, &has_forked, 64, guess, how);
    return has_forked.load();
  };
  EXPECT_FALSE(forks(1, 100'000, 0));
  EXPECT_FALSE(forks(1, 0, 0));
  EXPECT_TRUE(forks(100'000, 1, 0));
  EXPECT_FALSE(forks(1, 100'000, kPkForkEven));  // far from what it took
  EXPECT_FALSE(forks(100'000, 1, kPkForkEven));  // which may be others' work
  EXPECT_TRUE(forks(50'000, 100'000, kPkForkEven));
}

}  // namespace
}  // namespace parakeet::runtime
