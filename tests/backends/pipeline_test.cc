// Whole programs, from the stage the frontend writes through all passes to machine code: compiled
// code does what the interpreter does with the same scheduled program, bit for bit where no libmvec
// function is called.
#include <gtest/gtest.h>

#include "ir/array_value.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::F64;
using ir::I64;

void ExpectPipelineAgreement(std::string_view text, const std::vector<ir::Values>& calls,
                             double tolerance = 0.0) {
  passes::Context context;
  const ir::Program scheduled =
      passes::RunPipeline(ir::Parse(text), ir::Stage::kParallel, passes::CpuPipeline(), context)
          .program;
  ExpectAgreements(ir::Print(scheduled), calls, tolerance);
}

// Numbers between -1 and 1 that look random.
ir::ArrayValue Noise(ir::DType dtype, std::vector<int64_t> sizes) {
  ir::ArrayValue array = ir::NewArray(dtype, std::move(sizes));
  uint64_t state = 1;
  ir::ForEachIndex(array.sizes, [&](const ir::Index& index) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const double value = double(int64_t(state) >> 11) * 0x1p-52;
    ir::Constant constant = ir::ConstantOf(dtype, int64_t(value * 100));
    if (ir::IsFloat(dtype)) constant.real = dtype == ir::DType::kF32 ? float(value) : value;
    ir::StoreElement(constant, ir::ElementAt(array, index));
  });
  return array;
}

ir::ArrayValue Floats(std::vector<int64_t> sizes) { return Noise(ir::DType::kF64, sizes); }

TEST(Pipeline, ElementWise) {
  constexpr std::string_view kText = R"ir(
fn @fast(%x: [n]f64 c, %alpha: f64, %beta: f64) -> [n]f64 entry {
  %1: [n]f64 = map (%a: f64 in %x) { %b: f64 = mul %a, %alpha  yield %b }
  %2: [n]f64 = map (%a: f64 in %1) { %b: f64 = tanh %a  yield %b }
  %3: [n]f64 = map (%a: f64 in %2) { %b: f64 = add %a, %beta  yield %b }
  return %3 })ir";
  std::vector<ir::Values> calls;
  for (int64_t n : {0, 1, 7, 8, 9, 4096, 20003}) calls.push_back({Floats({n}), F64(2), F64(3)});
  ExpectPipelineAgreement(kText, calls, 1e-15);
}

TEST(Pipeline, TwoTraversals) {
  constexpr std::string_view kText = R"ir(
fn @fit(%x: [n]f64 c, %y: [n]f64 c) -> (f64, f64) entry {
  %a: f64, %b: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) {
    %p: f64 = load %x[%i]  %q: f64 = load %y[%i]  yield %p, %q }
  %nn: f64 = cast %n
  %ma: f64 = div %a, %nn
  %mb: f64 = div %b, %nn
  %c: f64, %d: f64 = ireduce (%i) in (%n) (add, add) from (0.0, 0.0) {
    %p: f64 = load %x[%i]  %q: f64 = load %y[%i]  %dp: f64 = sub %p, %ma  %dq: f64 = sub %q, %mb
    %pq: f64 = mul %dp, %dq  %pp: f64 = mul %dp, %dp  yield %pq, %pp }
  %slope: f64 = div %c, %d
  %t: f64 = mul %slope, %ma
  %o: f64 = sub %mb, %t
  return %slope, %o })ir";
  std::vector<ir::Values> calls;
  for (int64_t n : {1, 5, 32, 8192, 8193, 100003}) calls.push_back({Floats({n}), Floats({n})});
  ExpectPipelineAgreement(kText, calls);
}

TEST(Pipeline, Convolution) {
  constexpr std::string_view kText = R"ir(
fn @conv(%image: [h][w]f64 c, %weights: [3][3]f64 c) -> (%h2: i64, %w2: i64, [h2][w2]f64) entry {
  %h2: i64 = sub %h, 2
  %w2: i64 = sub %w, 2
  %r: [h2][w2]f64 = imap (%i, %j) in (%h2, %w2) {
    %s: f64 = ireduce (%p, %q) in (3, 3) add from 0.0 {
      %ip: i64 = add %i, %p
      %jq: i64 = add %j, %q
      %x: f64 = load %image[%ip, %jq]
      %y: f64 = load %weights[%p, %q]
      %z: f64 = mul %x, %y
      yield %z }
    yield %s }
  return %h2, %w2, %r })ir";
  std::vector<ir::Values> calls;
  for (int64_t n : {3, 11, 64}) calls.push_back({Floats({n, n + 2}), Floats({3, 3})});
  ExpectPipelineAgreement(kText, calls);
}

