// Parallel loops: their pieces, what they take from outside, and which error they report.
#include <gtest/gtest.h>

#include "ir/diagnostics.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::F64;
using ir::I64;
using ir::I64Array;

std::string Marking(const std::string& bounds, const std::string& cost) {
  return R"ir(
fn @f(%lo: i64, %hi: i64, %n: i64) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  for %i in 0 to %n step 1 { store %y[%i], 0 }
  parallel for %i in )ir" +
         bounds + cost + R"ir( {
    %e: i64 = load %y[%i]  %t: i64 = add %e, 1  %u: i64 = add %t, %i  store %y[%i], %u }
  return %y })ir";
}

TEST(Parallel, EveryTripRunsOnce) {
  for (const char* cost : {"", " cost 0", " cost 5000", " cost 100000"}) {
    for (const char* bounds :
         {"%lo to %hi step 1", "%hi to %lo step -1", "%lo to %hi step 7", "%hi to %lo step -4"}) {
      for (auto [lo, hi] : {std::pair{0, 100}, {3, 98}, {5, 5}, {9, 2}, {0, 1}, {1, 3}}) {
        ExpectAgreement(Marking(bounds, cost), {I64(lo), I64(hi), I64(101)});
      }
    }
  }
}

TEST(Parallel, TakesNumbersArraysAndLanesFromOutside) {
  ExpectAgreement(
      R"ir(
fn @f(%x: [h][w]f64, %z: c64, %b: bool, %k: i8, %n: i64) -> ([n]c64, [n][4]f64) entry {
  %y: [n]c64 = alloc (%n)
  %q: [n][4]f64 = alloc (%n, 4)
  %v: [w]f64 = view %x offset (1, 0) strides ((0), (1))
  %s: f64 = load %x[0, 1]
  %l: f64x4 = splat %s
  %m: boolx4 = splat %b
  %kk: f32 = cast %k
  parallel for %i in 0 to %n step 1 {
    %e: f64 = load %v[2]  %f: f32 = cast %e  %g: f32 = add %f, %kk
    %c: c64 = complex %g, %kk  %d: c64 = mul %c, %z
    store %y[%i], %d
    %j: f64 = cast %i  %jj: f64x4 = splat %j
    %p: f64x4 = add %l, %jj
    %o: f64x4 = select %m, %p, %jj
    store_lanes %q[%i, 0], %o {axis = 1} }
  return %y, %q })ir",
      {ir::F64Array({2, 3}, {1, 2.5, 3, 4, 5, 6}), ir::Constant::Complex(0.5, 2, ir::DType::kC64),
       ir::Constant::Bool(true), ir::Constant::Int(-3, ir::DType::kI8), I64(33)});
}

TEST(Parallel, LoopsInsideAreSerial) {
  ExpectAgreement(R"ir(
fn @f(%n: i64, %m: i64) -> [n][m]i64 entry {
  %y: [n][m]i64 = alloc (%n, %m)
  parallel for %i in 0 to %n step 1 {
    %row: [m]i64 = alloc (%m)
    parallel for %j in 0 to %m step 1 { %t: i64 = mul %i, %j  store %row[%j], %t }
    parallel for %j in 0 to %m step 1 {
      %e: i64 = load %row[%j]  %t: i64 = add %e, 1  store %y[%i, %j], %t }
    free %row }
  return %y })ir",
                  {I64(20), I64(30)});
}

constexpr std::string_view kFailing = R"ir(
site 0 IndexError "{} at {} of {}"
site 1 ValueError "negative: {}"
fn @f(%x: [n]i64 c, %limit: i64, %z: c128, %h: f16) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  parallel for %i in 0 to %n step 1 {
    %e: i64 = load %x[%i]
    %ok: bool = lt %e, %limit
    check %ok, site 0 at (2, %i, 0) with (%e, %z, %h)
    for %k in 0 to %e step 1 {
      %bad: bool = eq %k, 7
      %good: bool = not %bad
      check %good, site 1 at (2, %i, 1, %k) with (%i) }
    store %y[%i], %e }
  %first: i64 = load %y[0]
  %fine: bool = ge %first, 0
  check %fine, site 1 at (3) with (%first)
  store %x[0], -5
  return %y })ir";

