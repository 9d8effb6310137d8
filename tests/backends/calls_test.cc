// Calls that stay calls: recursion, with numbers and arrays both ways, and its errors.
#include <gtest/gtest.h>

#include "runtime/abi.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::I64;
using ir::I64Array;

TEST(Calls, TheEntryCallsItself) {
  constexpr std::string_view kText = R"ir(
fn @f(%n: i64) -> i64 entry {
  %small: bool = lt %n, 2
  %r: i64 = if %small { yield %n } else {
    %a: i64 = sub %n, 1  %b: i64 = sub %n, 2
    %x: i64 = call @f(%a)  %y: i64 = call @f(%b)
    %z: i64 = add %x, %y  yield %z }
  return %r })ir";
  for (int n : {0, 1, 15}) ExpectAgreement(kText, {I64(n)});
}

TEST(Calls, NumbersOfEveryKindGoBothWays) {
  ExpectAgreement(R"ir(
fn @f(%z: c64, %b: bool, %h: f16, %k: u8, %w: c128) -> (c64, bool, f16, u8, c128) entry {
  %z2: c64, %b2: bool, %h2: f16, %k2: u8, %w2: c128 = call @g(%z, %b, %h, %k, %w)
  return %z2, %b2, %h2, %k2, %w2 }
fn @g(%z: c64, %b: bool, %h: f16, %k: u8, %w: c128) -> (c64, bool, f16, u8, c128) {
  %z2: c64 = mul %z, %z
  %b2: bool = not %b
  %h2: f16 = neg %h
  %k2: u8 = not %k
  %w2: c128 = sub %w, (1.0,2.0):c128
  return %z2, %b2, %h2, %k2, %w2 })ir",
                  {ir::Constant::Complex(1, 2, ir::DType::kC64), ir::Constant::Bool(true),
                   ir::Constant::Float(1.5, ir::DType::kF16),
                   ir::Constant::Int(200, ir::DType::kU8), ir::Constant::Complex(5, 6)});
}

// Roots survive the calls: the argument itself, a view of it, fresh memory.
TEST(Calls, ArraysGoBothWays) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: [n]i64 c, %y: [m]i64, %k: i64) -> (%a: i64, [a]i64, [n]i64, [2]i64, [2][1]i64) entry {
  %a: i64, %v: [a]i64, %w: [n]i64, %t: [2]i64, %q: [2][1]i64 = call @g(%x, %y, %k)
  return %a, %v, %w, %t, %q }
fn @g(%x: [n]i64, %y: [m]i64, %k: i64) -> (%a: i64, [a]i64, [n]i64, [2]i64, [2][1]i64) {
  %done: bool = le %k, 0
  %a: i64, %v: [a]i64, %w: [n]i64, %t: [2]i64, %q: [2][1]i64 = if %done {
    %two: [2]i64 = alloc (2)
    store %two[0], 40  store %two[1], 41
    %h: i64 = floordiv %m, 2
    %half: [h]i64 = view %y offset (1) strides ((2))
    %q: [2][1]i64 = view %two offset (1) strides ((-1, 0))
    yield %h, %half, %x, %two, %q
  } else {
    %e: i64 = load %x[0]  %f: i64 = add %e, %k  store %x[0], %f
    %k1: i64 = sub %k, 1
    %a: i64, %v: [a]i64, %w: [n]i64, %t: [2]i64, %q: [2][1]i64 = call @g(%x, %y, %k1)
    %z: [2]i64 = alloc (2)
    store %z[0], %k  store %z[1], %a
    %odd: i64 = and %k, 1  %is_odd: bool = cast %odd
    %u: [2]i64 = if %is_odd { yield %z } else { yield %t }
    yield %a, %v, %w, %u, %q }
  return %a, %v, %w, %t, %q })ir";
  for (int k : {0, 1, 2, 5}) {
    ExpectAgreement(kText, {Count({3}), I64Array({4}, {10, 11, 12, 13}), I64(k)});
  }
}

constexpr std::string_view kChecked = R"ir(
site 0 IndexError "index {} is out of bounds for size {}"
fn @f(%x: [n]i64 c, %y: [m]i64 c) -> [n]i64 entry {
  %r: [n]i64 = alloc (%n)
  parallel for %i in 0 to %n step 1 {
    %j: i64 = load %x[%i]
    %e: i64 = call @get(%y, %j, 3) at (4, %i)
    store %r[%i], %e }
  return %r }
fn @get(%y: [m]i64, %j: i64, %depth: i64) -> i64 {
  %ok: bool = lt %j, %m
  %deep: bool = gt %depth, 0
  %e: i64 = if %deep {
    %d: i64 = sub %depth, 1
    %e: i64 = call @get(%y, %j, %d) at (7)
    %f: i64 = call @get(%y, %j, 0)
    yield %e
  } else {
    check %ok, site 0 at (1, %j) with (%j, %m)
    %e: i64 = load %y[%j]
    yield %e }
  return %e })ir";

TEST(Calls, PlacesAreBehindTheCallers) {
  ExpectAgreement(kChecked, {I64Array({3}, {1, 0, 2}), Count({3})});
  ExpectAgreement(kChecked, {I64Array({5}, {1, 0, 7, 9, 4}), Count({3})});
  std::vector<int64_t> many(300, 1);
  many[250] = 5;
  many[30] = 6;
  ExpectAgreement(kChecked, {I64Array({300}, many), Count({3})});
}

TEST(Calls, EndlessRecursionIsAnError) {
  const CompiledProgram compiled(R"ir(
fn @f(%n: i64) -> i64 entry { %r: i64 = call @g(%n)  return %r }
fn @g(%n: i64) -> i64 {
  %m: i64 = add %n, 1
  %r: i64 = call @g(%m)
  %s: i64 = add %r, %n
  return %s })ir");
  const ir::RunResult run = compiled.Run({I64(0)});
  ASSERT_TRUE(run.error.has_value());
  EXPECT_EQ(run.error->site, kPkSiteRecursion);
  EXPECT_TRUE(compiled.Run({I64(0)}).error.has_value()) << "the depth is counted down again";
}

TEST(Calls, ParallelLoopsInCallees) {
  ExpectAgreement(R"ir(
fn @f(%x: [n]i64 c, %k: i64) -> i64 entry { call @g(%x, %k)  %e: i64 = load %x[5]  return %e }
fn @g(%x: [n]i64 c, %k: i64) {
  %go: bool = gt %k, 0
  if %go {
    parallel for %i in 0 to %n step 1 {
      %e: i64 = load %x[%i]  %f: i64 = mul %e, %k  store %x[%i], %f }
    %k1: i64 = sub %k, 1
    call @g(%x, %k1)
    yield
  } else { yield }
  return })ir",
                  {Count({100}), I64(5)});
}

}  // namespace
}  // namespace parakeet::backends
