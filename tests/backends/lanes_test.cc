// Values of several lanes: memory at every distance, masks, and what joins lanes.
#include <gtest/gtest.h>

#include <cstring>

#include "ir/array_value.h"
#include "ir/diagnostics.h"
#include "tests/backends/compiled_program.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::backends {
namespace {

using ir::Count;
using ir::I64;

TEST(Lanes, TheInterpretersCases) {
  for (const ir::InterpreterCase& run : ir::LaneCases()) {
    if (run.text.find("lanes (%i)") != std::string_view::npos) continue;  // gone by this stage
    if (run.text.find("block for") != std::string_view::npos) continue;   // a device's
    std::string text(run.text);
    ExpectAgreement(text, run.arguments);
  }
}

std::string Moves(const std::string& dtype, const std::string& layout, int lanes) {
  const std::string count = std::to_string(lanes);
  const std::string vector = dtype + "x" + count;
  return "fn @f(%x: [h][w]" + dtype + layout + ", %y: [h][w]" + dtype + layout +
         ", %k: i64) entry {\n"
         "  %i: i64x" +
         count +
         " = iota\n"
         "  %kk: i64x" +
         count +
         " = splat %k\n"
         "  %m: boolx" +
         count +
         " = lt %i, %kk\n"
         "  %a: " +
         vector +
         " = load_lanes %x[1, 2] {axis = 1}\n"
         "  store_lanes %y[0, 0], %a {axis = 1}\n"
         "  %b: " +
         vector +
         " = load_lanes %x[2, 40] {axis = 1, step = -1}\n"
         "  store_lanes %y[1, 41], %b {axis = 1, step = -1}\n"
         "  %c: " +
         vector +
         " = load_lanes %x[1, 3], %m {axis = 1, masked = 1}\n"
         "  store_lanes %y[2, 0], %c {axis = 1}\n"
         "  store_lanes %y[3, 0], %a, %m {axis = 1, masked = 1}\n"
         "  %d: " +
         vector +
         " = load_lanes %x[3, 40], %m {axis = 1, step = -1, masked = 1}\n"
         "  store_lanes %y[4, 40], %d, %m {axis = 1, step = -1, masked = 1}\n"
         "  %e: " +
         vector +
         " = load_lanes %x[0, 1] {axis = 0}\n"
         "  store_lanes %y[34, 5], %e {axis = 0, step = -1}\n"
         "  %g: " +
         vector +
         " = load_lanes %x[0, 2], %m {axis = 0, masked = 1}\n"
         "  store_lanes %y[0, 6], %g, %m {axis = 0, masked = 1}\n"
         "  return }";
}

// Gathers and scatters at indices that repeat: of equal places the last lane stays.
std::string Gathers(const std::string& dtype, const std::string& layout, int lanes) {
  const std::string count = std::to_string(lanes);
  const std::string vector = dtype + "x" + count;
  const std::string index = "i64x" + count;
  return "fn @f(%x: [h][w]" + dtype + layout + ", %y: [h][w]" + dtype + layout +
         ", %k: i64) entry {\n"
         "  %i: " +
         index +
         " = iota\n"
         "  %kk: " +
         index +
         " = splat %k\n"
         "  %m: boolx" +
         count +
         " = lt %i, %kk\n"
         "  %three: " +
         index +
         " = splat 3\n"
         "  %two: " +
         index +
         " = splat 2\n"
         "  %p: " +
         index +
         " = and %i, %three\n"
         "  %q: " +
         index +
         " = shr %i, %two\n"
         "  %a: " +
         vector +
         " = gather_lanes %x[%p, %q]\n"
         "  scatter_lanes %y[%q, %p], %a\n"
         "  %b: " +
         vector +
         " = gather_lanes %x[%k, %i]\n"
         "  scatter_lanes %y[%k, %p], %b\n"
         "  %c: " +
         vector +
         " = gather_lanes %x[%i, %k], %m {masked = 1}\n"
         "  scatter_lanes %y[%i, 9], %c\n"
         "  scatter_lanes %y[%i, %p], %a, %m {masked = 1}\n"
         "  %d: " +
         vector +
         " = gather_lanes %x[2, 3]\n"
         "  scatter_lanes %y[%i, 11], %d\n"
         "  return }";
}

// What lanes have between them: picked out of whole vectors and woven into them, and read by some.
std::string Neighbours(const std::string& dtype, const std::string& layout, int lanes) {
  const std::string count = std::to_string(lanes);
  std::string text = "fn @f(%x: [h][w]" + dtype + layout + ", %y: [h][w]" + dtype + layout +
                     ", %k: i64) entry {\n  %i: i64x" + count + " = iota\n  %kk: i64x" + count +
                     " = splat %k\n  %m: boolx" + count + " = lt %i, %kk\n";
  const auto vector = [&](int times) { return dtype + "x" + std::to_string(times * lanes); };
  int row = 0;
  const auto load = [&](const std::string& name, const std::string& at, const std::string& attrs,
                        bool masked) {
    text += "  " + name + ": " + vector(1) + " = load_lanes %x[" + at + "]" +
            (masked ? ", %m" : "") + " {axis = 1, " + attrs + (masked ? ", masked = 1" : "") +
            "}\n";
  };
  for (int step = 2; step <= (lanes > 8 ? 3 : 4); ++step) {
    for (const bool masked : {false, true}) {
      const std::string suffix = std::to_string(step) + (masked ? "m" : "");
      std::string all, masks;
      for (int place = 0; place < step; ++place) {
        const std::string name = "%v" + suffix + "_" + std::to_string(place);
        load(name, "3, " + std::to_string(place + 5),
             "step = " + std::to_string(step) + ", place = " + std::to_string(place), masked);
        all += (place > 0 ? ", " : "") + name;
        masks += place > 0 ? ", %m" : "%m";
      }
      load("%alone" + suffix, "2, 1", "step = " + std::to_string(step), masked);
      text += "  %w" + suffix + ": " + vector(step) + " = interleave " + all + "\n";
      text += "  %mm" + suffix + ": boolx" + std::to_string(step * lanes) + " = interleave " +
              masks + "\n";
      text += "  store_lanes %y[" + std::to_string(row) + ", 2], %w" + suffix +
              (masked ? ", %mm" + suffix : "") + " {axis = 1" + (masked ? ", masked = 1" : "") +
              "}\n  store_lanes %y[" + std::to_string(row + 1) + ", 1], %alone" + suffix +
              " {axis = 1}\n";
      row += 2;
    }
  }
  for (const int repeat : {2, 4, 3}) {
    for (const bool masked : {false, true}) {
      const std::string name = "%r" + std::to_string(repeat) + (masked ? "m" : "");
      load(name, "1, 7",
           "repeat = " + std::to_string(repeat) + ", phase = " + std::to_string(repeat - 1),
           masked);
      text += "  store_lanes %y[" + std::to_string(row++) + ", 0], " + name + " {axis = 1}\n";
    }
  }
  return text + "  return }";
}

// Lanes that go by elements, from one row on into the next.
std::string Pixels(const std::string& dtype, const std::string& layout, int lanes) {
  const std::string count = std::to_string(lanes);
  std::string text = "fn @f(%x: [h][w]" + dtype + layout + ", %y: [h][w]" + dtype + layout +
                     ", %k: i64) entry {\n  %i: i64x" + count + " = iota\n  %kk: i64x" + count +
                     " = splat %k\n  %m: boolx" + count + " = lt %i, %kk\n";
  int row = 0;
  for (int step = 1; step <= 4; ++step) {
    for (const bool masked : {false, true}) {
      const std::string name = "%v" + std::to_string(step) + (masked ? "m" : "");
      const std::string mask = masked ? ", %m" : "";
      const std::string attrs = " {axis = 0, flat = 1, step = " + std::to_string(step) +
                                (masked ? ", masked = 1" : "") + "}\n";
      text += "  " + name + ": " + dtype + "x" + count + " = load_lanes %x[2, 157]" + mask + attrs;
      text += "  store_lanes %y[" + std::to_string(row) + ", 158], " + name + mask + attrs;
      row += 2;
    }
  }
  return text + "  return }";
}

constexpr int64_t kColumns = 160;

ir::ArrayValue Elements(ir::DType dtype, bool fortran) {
  ir::ArrayValue array = ir::NewArray(dtype, {36, kColumns}, fortran);
  int64_t next = 0;
  ir::ForEachIndex(array.sizes, [&](const ir::Index& index) {
    ir::Constant value = ir::ConstantOf(dtype, next++ % 117 - 50);
    if (ir::IsComplex(dtype)) value.imag = double(next % 13);
    ir::StoreElement(value, ir::ElementAt(array, index));
  });
  return array;
}

void TryMoves(std::string (*program)(const std::string&, const std::string&, int),
              const std::vector<const char*>& dtypes = {"bool", "u8", "i16", "f16", "f32", "i32",
                                                        "f64", "i64", "c64", "c128"},
              const std::vector<const char*>& layouts = {" c", " fortran", ""}) {
  for (const char* dtype : dtypes) {
    const ir::DType type = *ir::DTypeFromName(dtype);
    for (const char* layout : layouts) {
      const bool fortran = std::string_view(layout) == " fortran";
      // One number of lanes tells what other layouts change.
      const bool in_order = std::string_view(layout) == " c";
      for (int lanes : in_order ? std::vector{2, 8, 32} : std::vector{8}) {
        std::vector<ir::Values> calls;
        for (int64_t k : {0, 5, 32}) {
          calls.push_back({Elements(type, fortran), Elements(type, fortran), I64(k)});
        }
        ExpectAgreements(program(dtype, layout, lanes), calls);
        if (testing::Test::HasFailure()) FAIL() << dtype << layout << " x" << lanes;
      }
    }
  }
}

TEST(Lanes, MoveAlongAnAxis) { TryMoves(Moves); }
TEST(Lanes, MoveToIndices) { TryMoves(Gathers); }
TEST(Lanes, MoveWithNeighbours) { TryMoves(Neighbours, {"bool", "i16", "c64"}); }
TEST(Lanes, MoveByElements) {
  TryMoves(Pixels, {"bool", "u8", "i16", "f32", "f64", "c64"}, {" c"});
}

// The same on another processor than the host's, beside the interpreter.
void TryMovesOn(const char* cpu, const std::string& text, ir::DType dtype) {
  CompileOptions options;
  options.cpu = cpu;
  options.keep_assembly = true;
  const CompiledProgram compiled(text, options);
  for (int64_t k : {0, 5, 32}) {
    const auto arguments = [&] {
      return ir::Values{Elements(dtype, false), Elements(dtype, false), I64(k)};
    };
    const ir::Values wanted = arguments(), got = arguments();
    ir::Interpret(compiled.program(), "f", wanted);
    compiled.Run(got);
    const auto &a = std::get<ir::ArrayValue>(wanted[1]), &b = std::get<ir::ArrayValue>(got[1]);
    const size_t bytes = 36 * kColumns * ir::SizeInBytes(dtype);
    EXPECT_EQ(std::memcmp(a.data, b.data, bytes), 0) << cpu << ", " << k;
  }
  EXPECT_EQ(compiled.compiled().assembly.find("\tj"), std::string::npos) << "a branch";
}

// A branch for each lane would be slow to compile and to run.
TEST(Lanes, MoveApartUnderMasksWithoutBranches) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "skipped: no AVX2";
  for (const char* dtype : {"f32", "f64", "i64", "c128"}) {
    TryMovesOn("haswell", Moves(dtype, " c", 8), *ir::DTypeFromName(dtype));
    TryMovesOn("haswell", Gathers(dtype, " c", 8), *ir::DTypeFromName(dtype));
    TryMovesOn("haswell", Neighbours(dtype, " c", 8), *ir::DTypeFromName(dtype));
    TryMovesOn("haswell", Pixels(dtype, " c", 8), *ir::DTypeFromName(dtype));
  }
}

