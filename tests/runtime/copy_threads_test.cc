#include "runtime/copy_threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace parakeet::runtime {
namespace {

TEST(CopyThreadsTest, EachTaskRunsOnceBeforeRunReturns) {
  CopyThreads threads;
  for (const size_t count : {1, 4, 2, 8, 1, 8, 3}) {
    std::vector<int> runs(count);
    threads.Run(count, [&](size_t number) { ++runs[number]; });
    EXPECT_EQ(runs, std::vector<int>(count, 1));
  }
}

TEST(CopyThreadsTest, TasksRunAtTheSameTime) {
  CopyThreads threads;
  std::latch all_here(3);
  threads.Run(3, [&](size_t) { all_here.arrive_and_wait(); });
}

TEST(CopyThreadsTest, AThreadThatHadNoPartInARunHasOneInTheNext) {
  CopyThreads threads;
  std::atomic<int64_t> sum = 0;
  for (int i = 0; i < 1000; ++i) {
    threads.Run(i % 5 + 1, [&](size_t number) { sum += int64_t(number) + 1; });
  }
  EXPECT_EQ(sum, 200 * (1 + 3 + 6 + 10 + 15));
}

TEST(CopyThreadsTest, ThreadsMayBeLeftAsTheyWait) {
  for (int i = 0; i < 50; ++i) {
    CopyThreads threads;
    threads.Run(4, [](size_t) {});
  }
}

}  // namespace
}  // namespace parakeet::runtime
