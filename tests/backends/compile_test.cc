// The interface: options, phases, what is promised of the code as a whole.
#include "backends/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "ir/array_value.h"
#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::F64;
using ir::F64Array;
using ir::I64;

constexpr std::string_view kFast = R"ir(
fn @fast(%x: [n]f64 c, %alpha: f64) -> [n]f64 entry {
  %y: [n]f64 = alloc (%n)
  parallel for %i in 0 to %n step 1 cost 40 {
    %a: f64 = load %x[%i]  %b: f64 = mul %a, %alpha  %c: f64 = tanh %b
    store %y[%i], %c }
  return %y })ir";

// Whole vectors, as vectorize_loops writes them.
constexpr std::string_view kVectors = R"ir(
fn @f(%x: [n]f64 c, %y: [n]f64 c) -> [n]f64 entry {
  %z: [n]f64 = alloc (%n)
  for %i in 0 to %n step 8 {
    %a: f64x8 = load_lanes %x[%i] {axis = 0}  %b: f64x8 = load_lanes %y[%i] {axis = 0}
    %c: f64x8 = mul %a, %b  %d: f64x8 = exp %c  %e: f64x8 = add %c, %d
    store_lanes %z[%i], %e {axis = 0} }
  return %z })ir";

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Compile, AParallelLoop) {
  ir::ArrayValue x = ir::NewArray(ir::DType::kF64, {3000});
  for (int i = 0; i < 3000; ++i) {
    ir::StoreElement(ir::Constant::Float(0.001 * i), x.data + 8 * i);
  }
  ExpectAgreement(kFast, {x, F64(2)});
}

// Sums of an array, by `count` loops that say the same but for what they start from, and for what
// they multiply by unless all factors are one.
std::string Sums(int count, bool one_factor = true) {
  std::string text = "fn @f(%x: [n]f64 c) -> f64 entry {\n  %s0: f64 = sqrt 2.0\n";
  for (int k = 1; k <= count; ++k) {
    const std::string n = std::to_string(k), before = std::to_string(k - 1);
    const std::string factor = one_factor ? "1.5" : "1." + n;
    text += "  %s" + n + ": f64 = for %i" + n + " in 0 to %n step 1 (%c" + n + ": f64 = %s" +
            before + ") {\n    %a" + n + ": f64 = load %x[%i" + n + "]\n";
    for (int step = 0; step < 16; ++step) {
      const std::string from = step == 0 ? "a" + n : "t" + std::to_string(step - 1) + "." + n;
      text +=
          "    %t" + std::to_string(step) + "." + n + ": f64 = mul %" + from + ", " + factor + "\n";
    }
    text += "    %d" + n + ": f64 = add %c" + n + ", %t15." + n + "\n    yield %d" + n + " }\n";
  }
  return text + "  return %s" + std::to_string(count) + " }";
}

TEST(Compile, LoopsOfALongFunctionThatSayTheSameAreOneFunction) {
  const ir::ArrayValue x = F64Array({3}, {1, 2.5, 3});
  for (const auto& [count, functions] : {std::pair{2, 1}, {40, 2}, {80, 2}}) {
    CompileOptions options;
    options.keep_ir = true;
    const Compiled compiled = Compile(ir::Parse(Sums(count)), options);
    EXPECT_EQ(CountOf(compiled.llvm_ir, "\ndefine "), functions) << count;
    ExpectAgreement(Sums(count), {x});
  }
}

TEST(Compile, LoopsOfALongFunctionThatDifferInConstantsAreOneFunction) {
  const ir::ArrayValue x = F64Array({3}, {1, 2.5, 3});
  CompileOptions options;
  options.keep_ir = true;
  // Of factors 1.1 to 1.40; equal ones, 1.1 and 1.10, do not matter.
  const std::string text = Sums(40, false);
  EXPECT_EQ(CountOf(Compile(ir::Parse(text), options).llvm_ir, "\ndefine "), 2);
  ExpectAgreement(text, {x});
  options.fastmath = {"arcp"};
  EXPECT_GT(CountOf(Compile(ir::Parse(text), options).llvm_ir, "\ndefine "), 30);
}

