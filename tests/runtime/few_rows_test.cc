#include "runtime/few_rows.h"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

namespace parakeet::runtime {
namespace {

template <typename T>
uint64_t Address(std::vector<T>& values) {
  return reinterpret_cast<uint64_t>(values.data());
}

// Of n rows, by columns, each an element longer than the matrix.
template <typename T>
struct System {
  int64_t n;
  std::vector<T> a;
  std::vector<T> b;
  std::vector<int64_t> pivots = std::vector<int64_t>(n, 0);

  System(int64_t rows, int64_t columns)
      : n(rows), a(n * (n + 1), T(99)), b(columns * (n + 1), T(99)) {}

  std::optional<int64_t> Solve(const char* routine) {
    const uint64_t operands[] = {uint64_t(n),     b.size() / (n + 1), Address(a),  a.size(),
                                 uint64_t(n + 1), Address(pivots),    uint64_t(n), Address(b),
                                 b.size(),        uint64_t(n + 1)};
    return FewRowsKernelNamed(routine)(operands);
  }
};

template <typename T>
void SolvesWhatItIsGiven(const char* routine, double tolerance) {
  for (int64_t n = 0; n <= kFewRows; ++n) {
    System<T> system(n, 2);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j)
        system.a[i + j * (n + 1)] = T((7 * i + 3 * j * j + i * j) % 11) + T(i == n - 1 - j ? 9 : 0);
      for (int64_t j = 0; j < 2; ++j) system.b[i + j * (n + 1)] = T(i - 2 * j);
    }
    const System<T> given = system;
    ASSERT_EQ(system.Solve(routine), 0);
    for (int64_t column = 0; column < 2; ++column) {
      for (int64_t i = 0; i < n; ++i) {
        T sum(0);
        for (int64_t j = 0; j < n; ++j)
          sum += given.a[i + j * (n + 1)] * system.b[j + column * (n + 1)];
        EXPECT_NEAR(std::abs(sum - given.b[i + column * (n + 1)]), 0, tolerance);
      }
      EXPECT_EQ(system.b[n + column * (n + 1)], T(99));
    }
  }
}

TEST(FewRows, SolvesEquationsOfEachDtype) {
  SolvesWhatItIsGiven<float>("sgesv", 1e-3);
  SolvesWhatItIsGiven<double>("dgesv", 1e-10);
  SolvesWhatItIsGiven<std::complex<float>>("cgesv", 1e-3);
  SolvesWhatItIsGiven<std::complex<double>>("zgesv", 1e-10);
}

TEST(FewRows, SaysWhichPivotIsZero) {
  System<double> system(3, 1);
  const double rows[3][3] = {{4, 2, 8}, {2, 1, 4}, {8, 4, 1}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) system.a[i + 4 * j] = rows[i][j];
  }
  EXPECT_EQ(system.Solve("dgesv"), 2);
}

TEST(FewRows, FactorsInTheOrderOfItsPivots) {
  std::vector<double> a = {1, 4, 2, 3};
  std::vector<int64_t> pivots(2);
  const uint64_t operands[] = {2, 2, Address(a), 4, 2, Address(pivots), 2};
  EXPECT_EQ(FewRowsKernelNamed("dgetrf")(operands), 0);
  EXPECT_EQ(pivots, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(a, (std::vector<double>{4, 0.25, 3, 1.25}));
}

TEST(FewRows, DividesByNumbersWithoutAnInverse) {
  System<double> system(1, 1);
  system.a[0] = system.b[0] = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(system.Solve("dgesv"), 0);
  EXPECT_EQ(system.b[0], 1);
}

TEST(FewRows, LeavesMoreRowsAndWhatIsNotFiniteToLapack) {
  System<double> system(kFewRows + 1, 1);
  EXPECT_EQ(system.Solve("dgesv"), std::nullopt);
  System<std::complex<double>> infinite(1, 1);
  infinite.a[0] = {0, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(infinite.Solve("zgesv"), std::nullopt);
  EXPECT_EQ(FewRowsKernelNamed("dpotrf"), nullptr);
}

TEST(FewRows, StandsInForTheRoutineOfThatName) {
  static const int routine = 0;
  EXPECT_EQ(FewRowsKernelFor(&routine), nullptr);
  StandInForRoutine("zgetrf", &routine);
  EXPECT_EQ(FewRowsKernelFor(&routine), FewRowsKernelNamed("zgetrf"));
  StandInForRoutine("zgetrf", nullptr);
}

}  // namespace
}  // namespace parakeet::runtime
