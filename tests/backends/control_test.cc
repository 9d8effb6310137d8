// Branches, loops and what they carry.
#include <gtest/gtest.h>

#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::F64;
using ir::F64Array;
using ir::I64;
using ir::I64Array;

TEST(Control, IfYieldsNumbersOfEveryKind) {
  constexpr std::string_view kText = R"ir(
fn @f(%c: bool, %z: c128, %h: f16) -> (c128, f16, bool, i8) entry {
  %a: c128, %b: f16, %p: bool, %k: i8 = if %c {
    %n: c128 = neg %z  yield %n, %h, false, 3:i8
  } else {
    %m: f16 = mul %h, %h  yield %z, %m, true, -3:i8 }
  return %a, %b, %p, %k })ir";
  for (bool c : {false, true}) {
    ExpectAgreement(kText, {ir::Constant::Bool(c), ir::Constant::Complex(1.5, -2),
                            ir::Constant::Float(1.25, ir::DType::kF16)});
  }
}

TEST(Control, ForCountsUpAndDown) {
  constexpr std::string_view kText = R"ir(
fn @f(%lo: i64, %hi: i64) -> (i64, i64, i64, i64) entry {
  %a: i64, %k: i64 = for %i in %lo to %hi step 1 (%s: i64 = 7, %l: i64 = -1) {
    %t: i64 = mul %s, 3  %u: i64 = add %t, %i  yield %u, %i }
  %b: i64 = for %i in %hi to %lo step -3 (%s: i64 = 7) {
    %t: i64 = mul %s, 3  %u: i64 = add %t, %i  yield %u }
  %c: i64 = for %i in %lo to %hi step 5 (%s: i64 = 7) {
    %t: i64 = mul %s, 3  %u: i64 = sub %t, %i  yield %u }
  return %a, %k, %b, %c })ir";
  for (auto [lo, hi] : {std::pair{0, 10}, {0, 0}, {3, -4}, {-7, 4}, {0, 1}, {-20, 20}}) {
    ExpectAgreement(kText, {I64(lo), I64(hi)});
  }
}

TEST(Control, ForAtTheEndOfTheRange) {
  constexpr std::string_view kText = R"ir(
fn @f(%lo: i64, %hi: i64) -> i64 entry {
  %a: i64 = for %i in %lo to %hi step 1 (%s: i64 = 0) { %u: i64 = add %s, 1  yield %u }
  return %a })ir";
  const int64_t most = std::numeric_limits<int64_t>::max();
  ExpectAgreement(kText, {I64(most - 3), I64(most)});
  ExpectAgreement(kText, {I64(most), I64(most)});
}

TEST(Control, WhileTestsFirst) {
  constexpr std::string_view kText = R"ir(
fn @f(%n: i64) -> (i64, i64) entry {
  %k: i64, %steps: i64 = while (%k: i64 = %n, %s: i64 = 0) {
    %go: bool = gt %k, 1  yield %go } do (%k: i64, %s: i64) {
    %odd: i64 = and %k, 1  %is_odd: bool = cast %odd
    %next: i64 = if %is_odd { %t: i64 = mul %k, 3  %u: i64 = add %t, 1  yield %u } else {
      %t: i64 = shr %k, 1  yield %t }
    %more: i64 = add %s, 1
    yield %next, %more }
  return %k, %steps })ir";
  for (int n : {0, 1, 2, 27}) ExpectAgreement(kText, {I64(n)});
}

constexpr std::string_view kSwap = R"ir(
fn @f(%n: i64, %x: [m]f64 c) -> ([m]f64, [m]f64) entry {
  %u: [m]f64 = alloc (%m)
  %v: [m]f64 = alloc (%m)
  for %i in 0 to %m step 1 {
    %e: f64 = load %x[%i]  store %u[%i], %e  store %v[%i], 0.0 }
  %p: [m]f64, %q: [m]f64 = for %t in 0 to %n step 1 (%a: [m]f64 = %u, %b: [m]f64 = %v) {
    parallel for %i in 0 to %m step 1 cost 3 {
      %e: f64 = load %a[%i]  %d: f64 = mul %e, 0.5  %g: f64 = add %d, 1.0  store %b[%i], %g }
    yield %b, %a }
  return %p, %q })ir";

