#include "ir/interpreter.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "ir/uses.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::ir {
namespace {

std::vector<InterpreterCase> AllCases() {
  std::vector<InterpreterCase> all;
  for (auto cases : {OperatorCases(), MemoryCases(), ControlCases(), LaneCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

TEST(Interpreter, Cases) {
  for (InterpreterCase& run : AllCases()) {
    EXPECT_EQ(Show(RunText(run.text, std::move(run.arguments))), run.expected) << run.name;
  }
}

TEST(Interpreter, CasesUseEveryOperation) {
  std::set<OpCode> used;
  for (const InterpreterCase& run : AllCases()) {
    const Program program = Parse(run.text);
    for (const Function* function : program.functions) {
      ForEachBinding(*function->body, [&](const Binding& binding) { used.insert(binding.op); });
    }
  }
  for (int i = 0; i < NumOps(); ++i) {
    const OpCode op = static_cast<OpCode>(i);
    EXPECT_TRUE(IsScalarOp(op) || used.contains(op)) << Name(op) << " has no case";
  }
}

// Every scalar operation runs through the interpreter to what Evaluate says: here, on ones.
TEST(Interpreter, EveryScalarOperation) {
  for (int i = 0; i < NumOps() && IsScalarOp(static_cast<OpCode>(i)); ++i) {
    const OpCode op = static_cast<OpCode>(i);
    const bool bits = op == OpCode::kNot || op == OpCode::kAnd || op == OpCode::kOr ||
                      op == OpCode::kXor || op == OpCode::kShl || op == OpCode::kShr ||
                      op == OpCode::kPopCount || op == OpCode::kBitLength ||
                      op == OpCode::kTrailingZeros;
    const std::string dtype = bits ? "i32" : "f64";
    std::string result = InfoOf(op).rule == TypeRule::kBool ? "bool" : dtype;
    if (op == OpCode::kMakeComplex) result = "c128";
    if (op == OpCode::kCast) result = "i8";
    if (op == OpCode::kBitcast) result = "i64";
    std::string operands = op == OpCode::kSelect ? "true" : "%x";
    if (op > OpCode::kCast) operands += ", %x";
    if (op > OpCode::kMakeComplex) operands += ", %x";
    const std::string text = "fn @f(%x: " + dtype + ") -> " + result + " { %y: " + result + " = " +
                             std::string(Name(op)) + " " + operands + " return %y }";
    const DType operand = *DTypeFromName(dtype);
    const RunResult run = RunText(text, {ConstantOf(operand, 1)});
    ASSERT_EQ(run.values.size(), 1u) << text;
    EXPECT_EQ(std::string(Name(std::get<Constant>(run.values[0]).dtype)), result);
  }
}

TEST(Interpreter, ViewsAndArgumentsComeBackAsThemselves) {
  constexpr char kText[] =
      "fn @f(%x: [h][w]i64) -> ([h][w]i64, [w]i64, [h][w]i64, [3][2]i64) {"
      "  %v: [w]i64 = slice %x[1, 0:%w:1]"
      "  %y: [h][w]i64 = map (%e: i64 in %x) { yield %e }"
      "  %r: [3][2]i64 = reshape %x"
      "  return %x, %v, %y, %r }";
  const ArrayValue x = Count({2, 3});
  const RunResult run = RunText(kText, {x});
  const auto array = [&](int i) { return std::get<ArrayValue>(run.values[i]); };
  EXPECT_EQ(array(0).data, x.data);
  EXPECT_EQ(array(0).storage, x.storage);
  EXPECT_EQ(array(1).data, x.data + 24);
  EXPECT_EQ(array(1).storage, x.storage);
  EXPECT_NE(array(2).storage, x.storage);
  EXPECT_EQ(array(3).data, x.data);
}

TEST(Interpreter, OperatorsMakeNewArrays) {
  constexpr char kText[] =
      "fn @f(%x: [1][w]i64) -> ([w]i64, [w]i64) {"
      "  %a: [w]i64 = reduce (%r: [w]i64 in %x) { yield %r } combine (%p: [w]i64, %q: [w]i64) { "
      "yield %q }"
      "  %init: [w]i64 = slice %x[0, 0:%w:1]"
      "  %b: [w]i64 = ireduce (%i) in (0) from %init { yield %init } combine (%p: [w]i64, %q: "
      "[w]i64) { yield %q }"
      "  return %a, %b }";
  const ArrayValue x = Count({1, 2});
  const RunResult run = RunText(kText, {x});
  EXPECT_EQ(Show(run), "[0 1], [0 1]");
  for (const RuntimeValue& value : run.values) {
    EXPECT_NE(std::get<ArrayValue>(value).storage, x.storage);
  }
}

TEST(Interpreter, MapsMakeFortranOrderWhereTheySaySo) {
  constexpr char kText[] =
      "fn @f(%x: [2][3]i64) -> ([2][3]i64, [2][3]i64, [2][3]i64) {"
      "  %a: [2][3]i64 = map (%e: i64 in %x) {fortran = 1} { yield %e }"
      "  %b: [2][3]i64 = imap (%i, %j) in (2, 3) {fortran = 1} { yield %i }"
      "  %c: [2][3]i64 = map (%e: i64 in %a) { yield %e }"
      "  return %a, %b, %c }";
  const RunResult run = RunText(kText, {Count({2, 3})});
  const auto strides = [&](int k) { return std::get<ArrayValue>(run.values[k]).strides; };
  EXPECT_EQ(strides(0), (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(strides(1), (std::vector<int64_t>{8, 16}));
  EXPECT_EQ(strides(2), (std::vector<int64_t>{24, 8}));
}

// NumPy's rule: a view where strides can say it, else a copy.
TEST(Interpreter, ReshapeCopiesOnlyWhereItMust) {
  const auto shares = [](std::string_view view, std::string_view sizes) {
    const ArrayValue x = Count({4, 6});
    const std::string text = "fn @f(%x: [h][w]i64) -> " + std::string(sizes) + "i64 { " +
                             std::string(view) + " %r: " + std::string(sizes) +
                             "i64 = reshape %v return %r }";
    return std::get<ArrayValue>(RunText(text, {x}).values[0]).storage == x.storage;
  };
  EXPECT_TRUE(shares("%v: [4][3]i64 = slice %x[0:4:1, 0:3:2]", "[2][2][3]"));
  EXPECT_TRUE(shares("%v: [4][3]i64 = slice %x[0:4:1, 0:3:2]", "[12]"));
  EXPECT_FALSE(shares("%v: [4][3]i64 = slice %x[0:4:1, 0:3:1]", "[12]"));
  EXPECT_FALSE(shares("%v: [6][4]i64 = transpose %x {perm = [1, 0]}", "[24]"));
  EXPECT_TRUE(shares("%v: [6][4]i64 = transpose %x {perm = [1, 0]}", "[3][1][2][2][2]"));
  EXPECT_TRUE(shares("%v: [4][1]i64 = slice %x[0:4:1, 2:1:1]", "[2][2]"));
  EXPECT_TRUE(shares("%v: [0][6]i64 = slice %x[0:0:1, 0:6:1]", "[3][0]"));
}

TEST(Interpreter, UnalignedStridedAndForeignMemory) {
  std::vector<std::byte> memory(1 + 3 * 12);
  ArrayValue x{DType::kF64, nullptr, memory.data() + 25, {3}, {-12}};
  for (int i = 0; i < 3; ++i) StoreElement(Constant::Float(i + 0.5), x.data - 12 * i);
  constexpr char kText[] =
      "fn @f(%x: [n]f64) -> (f64, [n]f64) {"
      "  %s: f64 = ireduce (%i) in (%n) add from 0.0 { %e: f64 = load %x[%i] yield %e }"
      "  store %x[2], %s"
      "  return %s, %x }";
  const RunResult run = RunText(kText, {x});
  EXPECT_EQ(Show(run), "4.5, [0.5 1.5 4.5]");
  EXPECT_EQ(std::get<ArrayValue>(run.values[1]).storage, nullptr);
  EXPECT_EQ(LoadElement(DType::kF64, memory.data() + 1).real, 4.5);
}

TEST(Interpreter, EveryDTypeIsStoredAndLoaded) {
  for (const char* dtype : {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16",
                            "f32", "f64", "c64", "c128"}) {
    const std::string name = dtype;
    const std::string text = "fn @f(%v: " + name + ") -> " + name + " { %a: [2]" + name +
                             " = alloc (2) store %a[1], %v %r: " + name +
                             " = load %a[1] return %r }";
    const DType type = *DTypeFromName(name);
    Constant value = ConstantOf(type, -1);
    if (IsComplex(type)) value.imag = 2.5;
    EXPECT_EQ(std::get<Constant>(RunText(text, {value}).values[0]), value) << name;
  }
}

TEST(Interpreter, StoresBeforeAnErrorStay) {
  constexpr char kText[] =
      "site 0 IndexError \"\""
      "fn @f(%x: [n]i64) {"
      "  foreach (%i) in (%n) { %ok: bool = lt %i, 2 check %ok, site 0 at (%i) store %x[%i], 7 }"
      "  return }";
  const ArrayValue x = Count({4});
  EXPECT_EQ(Show(RunText(kText, {x})), "error 0 at (2) with ()");
  EXPECT_EQ(Show(RuntimeValue(x)), "[7 7 2 3]");
}

TEST(Interpreter, CheckOfAMaskFailsAtItsFirstFalseLane) {
  constexpr char kText[] =
      "site 0 IndexError \"\""
      "fn @f(%k: i64) {"
      "  %i: i64x4 = iota %n: i64x4 = splat %k %m: boolx4 = lt %i, %n"
      "  check %m, site 0 at (3, %i) with (%k)"
      "  return }";
  EXPECT_EQ(Show(RunText(kText, {I64(4)})), "");
  EXPECT_EQ(Show(RunText(kText, {I64(2)})), "error 0 at (3, 2) with (2)");
}

TEST(Interpreter, EndlessRecursionAndImpossibleSizesAreErrors) {
  constexpr char kEndless[] =
      "fn @f(%n: i64) -> i64 { %go: bool = ge %n, 0 %r: i64 = if %go { %m: i64 = add %n, 1 %s: i64 "
      "= call @f(%m) "
      "yield %s } else { yield 0 } return %r }";
  EXPECT_EQ(Show(RunText(kEndless, {I64(0)})), "error -2 at () with (1001)");
  constexpr char kHuge[] = "fn @f(%n: i64) { %x: [%n][%n]f64 = alloc (%n, %n) return }";
  EXPECT_EQ(Show(RunText(kHuge, {I64(int64_t{1} << 31)})), "error -1 at () with (-1)");
  EXPECT_EQ(Show(RunText(kHuge, {I64(int64_t{1} << 29)})),
            "error -1 at () with (2305843009213693952)");
}

TEST(Interpreter, LoopsNearTheEndOfTheIntegersEnd) {
  constexpr char kText[] =
      "fn @f(%lo: i64, %hi: i64) -> (i64, i64) {"
      "  %up: i64 = for %i in %lo to %hi step 3 (%k: i64 = 0) { %n: i64 = add %k, 1 yield %n }"
      "  %down: i64 = for %i in %hi to %lo step -3 (%k: i64 = 0) { %n: i64 = add %k, 1 yield %n }"
      "  return %up, %down }";
  const int64_t greatest = INT64_MAX;
  EXPECT_EQ(Show(RunText(kText, {I64(greatest - 4), I64(greatest)})), "2, 2");
  EXPECT_EQ(Show(RunText(kText, {I64(greatest - 6), I64(greatest)})), "2, 2");
  EXPECT_EQ(Show(RunText(kText, {I64(5), I64(5)})), "0, 0");
}

std::string BugOf(std::string_view text, Values arguments) {
  try {
    RunText(text, std::move(arguments));
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::kBug);
    return failure.what();
  }
  return "no bug";
}

TEST(Interpreter, ProgramsThatBreakTheirPromisesAreBugs) {
  EXPECT_EQ(BugOf("fn @f(%x: [n]f64) -> f64 { %e: f64 = load %x[%n] return %e }",
                  {F64Array({2}, {1, 2})}),
            "index 2 is out of range for axis 0 of size 2: a check is missing before the access");
  EXPECT_EQ(BugOf("fn @f(%n: i64) { %x: [3]f64 = alloc (%n) return }", {I64(2)}),
            "result 0 of alloc has sizes (2), but its type says (3)");
  EXPECT_EQ(BugOf("fn @f(%x: [n]f64, %y: [n]f64) { return }",
                  {F64Array({1}, {1}), F64Array({2}, {1, 2})}),
            "argument 1 of @f has sizes (2), but its type says (1)");
  EXPECT_EQ(
      BugOf("fn @f(%x: [n]f64, %n: i64) -> [2]f64 { return %x }", {F64Array({1}, {1}), I64(1)}),
      "result 0 of @f has sizes (1), but its type says (2)");
  EXPECT_EQ(BugOf("fn @f(%x: [n]f64, %n: i64) { return }", {F64Array({1}, {1}), I64(2)}),
            "argument 0 of @f has sizes (1), but its type says (2)");
  EXPECT_EQ(BugOf("fn @f(%x: f32) { return }", {F64(1)}), "argument 0 of @f is not of its type");
  EXPECT_EQ(BugOf("fn @f() { %x: i64 = call @g() return }", {}), "the program has no function @g");
  EXPECT_EQ(BugOf("fn @f(%x: i64) { %y: i64 = sqrt %x return }", {I64(4)}),
            "sqrt does not take operands of i64 to i64");
  EXPECT_EQ(BugOf("fn @f(%x: [n]i64) -> i64 { %a: i64 = reduce (%e: i64 in %x) add { yield %e } "
                  "return %a }",
                  {Count({0})}),
            "a reduction of nothing has no init: a check is missing");
  EXPECT_EQ(BugOf("fn @f(%x: [n]i64) { %v: [2]i64 = slice %x[1:2:1] return }", {Count({2})}),
            "a view reaches from 1 to 2 on an axis of size 2");
}

TEST(Interpreter, FreedAndUnwrittenMemoryShows) {
  constexpr char kText[] =
      "fn @f() -> (u8, u8) { %x: [1]u8 = alloc (1) %a: u8 = load %x[0] free %x %b: u8 = load %x[0] "
      "return %a, %b }";
  EXPECT_EQ(Show(RunText(kText, {})), "203, 221");
}

TEST(Interpreter, FreesNoArgumentAndNoBufferThatGoesOn) {
  constexpr char kText[] =
      "fn @f(%x: [1]i64, %c: bool) -> (i64, i64) { %y: [1]i64 = alloc (1) store %y[0], 7 "
      "%v: [1]i64 = if %c { yield %y } else { yield %x } free %v unless (%y) free %v "
      "%a: i64 = load %x[0] %b: i64 = load %y[0] return %a, %b }";
  EXPECT_EQ(Show(RunText(kText, {I64Array({1}, {5}), Constant::Bool(false)})), "5, 7");
  EXPECT_EQ(Show(RunText(kText, {I64Array({1}, {5}), Constant::Bool(true)})),
            "5, -2459565876494606883");
}

TEST(Interpreter, FreeingTwiceIsABug) {
  EXPECT_EQ(BugOf("fn @f() { %x: [1]u8 = alloc (1) free %x free %x return }", {}),
            "a buffer is freed twice");
}

}  // namespace
}  // namespace parakeet::ir
