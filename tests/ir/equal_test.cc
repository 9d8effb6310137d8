#include "ir/equal.h"

#include <gtest/gtest.h>

#include "ir/parser.h"

namespace parakeet::ir {
namespace {

bool AreEqual(std::string_view a, std::string_view b) {
  const bool equal = Equal(Parse(a), Parse(b));
  EXPECT_EQ(Equal(Parse(b), Parse(a)), equal) << "equality is symmetric";
  return equal;
}

TEST(Equal, NamesAndSpansDoNotCount) {
  EXPECT_TRUE(AreEqual(
      "fn @f(%x: [n]f64) -> [n]f64 { %a: [n]f64 = map (%e: f64 in %x) { yield %e } return %a }",
      "source 0 \"a.py\" fn @f(%y: [m]f64) -> [m]f64 @0:1:2-3:4 {"
      " %0: [m]f64 = map (%e: f64 in %y) { yield %e } @0:5:6-7:8 return %0 }"));
}

TEST(Equal, WhichValueIsReadCounts) {
  EXPECT_FALSE(AreEqual("fn @f(%x: f64, %y: f64) { %a: f64 = sub %x, %y return }",
                        "fn @f(%x: f64, %y: f64) { %a: f64 = sub %y, %x return }"));
  EXPECT_FALSE(AreEqual("fn @f(%x: [n][n]f64) { return }", "fn @f(%x: [n][m]f64) { return }"));
  EXPECT_FALSE(
      AreEqual("fn @f(%x: [n][m]f64) { return %n }", "fn @f(%x: [n][m]f64) { return %m }"));
}

TEST(Equal, TypesAttributesConstantsAndLayoutsCount) {
  EXPECT_FALSE(AreEqual("fn @f(%x: f64) { return }", "fn @f(%x: f32) { return }"));
  EXPECT_FALSE(AreEqual("fn @f(%x: [n]f64 c) { return }", "fn @f(%x: [n]f64 fortran) { return }"));
  EXPECT_FALSE(AreEqual("fn @f(%x: [n]f64) { return }", "fn @f(%x: [n]f64 readonly) { return }"));
  EXPECT_FALSE(AreEqual("fn @f(%x: [n]f64) { return }", "fn @f(%x: [n]f64 unaligned) { return }"));
  EXPECT_FALSE(AreEqual("fn @f() { return 0.0 }", "fn @f() { return -0.0 }"));
  EXPECT_FALSE(AreEqual("fn @f() { return 1 }", "fn @f() { return 1:i32 }"));
  EXPECT_FALSE(AreEqual("fn @f() { return nan }", "fn @f() { return nan:0x7ff8000000000001 }"));
  EXPECT_TRUE(AreEqual("fn @f() { return nan }", "fn @f() { return nan }"));
  EXPECT_FALSE(AreEqual("fn @f() { %x: [3]f64 = alloc (3) return }",
                        "fn @f() { %x: [3]f64 = alloc (3) {fortran = 1} return }"));
  EXPECT_FALSE(AreEqual("fn @f() { %x: f64 = alloc (3) return }",
                        "fn @f() { %x: []f64 = alloc (3) return }"));
}

TEST(Equal, FunctionsAndSitesCount) {
  EXPECT_FALSE(AreEqual("fn @f() { }", "fn @g() { }"));
  EXPECT_FALSE(AreEqual("fn @f() { }", "fn @f() entry { }"));
  EXPECT_FALSE(AreEqual("fn @f() entry { }", "fn @f() entry may_overlap { }"));
  EXPECT_FALSE(AreEqual("fn @f() { }", "fn @f() -> i64 { }"));
  EXPECT_FALSE(AreEqual("fn @f() { }", "fn @f() { } fn @g() { }"));
  EXPECT_FALSE(AreEqual("site 0 IndexError \"a\"", "site 0 IndexError \"b\""));
  EXPECT_FALSE(AreEqual("site 0 IndexError \"a\"", "site 0 ValueError \"a\""));
}

TEST(Equal, StructureCounts) {
  EXPECT_FALSE(AreEqual("fn @f(%c: bool) { if %c { %x: i64 = neg 1 } return }",
                        "fn @f(%c: bool) { if %c { } else { %x: i64 = neg 1 } return }"));
  EXPECT_FALSE(
      AreEqual("fn @f(%c: bool) { %x: i64 = neg 1 return }", "fn @f(%c: bool) { return }"));
  EXPECT_FALSE(
      AreEqual("fn @f(%x: [n]f64) { %s: f64 = reduce (%a: f64 in %x) add { yield %a } return }",
               "fn @f(%x: [n]f64) { %s: f64 = reduce (%a: f64 in %x) mul { yield %a } return }"));
}

}  // namespace
}  // namespace parakeet::ir