// A path of a step goes on to what it has stored, others to what stands there or away; the test
// reads memory too.
TEST(Control, AWhileGoesOnToWhatItHasStored) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: [4]i64, %n: i64) -> (i64, i64, i64) entry {
  %k: i64, %sum: i64, %steps: i64 = while (%k: i64 = 0, %sum: i64 = 0, %steps: i64 = 0) {
    %in: bool = ge %k, 0  %some: bool = lt %steps, %n  %go: bool = and %in, %some  yield %go
  } do (%k: i64, %sum: i64, %steps: i64) {
    %v: i64 = load %x[%k]
    %s: i64 = add %steps, 1
    %done: bool = le %v, 0
    %j: i64, %t: i64 = if %done {
      %up: i64 = sub %k, 1  yield %up, %sum
    } else {
      %less: i64 = sub %v, 1
      store %x[%k], %less
      %last: bool = eq %k, 3
      %i: i64, %u: i64 = if %last {
        %w: i64 = add %sum, %v  yield %k, %w
      } else {
        %next: i64 = add %k, 1
        store %x[%next], %less
        yield %next, %sum }
      yield %i, %u }
    yield %j, %t, %s }
  return %k, %sum, %steps })ir";
  for (const int64_t n : {0, 1, 7, 1000})
    ExpectAgreement(kText, {I64Array({4}, {4, 9, 9, 9}), I64(n)});
}

TEST(Control, LoopsSwapFreshArrays) {
  for (int n : {0, 1, 2, 5}) ExpectAgreement(kSwap, {I64(n), F64Array({3}, {1, 2, -3})});
}

TEST(Control, LoopsSwapParameters) {
  constexpr std::string_view kText = R"ir(
fn @f(%n: i64, %x: [m]f64 c, %y: [m]f64) -> ([m]f64, [m]f64) entry {
  %p: [m]f64, %q: [m]f64 = for %t in 0 to %n step 1 (%a: [m]f64 = %x, %b: [m]f64 = %y) {
    for %i in 0 to %m step 1 {
      %e: f64 = load %a[%i]  %g: f64 = add %e, 1.0  store %b[%i], %g }
    yield %b, %a }
  return %p, %q })ir";
  for (int n : {0, 1, 2, 5}) {
    ExpectAgreement(kText, {I64(n), F64Array({3}, {1, 2, -3}), F64Array({3}, {5, 6, 7})});
  }
}

TEST(Control, ALoopCarriesArraysOfChangingSize) {
  constexpr std::string_view kText = R"ir(
fn @f(%n: i64, %x: [m]i64) -> (%k: i64, [k]i64) entry {
  %k: i64, %r: [k]i64 = for %t in 0 to %n step 1 (%s: i64 = %m, %a: [s]i64 = %x) {
    %s2: i64 = add %s, 1
    %b: [s2]i64 = alloc (%s2)
    store %b[0], %t
    for %i in 0 to %s step 1 {
      %e: i64 = load %a[%i]  %j: i64 = add %i, 1  store %b[%j], %e }
    yield %s2, %b }
  return %k, %r })ir";
  for (int n : {0, 1, 4}) ExpectAgreement(kText, {I64(n), I64Array({2}, {50, 60})});
}

TEST(Control, IfJoinsArraysOfDifferentMemory) {
  constexpr std::string_view kText = R"ir(
fn @f(%c: bool, %x: [h][w]f64 c) -> ([h][w]f64, f64) entry {
  %r: [h][w]f64 = if %c { yield %x } else {
    %a: [h][w]f64 = alloc (%h, %w) {fortran = 1}
    for %i in 0 to %h step 1 { for %j in 0 to %w step 1 {
      %e: f64 = load %x[%i, %j]  %d: f64 = neg %e  store %a[%i, %j], %d } }
    yield %a }
  %last: f64 = load %r[1, 2]
  store %r[0, 1], 9.0
  return %r, %last })ir";
  for (bool c : {false, true}) {
    ExpectAgreement(kText, {ir::Constant::Bool(c), F64Array({2, 3}, {1, 2, 3, 4, 5, 6})});
  }
}

TEST(Control, ResultsShareBuffers) {
  constexpr std::string_view kText = R"ir(
fn @f(%c: bool, %x: [n]i64 c) -> ([2]i64, [n]i64, [3]i64, [3]i64, [3]i64, [n]i64) entry {
  %a: [3]i64 = alloc (3)
  %b: [3]i64 = alloc (3)
  for %i in 0 to 3 step 1 { store %a[%i], %i  %j: i64 = neg %i  store %b[%i], %j }
  %d: [3]i64 = if %c { yield %a } else { yield %b }
  %v: [2]i64 = view %d offset (2) strides ((-1))
  %w: [n]i64 = view %x offset (0) strides ((0))
  return %v, %x, %b, %d, %a, %w })ir";
  for (bool c : {false, true}) ExpectAgreement(kText, {ir::Constant::Bool(c), Count({2})});
}

}  // namespace
}  // namespace parakeet::backends