TEST(Compile, WhatRunsOnceACallOfALongFunctionIsLeftAsWritten) {
  CompileOptions options;
  options.keep_ir = true;
  EXPECT_EQ(CountOf(Compile(ir::Parse(Sums(40)), options).llvm_ir, "optnone"), 0);
  options.cold_above = 80;
  // Of the entry alone: above it, and in the list of attributes.
  EXPECT_EQ(CountOf(Compile(ir::Parse(Sums(40)), options).llvm_ir, "optnone"), 2);
}

TEST(Compile, PhasesAndTexts) {
  const ir::Program program = ir::Parse(kFast);
  const Compiled plain = Compile(program, {});
  EXPECT_TRUE(plain.llvm_ir.empty());
  EXPECT_TRUE(plain.assembly.empty());
  std::string names;
  for (const Phase& phase : plain.phases) names += phase.name + " ";
  EXPECT_EQ(names, "emit optimize generate link ");
  CompileOptions options;
  options.keep_ir = true;
  options.keep_assembly = true;
  const Compiled kept = Compile(program, options);
  EXPECT_NE(kept.llvm_ir.find("define i32 @parakeet_entry"), std::string::npos);
  EXPECT_NE(kept.assembly.find("parakeet_entry:"), std::string::npos);
  EXPECT_EQ(kept.image, plain.image) << "keeping texts changes nothing";
}

TEST(Compile, TheSameProgramGivesTheSameImage) {
  EXPECT_EQ(Compile(ir::Parse(kFast), {}).image, Compile(ir::Parse(kFast), {}).image);
}

// Parallel loops, each a function, of enough code for a piece of their own; `count` as in Sums.
std::string Bodies(int count) {
  std::string text = "fn @f(%x: [n]f64 c) -> [n]f64 entry {\n  %y: [n]f64 = alloc (%n)\n";
  for (int k = 0; k < count; ++k) {
    const std::string n = std::to_string(k);
    text += "  parallel for %i" + n + " in 0 to %n step 1 cost 40 {\n    %a" + n +
            ": f64 = load %x[%i" + n + "]\n";
    std::string last = "%a" + n;
    for (int step = 0; step < 60; ++step) {
      const std::string at = n + "." + std::to_string(step);
      text += "    %t" + at + ": f64 = " + (step % 2 == 0 ? "add " : "mul ") + last + ", 1." +
              std::to_string(step + k + 1) + "\n    %r" + at + ": f64 = tanh %t" + at + "\n";
      last = "%r" + at;
    }
    text += "    store %y[%i" + n + "], " + last + " }\n";
  }
  return text + "  return %y }";
}

TEST(Compile, PiecesByThreadsSayWhatTheWholeSays) {
  const std::string text = Bodies(5);
  const ir::Values arguments = {F64Array({4}, {0.5, -2, 3.25, NAN})};
  const CompiledProgram whole(text);
  const std::string wanted = Describe(whole.Run(arguments));
  EXPECT_EQ(wanted, Describe(ir::Interpret(ir::Parse(text), "f", arguments)));
  for (const int threads : {2, 3, 16}) {
    CompileOptions options;
    options.threads = threads;
    const CompiledProgram cut(text, options);
    EXPECT_EQ(Describe(cut.Run(arguments, 2)), wanted) << threads;
    EXPECT_NE(cut.compiled().image, whole.compiled().image) << "nothing was cut";
    EXPECT_EQ(cut.compiled().image, Compile(ir::Parse(text), options).image);
    options.keep_ir = true;
    EXPECT_EQ(Compile(ir::Parse(text), options).image, whole.compiled().image);
  }
}

TEST(Compile, ShortCodeIsNotCut) {
  CompileOptions options;
  options.threads = 4;
  EXPECT_EQ(Compile(ir::Parse(kFast), options).image, Compile(ir::Parse(kFast), {}).image);
}

