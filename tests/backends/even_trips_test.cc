#include "backends/llvm/even_trips.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace parakeet::backends {
namespace {

// Of the loop over %i, whose body this is.
bool IsEven(const std::string& body) {
  const ir::Program program = ir::Parse(
      "fn @f(%x: [n][m]f64, %rows: [n]i64) entry {\n"
      "  parallel for %i in 0 to %n step 64 {\n" +
      body + " }\n  return }");
  return HasEvenTrips(*program.functions[0]->body->bindings[0]);
}

TEST(EvenTrips, BodiesWithoutLoops) {
  EXPECT_TRUE(IsEven("%e: f64 = load %x[%i, 0]  store %x[%i, 1], %e"));
}

TEST(EvenTrips, RowsOfABlockAndLanesOfARow) {
  EXPECT_TRUE(IsEven(R"ir(
    %next: i64 = add %i, 64  %end: i64 = min %next, %n
    for %r in %i to %end step 1 {
      %rest: i64 = mod %m, 8  %whole: i64 = sub %m, %rest
      for %j in 0 to %whole step 8 { store %x[%r, %j], 0.0 }
      for %k in %whole to %m step 1 { store %x[%r, %k], 1.0 } })ir"));
}

TEST(EvenTrips, LanesOfABlock) {
  EXPECT_TRUE(IsEven(R"ir(
    %next: i64 = add 64, %i  %end: i64 = min %n, %next
    %span: i64 = sub %end, %i  %rest: i64 = mod %span, 8  %length: i64 = sub %span, %rest
    %whole: i64 = add %i, %length
    for %r in %i to %whole step 8 { store %x[%r, 0], 0.0 }
    for %s in %whole to %end step 1 { store %x[%s, 0], 1.0 })ir"));
}

TEST(EvenTrips, WindowsThatMove) {
  EXPECT_TRUE(IsEven(R"ir(
    %before: i64 = sub %i, 3  %behind: i64 = add %i, 3
    for %r in %before to %behind step 1 { store %x[%r, 0], 0.0 })ir"));
}

TEST(EvenTrips, NotTriangles) {
  EXPECT_FALSE(IsEven("for %j in %i to %m step 1 { store %x[%i, %j], 0.0 }"));
  EXPECT_FALSE(IsEven("for %j in 0 to %i step 1 { store %x[%i, %j], 0.0 }"));
  EXPECT_FALSE(IsEven(R"ir(
    %next: i64 = add %i, 64  %end: i64 = min %next, %n
    for %r in %i to %end step 1 {
      %first: i64 = add %r, 1
      for %j in %first to %m step 1 { store %x[%r, %j], 0.0 } })ir"));
}

TEST(EvenTrips, NotWhatElementsDecide) {
  EXPECT_FALSE(IsEven(R"ir(
    %length: i64 = load %rows[%i]
    for %j in 0 to %length step 1 { store %x[%i, %j], 0.0 })ir"));
  EXPECT_FALSE(IsEven(R"ir(
    %length: i64 = load %rows[%i]  %some: bool = gt %length, 0
    if %some { for %j in 0 to %m step 1 { store %x[%i, %j], 0.0 } })ir"));
  EXPECT_FALSE(IsEven(R"ir(
    %k: i64 = while (%k.1: i64 = %i) { %more: bool = gt %k.1, 0  yield %more } do (%k.2: i64) {
      %half: i64 = floordiv %k.2, 2  yield %half })ir"));
}

}  // namespace
}  // namespace parakeet::backends