TEST(Parallel, TheFirstFailingIterationWins) {
  const ir::RuntimeValue z = ir::Constant::Complex(1.5, -2);
  const ir::RuntimeValue h = ir::Constant::Float(0.5, ir::DType::kF16);
  std::vector<int64_t> fine(200, 3);
  ExpectAgreement(kFailing, {I64Array({200}, fine), I64(100), z, h});
  for (int64_t at : {0, 1, 77, 120, 199}) {
    for (int64_t value : {8, 100}) {
      std::vector<int64_t> bad = fine;
      for (int64_t i = at; i < 200; i += 2) bad[i] = value;
      if (at + 1 < 200) bad[at + 1] = 108 - value;
      ExpectAgreement(kFailing, {I64Array({200}, bad), I64(100), z, h});
    }
  }
  fine[0] = -2;
  ExpectAgreement(kFailing, {I64Array({200}, fine), I64(100), z, h});
}

TEST(Parallel, WhatFollowsAFailedLoopIsSkipped) {
  const CompiledProgram compiled(kFailing);
  const ir::ArrayValue x = I64Array({3}, {1, 200, 1});
  const ir::RunResult run = compiled.Run(
      {x, I64(100), ir::Constant::Complex(0, 0), ir::Constant::Float(0, ir::DType::kF16)}, 2);
  ASSERT_TRUE(run.error.has_value());
  EXPECT_EQ(Describe({{x}, std::nullopt}), "[1 200 1]");
}

TEST(Parallel, ErrorsOfInnerLoopsAndAllocationsEndTheIteration) {
  constexpr std::string_view kText = R"ir(
site 0 ValueError "{}"
fn @f(%n: i64, %bad: i64, %huge: i64) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  parallel for %i in 0 to %n step 1 {
    %is_huge: bool = eq %i, %huge
    %size: i64 = select %is_huge, -9223372036854775807, 4
    parallel for %j in 0 to %n step 1 {
      %p: i64 = mul %i, %j
      %ok: bool = ne %p, %bad
      check %ok, site 0 at (1, %i, %j) with (%p) }
    %a: [size]i64 = alloc (%size)
    store %a[1], %i
    %e: i64 = load %a[1]
    store %y[%i], %e
    free %a }
  return %y })ir";
  ExpectAgreement(kText, {I64(40), I64(-1), I64(-1)});
  for (int64_t bad : {0, 12, 36, 1521}) ExpectAgreement(kText, {I64(40), I64(bad), I64(-1)});
  const CompiledProgram compiled(kText);
  const ir::RunResult run = compiled.Run({I64(40), I64(36), I64(30)}, 3);
  ASSERT_TRUE(run.error.has_value());
  EXPECT_EQ(run.error->site, -1) << "running out of memory has the least place";
}

TEST(Parallel, SerialAndParallelImagesDifferInOpenMpOnly) {
  CompileOptions serial;
  serial.parallel = false;
  EXPECT_EQ(CompiledProgram(kFailing, serial).compiled().image.find("pk_fork"), std::string::npos);
  EXPECT_NE(CompiledProgram(kFailing).compiled().image.find("pk_fork"), std::string::npos);
}

TEST(Parallel, RefusesCarriedValues) {
  EXPECT_THROW(CompiledProgram(R"ir(
fn @f(%n: i64) -> i64 entry {
  %s: i64 = parallel for %i in 0 to %n step 1 (%s: i64 = 0) { yield %i }
  return %s })ir"),
               ir::Failure);
}

}  // namespace
}  // namespace parakeet::backends