TEST(Compile, SeveralThreadsAtOnce) {
  const std::string wanted = Compile(ir::Parse(kFast), {}).image;
  std::vector<std::string> images(4);
  std::vector<std::thread> threads;
  for (std::string& image : images) {
    threads.emplace_back([&image] {
      for (int i = 0; i < 5; ++i) image = Compile(ir::Parse(kFast), {}).image;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& image : images) EXPECT_TRUE(image == wanted);
}

TEST(Compile, ForOtherProcessors) {
  const ir::ArrayValue x = F64Array({8}, {0, 1, -2, 0.5, 3, -0.25, 10, -700});
  const ir::Values arguments = {x, F64Array({8}, {1, 2, 3, 4, 5, 6, 7, 8})};
  const std::pair<const char*, const char*> rows[] = {{"haswell", "_ZGVdN4v_exp"},
                                                      {"x86-64", "_ZGVbN2v_exp"}};
  for (const auto& [cpu, name] : rows) {
    CompileOptions options;
    options.cpu = cpu;
    options.keep_assembly = true;
    const CompiledProgram compiled(kVectors, options);
    EXPECT_NE(compiled.compiled().image.find(name), std::string::npos) << cpu;
    EXPECT_EQ(compiled.compiled().assembly.find("zmm"), std::string::npos) << cpu;
    const ir::RunResult wanted = ir::Interpret(compiled.program(), "f", arguments);
    const auto got = std::get<ir::ArrayValue>(compiled.Run(arguments).values[0]);
    const auto& expected = std::get<ir::ArrayValue>(wanted.values[0]);
    for (int64_t i = 0; i < 8; ++i) {
      const double a = ir::LoadElement(ir::DType::kF64, got.data + 8 * i).real;
      const double b = ir::LoadElement(ir::DType::kF64, expected.data + 8 * i).real;
      EXPECT_NEAR(a, b, 1e-15 * std::fabs(b)) << cpu;
    }
  }
  CompileOptions unknown;
  unknown.cpu = "z80";
  EXPECT_THROW(Compile(ir::Parse(kFast), unknown), ir::Failure);
}

TEST(Compile, VectorFunctionsThatTheProcessLacksGoByLane) {
  CompileOptions options;
  std::string asked;
  options.has_vector_function = [&](const char* name) {
    asked = name;
    return false;
  };
  const CompiledProgram compiled(kVectors, options);
  EXPECT_EQ(asked.substr(0, 4), "_ZGV");
  EXPECT_EQ(compiled.compiled().image.find("_ZGV"), std::string::npos);
  const ir::Values arguments = {F64Array({8}, {0, 1, -2, 0.5, 3, -0.25, 10, -700}),
                                F64Array({8}, {1, 2, 3, 4, 5, 6, 7, 8})};
  EXPECT_EQ(Describe(compiled.Run(arguments)),
            Describe(ir::Interpret(compiled.program(), "f", arguments)));
}

TEST(Compile, ProductsAndSumsFuseOnlyWhereAllowed) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: f64, %y: f64, %z: f64) -> (f64, f64) entry {
  %a: f64 = mul %x, %y  %b: f64 = add %a, %z  %c: f64 = fma %x, %y, %z
  return %b, %c })ir";
  // 1/3 * 3 rounds to 1, so that the unfused sum is exactly 0.
  const ir::Values arguments = {F64(1.0 / 3), F64(3), F64(-1)};
  const CompiledProgram plain(kText);
  const ir::RunResult run = plain.Run(arguments);
  EXPECT_EQ(std::get<ir::Constant>(run.values[0]).real, 0.0);
  EXPECT_EQ(std::get<ir::Constant>(run.values[1]).real, std::fma(1.0 / 3, 3, -1.0));
  EXPECT_NE(std::get<ir::Constant>(run.values[1]).real, 0.0);
  CompileOptions options;
  options.keep_ir = true;
  EXPECT_EQ(CountOf(CompiledProgram(kText, options).compiled().llvm_ir, "contract"), 0u);
  options.fastmath = {"contract"};
  EXPECT_GT(CountOf(CompiledProgram(kText, options).compiled().llvm_ir, "contract"), 0u);
  options.fastmath = {"faster"};
  EXPECT_THROW(CompiledProgram(kText, options), ir::Failure);
}

std::string LlvmOf(std::string_view text) {
  CompileOptions options;
  options.keep_ir = true;
  return Compile(ir::Parse(text), options).llvm_ir;
}

TEST(Compile, NeighbouringLanesAreOneAccess) {
  const std::string code = LlvmOf(kVectors);
  EXPECT_EQ(CountOf(code, "load <8 x double>"), 2u);
  EXPECT_EQ(CountOf(code, "store <8 x double>"), 1u);
  EXPECT_EQ(CountOf(code, "gather"), 0u);
}

