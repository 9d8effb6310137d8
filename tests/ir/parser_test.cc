#include "ir/parser.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "ir/diagnostics.h"
#include "ir/equal.h"
#include "ir/printer.h"
#include "tests/ir/samples.h"

namespace parakeet::ir {
namespace {

std::string ErrorOf(std::string_view text) {
  try {
    Parse(text);
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::kUserError);
    EXPECT_EQ(failure.exception(), "ParseError");
    return failure.what();
  }
  return "no error";
}

TEST(Parser, SaysWhereAndWhatItExpected) {
  EXPECT_EQ(ErrorOf("fn f"), "1:4: expected a function's name, found f");
  EXPECT_EQ(ErrorOf("fn @f() {\n  %x: i64 = neg %y }"), "2:17: unknown value, found %y");
  EXPECT_EQ(ErrorOf("fn @f() {\n  %x: i64 = frob 1 }"), "2:18: unknown operation frob, found 1");
  EXPECT_EQ(ErrorOf("fn @f() { return"), "1:17: expected a value or a constant, found the end");
  EXPECT_EQ(ErrorOf("fn @f() { %x: i65 = neg 1 }"), "1:15: unknown type, found i65");
  EXPECT_EQ(ErrorOf("fn @f() { %x: [n]f64 = alloc (3) }"), "1:16: unknown size, found n");
  EXPECT_EQ(ErrorOf("fn @f() { } fn @f() { }"),
            "1:18: a function of this name came before, found (");
  EXPECT_EQ(ErrorOf("fn @f() { %x: i8 = neg 300:i8 }"), "1:24: unexpected character");
  EXPECT_EQ(ErrorOf("site 1 IndexError \"\""),
            "1:8: expected rows numbered from 0, in order, found IndexError");
}

TEST(Parser, RefusesShadowing) {
  EXPECT_EQ(ErrorOf("fn @f(%x: i64) { %x: i64 = neg 1 }"), "1:26: %x is defined already, found =");
  EXPECT_EQ(ErrorOf("fn @f(%x: i64) { foreach (%x) in (3) { } }"),
            "1:29: %x is defined already, found )");
  EXPECT_EQ(ErrorOf("fn @f() { foreach (%i) in (3) { } foreach (%i) in (3) { } }"), "no error");
}

TEST(Parser, RefusesTextThatNestsTooDeep) {
  std::string text = "fn @f() {";
  for (int i = 0; i < 100000; ++i) text += " if true {";
  EXPECT_NE(ErrorOf(text).find("blocks are nested too deep"), std::string::npos);
}

// Constants read back with the same bits.
TEST(Parser, ConstantsKeepTheirBits) {
  const std::vector<std::string> texts = {"0",
                                          "-9223372036854775808",
                                          "9223372036854775807",
                                          "18446744073709551615:u64",
                                          "-128:i8",
                                          "255:u8",
                                          "0.0",
                                          "-0.0",
                                          "0.1",
                                          "1e+22",
                                          "1e-05",
                                          "123456.0",
                                          "5e-324",
                                          "1.7976931348623157e+308",
                                          "inf",
                                          "-inf",
                                          "nan",
                                          "-nan",
                                          "nan:0x7ff8000000000001",
                                          "nan:0x7ff0000000000001",
                                          "0.1:f32",
                                          "1e-45:f32",
                                          "3.4028235e+38:f32",
                                          "nan:f32",
                                          "-inf:f32",
                                          "0.5:f16",
                                          "true",
                                          "false",
                                          "(1.0,-0.0):c128",
                                          "(0.1,nan):c64",
                                          "(-inf,nan:0x7ff8000000000002):c128"};
  for (const std::string& text : texts) {
    const Program program = Parse("fn @f() { return " + text + " }");
    EXPECT_EQ(Print(program), "fn @f() {\n  return " + text + " }\n");
    EXPECT_TRUE(Equal(Parse(Print(program)), program));
  }
}

TEST(Parser, FloatsOfRandomBitsSurvive) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    const uint64_t bits = random();
    double wide;
    float narrow;
    const uint32_t low = static_cast<uint32_t>(bits);
    std::memcpy(&wide, &bits, sizeof wide);
    std::memcpy(&narrow, &low, sizeof narrow);
    for (const Constant& constant : {Constant::Float(wide), Constant::Float(narrow, DType::kF32)}) {
      Program program;
      const Block* body = program.arena->New(Block{{}, {}, {constant}});
      program.functions.push_back(
          program.arena->New(Function{"f", {}, {}, body, false, false, {}}));
      EXPECT_TRUE(Equal(Parse(Print(program)), program)) << Print(program);
    }
  }
}

// Text that is nearly right fails, or parses; it never crashes. What parses prints and parses
// again.
TEST(Parser, MutatedTextNeverCrashes) {
  std::mt19937 random(7);
  int parsed = 0;
  for (const auto& [stage, text] : Samples()) {
    for (int round = 0; round < 700; ++round) {
      const std::string mutated = Mutated(text.substr(0, 3000), random);
      try {
        const Program program = Parse(mutated);
        ++parsed;
        const std::string printed = Print(program);
        ASSERT_EQ(Print(Parse(printed)), printed) << mutated;
      } catch (const Failure& failure) {
        ASSERT_EQ(failure.exception(), "ParseError") << failure.what();
      }
    }
  }
  EXPECT_GT(parsed, 100);
}

}  // namespace
}  // namespace parakeet::ir
