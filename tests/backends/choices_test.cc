// Branches that do nothing but choose: which of them LLVM makes selects of, and how floats are
// selected.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "backends/compile.h"
#include "ir/array_value.h"
#include "ir/parser.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::F64;
using ir::F64Array;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Four numbers change places by one condition.
constexpr std::string_view kTurned = R"ir(
fn @f(%x: [n]f64 c, %a: f64, %b: f64) -> (f64, f64, f64, f64) entry {
  %e: f64, %f: f64, %g: f64, %h: f64 = for %i in 0 to %n step 1 (
      %p: f64 = %a, %q: f64 = %b, %r: f64 = 1.0, %s: f64 = 2.0) {
    %v: f64 = load %x[%i]
    %t: f64 = mul %p, 0.5
    %is: bool = lt %v, %t
    %p.1: f64, %q.1: f64, %r.1: f64, %s.1: f64 = if %is {
      yield %q, %r, %s, %v } else {
      yield %v, %p, %q, %r }
    yield %p.1, %q.1, %r.1, %s.1 }
  return %e, %f, %g, %h })ir";

// Two are chosen by one condition.
constexpr std::string_view kRates = R"ir(
fn @f(%x: [n]f64 c, %up: f64, %down: f64) -> (f64, f64) entry {
  %a: f64, %b: f64 = for %i in 0 to %n step 1 (%p: f64 = 0.0, %q: f64 = 0.0) {
    %v: f64 = load %x[%i]
    %is: bool = lt %p, %v
    %r: f64, %s: f64 = if %is {
      yield %up, %down } else {
      yield %down, %up }
    %p.1: f64 = add %p, %r
    %t: f64 = mul %q, %s
    %q.1: f64 = add %t, %v
    yield %p.1, %q.1 }
  return %a, %b })ir";

// The first of 32 bytes.
constexpr std::string_view kSomeBytes = R"ir(
fn @f(%x: [n]u8 c, %y: [n]u8 c, %k: i64) entry {
  %a: i64x32 = iota
  %b: i64x32 = splat %k
  %c: boolx32 = lt %a, %b
  %d: u8x32 = load_lanes %x[0], %c {axis = 0, masked = 1}
  store_lanes %y[0], %d, %c {axis = 0, masked = 1}
  return })ir";

Compiled Texts(std::string_view text, const char* cpu) {
  CompileOptions options;
  options.cpu = cpu;
  options.keep_ir = true;
  options.keep_assembly = true;
  return Compile(ir::Parse(text), options);
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Choices, OfManyValuesStayBranches) {
  EXPECT_FALSE(Has(Texts(kTurned, "skylake-avx512").llvm_ir, "select"));
  EXPECT_TRUE(Has(Texts(kRates, "skylake-avx512").llvm_ir, "select"));
}

TEST(Choices, SeveralFloatsByOneMask) {
  const Compiled masks = Texts(kRates, "skylake-avx512");
  EXPECT_TRUE(Has(masks.llvm_ir, "select <2 x i1>"));
  EXPECT_FALSE(Has(masks.assembly, "kmov"));
  EXPECT_FALSE(Has(Texts(kRates, "haswell").llvm_ir, "<2 x i1>"));
}

TEST(Choices, OfBytesUnderAMaskOneByOne) {
  const Compiled bytes = Texts(kSomeBytes, "haswell");
  EXPECT_FALSE(Has(bytes.llvm_ir, "llvm.masked"));
  EXPECT_TRUE(Has(bytes.llvm_ir, "llvm.cttz.i64"));
  EXPECT_TRUE(Has(Texts(kSomeBytes, "skylake-avx512").llvm_ir, "llvm.masked.store.v32i8"));
}

TEST(Choices, SayWhatTheInterpreterSays) {
  const ir::ArrayValue x = F64Array({8}, {1, -2, kNan, 0.5, -0.0, 3, 0.25, -8});
  ExpectAgreements(kTurned, {{x, F64(1), F64(2)}, {x, F64(kNan), F64(-0.0)}});
  ExpectAgreements(kRates, {{x, F64(0.5), F64(-0.25)}, {x, F64(-0.0), F64(kNan)}});
}

}  // namespace
}  // namespace parakeet::backends