// Any number of vectors, which a square of parts of registers turns where they are many.
std::string Woven(const std::string& dtype, int lanes) {
  const std::string one = dtype + "x" + std::to_string(lanes);
  std::string text = "fn @f(%x: [h][w]" + dtype + " c, %y: [h][w]" + dtype + " c) entry {\n";
  for (int k = 0; k < 16; ++k) {
    text += "  %v" + std::to_string(k) + ": " + one + " = load_lanes %x[" + std::to_string(k) +
            ", " + std::to_string(3 * k % 5) + "] {axis = 1}\n";
  }
  for (const int count : {2, 3, 4, 6, 8, 12, 16}) {
    if (count * lanes > 128) continue;
    const std::string number = std::to_string(count);
    std::string all = "%v0";
    for (int k = 1; k < count; ++k) all += ", %v" + std::to_string(k);
    text += "  %woven" + number + ": " + dtype + "x" + std::to_string(count * lanes) +
            " = interleave " + all + "\n  store_lanes %y[" + number + ", 1], %woven" + number +
            " {axis = 1}\n";
  }
  return text + "  return }";
}

// A program that stores to its second argument, on processors with registers of each width.
void TryOnProcessors(const std::string& text, const char* dtype) {
  const ir::DType type = *ir::DTypeFromName(dtype);
  for (const char* cpu : {"x86-64", "haswell", "skylake-avx512"}) {
    if (std::string_view(cpu) == "haswell" && !__builtin_cpu_supports("avx2")) continue;
    if (std::string_view(cpu) == "skylake-avx512" && !__builtin_cpu_supports("avx512f")) continue;
    CompileOptions options;
    options.cpu = cpu;
    const CompiledProgram compiled(text, options);
    const ir::Values wanted = {Elements(type, false), Elements(type, false)},
                     got = {Elements(type, false), Elements(type, false)};
    ir::Interpret(compiled.program(), "f", wanted);
    compiled.Run(got);
    const auto &a = std::get<ir::ArrayValue>(wanted[1]), &b = std::get<ir::ArrayValue>(got[1]);
    const size_t bytes = 36 * kColumns * ir::SizeInBytes(type);
    EXPECT_EQ(std::memcmp(a.data, b.data, bytes), 0) << cpu << ", " << text;
  }
}

