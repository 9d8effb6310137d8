// Which inequalities contradict one another, and which only would if sums could not wrap around.
#include "passes/analyses/inequalities.h"

#include <gtest/gtest.h>

namespace parakeet::passes {
namespace {

constexpr double kSmall = 281474976710656.0;     // 2^48
constexpr double kHalf = 9223372036854775808.0;  // 2^63
constexpr int64_t kLarge = int64_t{1} << 50;

// x < q, y < q and 2 * q <= n, where x + y is what is given more than n.
Inequalities Mirrored(int64_t more, double most) {
  Inequalities system;
  system.IsNotNegative({{-1, 0, 1, 0}, -1, most});
  system.IsNotNegative({{0, -1, 1, 0}, -1, most});
  system.IsNotNegative({{0, 0, -2, 1}, 0, most});
  system.IsZero({{1, 1, 0, -1}, -more, 0.0});
  return system;
}

TEST(InequalitiesTest, SumsThatAreNegativeContradict) {
  EXPECT_TRUE(Mirrored(-1, kSmall).Contradict());
  EXPECT_FALSE(Mirrored(-2, kSmall).Contradict());
}

TEST(InequalitiesTest, SumsThatMayWrapAroundDoNot) {
  EXPECT_TRUE(Mirrored(-1, kHalf / 4).Contradict());
  EXPECT_FALSE(Mirrored(-1, kHalf).Contradict());
}

TEST(InequalitiesTest, WhatIsTooLargeSaysNothing) {
  Inequalities system;
  system.IsNotNegative({{1}, -kLarge, kSmall});
  system.IsNotNegative({{-1}, 0, kSmall});
  EXPECT_FALSE(system.Contradict());
  system.IsNotNegative({{1}, -1, kSmall});
  EXPECT_TRUE(system.Contradict());
}

TEST(InequalitiesTest, NoValuesAtAll) {
  EXPECT_FALSE(Inequalities().Contradict());
  Inequalities zero;
  zero.IsZero({{}, 4, 0.0});
  EXPECT_TRUE(zero.Contradict());
}

}  // namespace
}  // namespace parakeet::passes
