// Sorting on several threads: the same bits as on one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/abi.h"
#include "runtime/buffers.h"
#include "runtime/call.h"
#include "runtime/count_sort.h"
#include "runtime/openmp_library.h"
#include "runtime/run_on_team.h"
#include "runtime/sort_kernels.h"
#include "tests/runtime/parallel_region.h"

namespace parakeet::runtime {
namespace {

std::atomic<int> kernel_calls{0};

bool IsLess(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

// As NumPy's vectorised kernels, it does as it likes with equal elements: here, backwards.
int SortBackwards(void* data, int64_t count, void*) {
  ++kernel_calls;
  auto* numbers = static_cast<double*>(data);
  std::reverse(numbers, numbers + count);
  std::stable_sort(numbers, numbers + count, IsLess);
  return 0;
}

int StableSort(void* data, int64_t count, void*) {
  auto* numbers = static_cast<double*>(data);
  std::stable_sort(numbers, numbers + count, IsLess);
  return 0;
}

int ArgSort(void* data, int64_t* places, int64_t count, void*) {
  const auto* numbers = static_cast<const double*>(data);
  std::stable_sort(places, places + count,
                   [&](int64_t a, int64_t b) { return IsLess(numbers[a], numbers[b]); });
  return 0;
}

int FailAtLast(void* data, int64_t count, void*) {
  return static_cast<int16_t*>(data)[count - 1] == 1 ? -1 : 0;
}

const void* FindSort(const char* name) {
  const std::string text = name;
  if (text == "sort_f64") return reinterpret_cast<const void*>(&SortBackwards);
  if (text == "stable_sort_f64") return reinterpret_cast<const void*>(&StableSort);
  if (text == "argsort_f64") return reinterpret_cast<const void*>(&ArgSort);
  if (text == "sort_i16") return reinterpret_cast<const void*>(&FailAtLast);
  return nullptr;
}

class ParallelSort : public testing::Test {
 protected:
  void SetUp() override {
    SetOpenMpPath(TestOpenMpPath());
    if (const std::string why = BindOpenMp(); !why.empty()) GTEST_SKIP() << why;
    SetSortKernels(FindSort);
    live_buffers_ = ReadBufferCounters().live_buffers;
  }
  void TearDown() override { EXPECT_EQ(ReadBufferCounters().live_buffers, live_buffers_); }

  int64_t live_buffers_ = 0;
};

const void* RoutineOf(const char* name) {
  std::string error;
  return FindSortRoutine(name, &error);
}

uint64_t AddressOf(const void* data) { return reinterpret_cast<uint64_t>(data); }

// Few values, so that many are equal; zeros of both signs, infinities, and nans told apart by bits.
std::vector<double> RandomDoubles(int64_t count, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> numbers(static_cast<size_t>(count));
  for (double& number : numbers) {
    number = double(random() % 64) - 32;
    const uint64_t kind = random() % 64;
    if (kind == 0) number = -0.0;
    if (kind == 1) number = std::bit_cast<double>(0x7ff8000000000000u + random() % 16);
    if (kind == 2) number = -std::numeric_limits<double>::infinity();
    if (kind > 32) number = std::ldexp(double(random()), -60);
  }
  return numbers;
}

bool AreSameBits(const std::vector<double>& a, const std::vector<double>& b) {
  const auto are_same = [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), are_same);
}

std::vector<double> SortedBy(const char* name, int32_t team, std::vector<double> numbers) {
  Call call(team);
  const uint64_t operands[] = {AddressOf(numbers.data()), numbers.size()};
  EXPECT_EQ(pk_library_call(&call, RoutineOf(name), "ST", operands), 0);
  return numbers;
}

std::vector<int64_t> OrderBy(int32_t team, std::vector<double> numbers) {
  Call call(team);
  std::vector<int64_t> places(numbers.size());
  std::iota(places.begin(), places.end(), 0);
  const uint64_t operands[] = {AddressOf(numbers.data()), numbers.size(), AddressOf(places.data()),
                               places.size()};
  EXPECT_EQ(pk_library_call(&call, RoutineOf("argsort_f64"), "StK", operands), 0);
  return places;
}

constexpr int64_t kSizes[] = {0, 1, 2, 1000, 32767, 32768, 32769, 65536, 100003, 262144};
constexpr int32_t kTeams[] = {2, 3, 4, 5, 7, 8, 16};

TEST_F(ParallelSort, NoBitDependsOnTheTeam) {
  for (const int64_t size : kSizes) {
    const std::vector<double> numbers = RandomDoubles(size, unsigned(size));
    std::vector<double> without_nan = numbers;
    std::erase_if(without_nan, [](double number) { return std::isnan(number); });
    for (const int32_t team : kTeams) {
      EXPECT_TRUE(AreSameBits(SortedBy("sort_f64", team, without_nan),
                              SortedBy("sort_f64", 1, without_nan)))
          << size << " " << team;
      EXPECT_TRUE(AreSameBits(SortedBy("stable_sort_f64", team, numbers),
                              SortedBy("stable_sort_f64", 1, numbers)))
          << size << " " << team;
      EXPECT_EQ(OrderBy(team, numbers), OrderBy(1, numbers)) << size << " " << team;
    }
  }
}

TEST_F(ParallelSort, SortsWhatIsSortedAlreadyAndBackwards) {
  std::vector<double> rising(100000);
  std::iota(rising.begin(), rising.end(), -50000.0);
  std::vector<double> falling(rising.rbegin(), rising.rend());
  for (const int32_t team : kTeams) {
    EXPECT_EQ(SortedBy("sort_f64", team, rising), rising);
    EXPECT_EQ(SortedBy("sort_f64", team, falling), rising);
  }
}

TEST_F(ParallelSort, NegativeZerosComeFirst) {
  const std::vector<double> sorted = SortedBy("sort_f64", 1, {0.0, -0.0, 1.0, 0.0, -0.0, -1.0});
  EXPECT_TRUE(AreSameBits(sorted, {-1.0, -0.0, -0.0, 0.0, 0.0, 1.0}));
}

TEST_F(ParallelSort, EachThreadHasAPart) {
  const std::vector<double> numbers = RandomDoubles(100000, 1);
  for (const auto& [team, parts] : {std::pair{1, 1}, {2, 2}, {4, 4}, {16, 6}}) {
    kernel_calls = 0;
    SortedBy("sort_f64", team, numbers);
    EXPECT_EQ(kernel_calls, parts) << team;
  }
}

TEST_F(ParallelSort, ATeamAtWorkSortsWithOneThread) {
  kernel_calls = 0;
  RunOnTeam(2, 2, [](int64_t number) {
    SortedBy("sort_f64", 4, RandomDoubles(100000, unsigned(number)));
  });
  EXPECT_EQ(kernel_calls, 2);
}

TEST_F(ParallelSort, TheStatusOfOnePartIsThatOfAll) {
  for (const int64_t failing : {int64_t{-1}, int64_t{49999}, int64_t{99999}}) {
    std::vector<int16_t> numbers(100000, 0);
    // Too far apart to be counted.
    numbers[0] = -30000;
    numbers[2] = 30000;
    if (failing >= 0) numbers[size_t(failing)] = 1;
    Call call(2);
    const uint64_t operands[] = {AddressOf(numbers.data()), numbers.size()};
    EXPECT_EQ(pk_library_call(&call, RoutineOf("sort_i16"), "ST", operands), failing < 0 ? 0 : -1);
  }
}

// An order of equal integers tells whether each is where it stood, and their range is what is
// counted: just below the most, and beyond.
TEST_F(ParallelSort, IntegersThatLieCloseTogetherAreCounted) {
  std::mt19937_64 random(7);
  for (const int64_t apart : {0, 1, 255, 20000, 30000, 200000}) {
    for (const int64_t least : {std::numeric_limits<int64_t>::min(), int64_t{-3},
                                std::numeric_limits<int64_t>::max() - apart}) {
      std::vector<int64_t> numbers(100000), places(numbers.size());
      for (int64_t& number : numbers) number = least + int64_t(random() % uint64_t(apart + 1));
      std::vector<int64_t> expected(numbers.size());
      std::iota(expected.begin(), expected.end(), 0);
      std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
        return numbers[size_t(a)] < numbers[size_t(b)];
      });
      if (ArgSortByCounting(numbers.data(), places.data(), int64_t(numbers.size()))) {
        EXPECT_EQ(places, expected);
      }
      std::vector<int64_t> sorted = numbers;
      const bool is_counted = SortByCounting(sorted.data(), int64_t(sorted.size()));
      EXPECT_EQ(is_counted, apart < 25000);
      if (is_counted) {
        EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
      }
    }
  }
}

