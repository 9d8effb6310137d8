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

const void* FindKernel(const char* name) {
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
    SetSortKernels(FindKernel);
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
std::vector<double> Numbers(int64_t count, unsigned seed) {
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
    const std::vector<double> numbers = Numbers(size, unsigned(size));
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
  const std::vector<double> numbers = Numbers(100000, 1);
  for (const auto& [team, parts] : {std::pair{1, 1}, {2, 2}, {4, 4}, {16, 6}}) {
    kernel_calls = 0;
    SortedBy("sort_f64", team, numbers);
    EXPECT_EQ(kernel_calls, parts) << team;
  }
}

TEST_F(ParallelSort, ATeamAtWorkSortsWithOneThread) {
  kernel_calls = 0;
  RunOnTeam(2, 2,
            [](int64_t number) { SortedBy("sort_f64", 4, Numbers(100000, unsigned(number))); });
  EXPECT_EQ(kernel_calls, 2);
}

TEST_F(ParallelSort, TheStatusOfOnePartIsThatOfAll) {
  for (const int64_t failing : {int64_t{-1}, int64_t{49999}, int64_t{99999}}) {
    std::vector<int16_t> numbers(100000, 0);
    if (failing >= 0) numbers[size_t(failing)] = 1;
    Call call(2);
    const uint64_t operands[] = {AddressOf(numbers.data()), numbers.size()};
    EXPECT_EQ(pk_library_call(&call, RoutineOf("sort_i16"), "ST", operands), failing < 0 ? 0 : -1);
  }
}

}  // namespace
}  // namespace parakeet::runtime