TEST(Lanes, AreWovenOnProcessorsOfEveryWidth) {
  for (const char* dtype : {"bool", "u8", "i16", "f16", "f32", "i64", "f64", "c64"}) {
    for (const int lanes : {2, 4, 6, 8, 16}) TryOnProcessors(Woven(dtype, lanes), dtype);
  }
}

// Two vectors, and what lies across them by each number of lanes.
std::string Slid(const std::string& dtype, int lanes) {
  const std::string one = dtype + "x" + std::to_string(lanes);
  std::string text =
      "fn @f(%x: [h][w]" + dtype + " c, %y: [h][w]" + dtype + " c) entry {\n  %a: " + one +
      " = load_lanes %x[0, 1] {axis = 1}\n  %b: " + one + " = load_lanes %x[1, 3] {axis = 1}\n";
  for (int by = 1; by < lanes; ++by) {
    const std::string number = std::to_string(by);
    text += "  %s" + number + ": " + one + " = slide %a, %b {by = " + number +
            "}\n  store_lanes %y[" + number + ", 2], %s" + number + " {axis = 1}\n";
  }
  return text + "  return }";
}

TEST(Lanes, SlideOnProcessorsOfEveryWidth) {
  for (const char* dtype : {"bool", "u8", "i16", "f16", "f32", "i64", "f64", "c64"}) {
    for (const int lanes : {2, 4, 8, 16, 32}) TryOnProcessors(Slid(dtype, lanes), dtype);
  }
}