TEST(Pipeline, MatrixProduct) {
  constexpr std::string_view kText = R"ir(
fn @mm(%X: [n][l]f32 c, %Y: [l][m]f32 c) -> [n][m]f32 entry {
  %r: [n][m]f32 = imap (%i, %j) in (%n, %m) {
    %s: f32 = ireduce (%k) in (%l) add from 0.0:f32 {
      %x: f32 = load %X[%i, %k]
      %y: f32 = load %Y[%k, %j]
      %z: f32 = mul %x, %y
      yield %z }
    yield %s }
  return %r })ir";
  std::vector<ir::Values> calls;
  for (int64_t n : {1, 5, 33, 70}) {
    calls.push_back({Noise(ir::DType::kF32, {n, n + 3}), Noise(ir::DType::kF32, {n + 3, 2 * n})});
  }
  ExpectPipelineAgreement(kText, calls);
}

TEST(Pipeline, Filter) {
  std::vector<ir::Values> calls;
  for (int64_t n : {0, 1, 100, 30000}) calls.push_back({Floats({n}), F64(0.25)});
  ExpectPipelineAgreement(R"ir(
fn @f(%x: [n]f64, %t: f64) -> (%k: i64, [k]f64) entry {
  %k: i64, %y: [k]f64 = filter (%a: f64 in %x) { %p: bool = gt %a, %t  yield %p }
  return %k, %y })ir",
                          calls);
}

TEST(Pipeline, ScanAndArgmin) {
  std::vector<ir::Values> calls;
  for (int64_t n : {1, 100, 30000}) calls.push_back({Floats({n})});
  ExpectPipelineAgreement(R"ir(
fn @f(%x: [n]f64 c) -> ([n]f64, f64, i64) entry {
  %y: [n]f64 = scan (%a: f64 in %x) add from 0.0 { yield %a }
  %m: f64, %at: i64 = ireduce (%i) in (%n) {
    %a: f64 = load %x[%i]  yield %a, %i
  } combine (%a: f64, %i: i64, %b: f64, %j: i64) {
    %less: bool = lt %b, %a
    %r: f64 = select %less, %b, %a  %k: i64 = select %less, %j, %i
    yield %r, %k }
  return %y, %m, %at })ir",
                          calls);
}

TEST(Pipeline, TheFirstFailingElementIsReported) {
  std::vector<ir::Values> calls;
  for (int64_t bad : {-1, 0, 17, 2999}) {
    ir::ArrayValue x = ir::Count({3000});
    if (bad >= 0) {
      ir::StoreElement(ir::Constant::Int(9999), x.data + 8 * bad);
      ir::StoreElement(ir::Constant::Int(-8), x.data + 8 * 2999);
    }
    calls.push_back({x, Floats({3000})});
  }
  ExpectPipelineAgreement(R"ir(
site 0 IndexError "index {} is out of bounds for size {}"
fn @f(%x: [n]i64 c, %y: [m]f64 c) -> [n]f64 entry {
  %r: [n]f64 = imap (%i) in (%n) {
    %j: i64 = load %x[%i]
    %low: bool = ge %j, 0  %high: bool = lt %j, %m  %ok: bool = and %low, %high
    check %ok, site 0 at (1, %i) with (%j, %m)
    %e: f64 = load %y[%j]
    %f: f64 = mul %e, %e
    yield %f }
  return %r })ir",
                          calls);
}

TEST(Pipeline, DivergentLoops) {
  ExpectPipelineAgreement(R"ir(
fn @f(%x: [n]f64 c) -> [n]i64 entry {
  %r: [n]i64 = imap (%i) in (%n) {
    %c: f64 = load %x[%i]
    %k: i64, %z: f64 = while (%k: i64 = 0, %z: f64 = 0.0) {
      %small: bool = lt %z, 4.0  %few: bool = lt %k, 200  %go: bool = and %small, %few
      yield %go } do (%k: i64, %z: f64) {
      %q: f64 = mul %z, %z  %w: f64 = add %q, %c  %l: i64 = add %k, 1
      yield %l, %w }
    yield %k }
  return %r })ir",
                          {{Floats({1})}, {Floats({1003})}});
}

}  // namespace
}  // namespace parakeet::backends