TEST(Compile, FreshArraysStayContiguousThroughLoops) {
  const std::string code = LlvmOf(R"ir(
fn @f(%n: i64, %m: i64) -> [n][m]f64 entry {
  %u: [n][m]f64 = alloc (%n, %m)
  %v: [n][m]f64 = alloc (%n, %m)
  %p: [n][m]f64, %q: [n][m]f64 = for %t in 0 to %n step 1 (%a: [n][m]f64 = %u, %b: [n][m]f64 = %v) {
    for %i in 0 to %n step 1 { for %j in 0 to %m step 8 {
      %e: f64x8 = load_lanes %a[%i, %j] {axis = 1}
      store_lanes %b[%i, %j], %e {axis = 1} } }
    yield %b, %a }
  return %p })ir");
  EXPECT_EQ(CountOf(code, "gather"), 0u);
  EXPECT_EQ(CountOf(code, "scatter"), 0u);
  EXPECT_GE(CountOf(code, "load <8 x double>"), 1u);
}

// The loop's store cannot touch %x, so its one element is read once, before the loop.
TEST(Compile, StoresDoNotTouchOtherRoots) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: [1]f64 c, %y: [n]f64 c) entry {
  for %i in 0 to %n step 1 { %e: f64 = load %x[0]  store %y[%i], %e }
  return })ir";
  const auto loads_in_loop = [](const std::string& code) {
    const size_t loop = code.find("\nloop:");
    return CountOf(code.substr(loop, code.find("br i1", loop) - loop), "load double");
  };
  EXPECT_EQ(loads_in_loop(LlvmOf(kText)), 0u);
  std::string overlapping(kText);
  overlapping.replace(overlapping.find("entry"), 5, "entry may_overlap");
  EXPECT_GE(loads_in_loop(LlvmOf(overlapping)), 1u);
}

TEST(Compile, ArgumentsThatMayOverlapDo) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: [n]i64, %y: [n]i64) entry may_overlap {
  for %i in 1 to %n step 1 {
    %j: i64 = sub %i, 1
    %a: i64 = load %x[%j]  %b: i64 = add %a, 1  store %y[%i], %b
    %c: i64 = load %x[0]  store %y[0], %c }
  return })ir";
  const CompiledProgram compiled(kText);
  const ir::ArrayValue x = Count({6});
  compiled.Run({x, x});
  EXPECT_EQ(Describe({{x}, std::nullopt}), "[0 1 2 3 4 5]");
  ir::ArrayValue from = Count({6}), to = from;
  to.data += 8;
  to.sizes = from.sizes = {5};
  compiled.Run({from, to});
  EXPECT_EQ(Describe({{from}, std::nullopt}), "[0 0 1 1 2]");
}

TEST(Compile, ShortConstantLoopsUnroll) {
  const std::string code = LlvmOf(R"ir(
fn @f(%x: [h][w]f64 c, %k: [3][3]f64 c, %y: [h][w]f64 c) entry {
  for %i in 0 to %h step 1 { for %j in 0 to %w step 8 {
    %zero: f64x8 = splat 0.0
    %s: f64x8 = for %p in 0 to 3 step 1 (%s: f64x8 = %zero) {
      %t: f64x8 = for %q in 0 to 3 step 1 (%t: f64x8 = %s) {
        %ip: i64 = add %i, %p  %jq: i64 = add %j, %q
        %e: f64x8 = load_lanes %x[%ip, %jq] {axis = 1}
        %c: f64 = load %k[%p, %q]  %cc: f64x8 = splat %c
        %d: f64x8 = fma %e, %cc, %t  yield %d }
      yield %t }
    store_lanes %y[%i, %j], %s {axis = 1} } }
  return })ir");
  EXPECT_EQ(CountOf(code, "call <8 x double> @llvm.fma"), 9u);
  EXPECT_EQ(CountOf(code, " = phi i64"), 2u) << "the loops over the window are gone";
}

TEST(Compile, RefusesEarlierStages) {
  EXPECT_THROW(CompiledProgram(R"ir(
fn @f(%x: [n]f64) -> [n]f64 entry {
  %y: [n]f64 = map (%a: f64 in %x) { %b: f64 = neg %a  yield %b }
  return %y })ir"),
               ir::Failure);
}

}  // namespace
}  // namespace parakeet::backends