TEST(Lanes, HalvesAndTests) {
  constexpr std::string_view kText = R"ir(
fn @f(%x: [n]f64, %t: f64, %k: i64) -> (f64, f64, bool, bool, c128, c128, bool) entry {
  %v: f64x8 = load_lanes %x[0] {axis = 0}
  %lo: f64x4 = low_half %v
  %hi: f64x4 = high_half %v
  %s: f64x4 = sub %lo, %hi
  %a: f64x2 = low_half %s
  %b: f64x2 = high_half %s
  %p: f64x2 = mul %a, %b
  %q: f64 = low_half %p
  %e: f64 = extract %v, %k
  %tt: f64x8 = splat %t
  %m: boolx8 = lt %v, %tt
  %any: bool = any %m
  %all: bool = all %m
  %z: c128x8 = complex %v, %tt
  %zl: c128x4 = high_half %z
  %z0: c128 = extract %zl, 1
  %z1: c128x2 = low_half %zl
  %z2: c128 = high_half %z1
  %mk: bool = extract %m, %k
  return %q, %e, %any, %all, %z0, %z2, %mk })ir";
  const ir::ArrayValue x = ir::F64Array({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  for (double t : {0.0, 4.5, 100.0}) {
    for (int k : {0, 3, 7}) ExpectAgreement(kText, {x, ir::F64(t), I64(k)});
  }
}

TEST(Lanes, MaskedLoopsWithDivergence) {
  ExpectAgreement(R"ir(
fn @f(%x: [n]i64 c) -> [n]i64 entry {
  %y: [n]i64 = alloc (%n)
  %iota: i64x8 = iota
  %nn: i64x8 = splat %n
  %zero: i64x8 = splat 0
  %one: i64x8 = splat 1
  %three: i64x8 = splat 3
  parallel for %i in 0 to %n step 8 {
    %ii: i64x8 = splat %i
    %at: i64x8 = add %ii, %iota
    %m: boolx8 = lt %at, %nn
    %v: i64x8 = load_lanes %x[%i], %m {axis = 0, masked = 1}
    %k: i64x8, %s: i64x8 = while (%k: i64x8 = %v, %s: i64x8 = %zero) {
      %big: boolx8 = gt %k, %one  %go: bool = any %big  yield %go
    } do (%k: i64x8, %s: i64x8) {
      %big: boolx8 = gt %k, %one
      %odd: i64x8 = and %k, %one  %is_odd: boolx8 = cast %odd
      %t: i64x8 = mul %k, %three  %up: i64x8 = add %t, %one
      %down: i64x8 = shr %k, %one
      %next: i64x8 = select %is_odd, %up, %down
      %k2: i64x8 = select %big, %next, %k
      %s1: i64x8 = add %s, %one
      %s2: i64x8 = select %big, %s1, %s
      yield %k2, %s2 }
    store_lanes %y[%i], %s, %m {axis = 0, masked = 1} }
  return %y })ir",
                  {Count({45})});
}

TEST(Lanes, RefusesWhatVectorizeLoopsRemoves) {
  EXPECT_THROW(CompiledProgram(R"ir(
fn @f(%x: [n]i64) entry { vector for %i in 0 to %n step 1 { store %x[%i], 1 } return })ir"),
               ir::Failure);
  EXPECT_THROW(CompiledProgram(R"ir(
fn @f(%x: [n]i64) -> i64 entry {
  %s: i64 = lanes (%i) in 0 to %n add from 0 tree(lanes 4) { %e: i64 = load %x[%i]  yield %e }
  return %s })ir"),
               ir::Failure);
}

}  // namespace
}  // namespace parakeet::backends