TEST_F(ParallelSort, SelectionHasTheBitsOfOneThread) {
  for (const int64_t size : {1, 191, 5000, 100003}) {
    const std::vector<double> numbers = RandomDoubles(size, unsigned(size));
    const std::vector<double> sorted = SortedBy("sort_f64", 1, numbers);
    const std::vector<int64_t> places = {size / 3, size - 1, 0, size / 2};
    std::vector<double> alone(numbers.size());
    for (const int32_t team : {1, 2, 5, 16}) {
      Call call(team);
      std::vector<double> values(places.size()), made(numbers.size());
      std::vector<int64_t> order(numbers.size());
      const auto run = [&](const char* name, const void* result, size_t count) {
        const uint64_t operands[] = {AddressOf(numbers.data()), numbers.size(),
                                     AddressOf(places.data()),  places.size(),
                                     AddressOf(result),         count};
        return pk_library_call(&call, RoutineOf(name), "StkT", operands);
      };
      const auto nans = std::count_if(numbers.begin(), numbers.end(),
                                      [](double number) { return std::isnan(number); });
      EXPECT_EQ(run("select_f64", values.data(), values.size()), nans);
      EXPECT_EQ(run("partition_f64", made.data(), made.size()), 0);
      EXPECT_EQ(run("argpartition_f64", order.data(), order.size()), 0);
      for (size_t k = 0; k < places.size(); ++k) {
        const auto place = size_t(places[k]);
        const auto is_there = [&](double value) {
          return value == sorted[place] || (std::isnan(value) && std::isnan(sorted[place]));
        };
        EXPECT_TRUE(is_there(values[k]) && is_there(made[place]));
        EXPECT_TRUE(is_there(numbers[size_t(order[place])]));
      }
      if (team == 1) alone = made;
      EXPECT_TRUE(AreSameBits(made, alone)) << size << " " << team;
    }
  }
}

}  // namespace
}  // namespace parakeet::runtime
