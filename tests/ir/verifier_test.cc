#include "ir/verifier.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>
#include <set>

#include "ir/builder.h"
#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "tests/ir/interpreter_cases.h"
#include "tests/ir/samples.h"

namespace parakeet::ir {
namespace {

constexpr Stage kP = Stage::kParallel;
constexpr Stage kI = Stage::kIndexed;
constexpr Stage kS = Stage::kScheduled;

TEST(Verifier, AcceptsTheSamples) {
  for (const auto& [stage, text] : Samples()) {
    for (const std::string& message : Verify(Parse(text), stage)) ADD_FAILURE() << message;
  }
}

// A program that breaks one invariant, and what the message says is found.
struct Broken {
  Invariant invariant;
  Stage stage;
  const char* found;
  const char* text;
};
void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.text; }

#define PARAMS "%x: [n]f64, %m: [h][w]f64, %t: [3]f64, %i: i64, %c: bool, %e: f64"
#define FN(body) "site 0 IndexError \"index {} of {}\" fn @f(" PARAMS ") { " body " return }"
#define V4 "%v: f64x4 = splat %e %k: i64x4 = iota %b: boolx4 = lt %k, %k "

const Broken kBroken[] = {
    // --- Values ---
    {Invariant::kSizesOutlive, kP, "%k is defined inside",
     FN("%r: [n][3]f64 = imap (%a) in (%n) { %k: i64 = add %a, 1 %y: [k]f64 = alloc (%k) yield %y "
        "}")},
    {Invariant::kTypesAreSound, kP, "f64x4", "fn @f(%v: f64x4) { return }"},
    {Invariant::kTypesAreSound, kP, "size -1", FN("%y: [-1]f64 = alloc (-1)")},
    {Invariant::kTypesAreSound, kP, "size %e", FN("%y: [e]f64 = alloc (%n)")},
    // --- Operations ---
    {Invariant::kStageAllows, kI, "not allowed at the stage indexed",
     FN("%y: [n]f64 = map (%a: f64 in %x) { yield %a }")},
    {Invariant::kStageAllows, kP, "not allowed at the stage parallel",
     FN("foreach (%a) in (%n) { }")},
    {Invariant::kStageAllows, kS, "not allowed at the stage scheduled",
     FN("%y: [n]i64 = imap (%a) in (%n) { yield %a }")},
    {Invariant::kTypesMatch, kI, "matches are of integers of at most 4 bytes",
     FN("%p: u32 = match %x[%i]")},
    {Invariant::kIndexFits, kI, "a shuffle takes a full index and a lane",
     FN("%p: f64 = shuffle %x[%i]")},
    {Invariant::kTypesMatch, kI, "the lane is f64; expected i64",
     FN("%p: f64 = shuffle %x[%i], %e")},
    {Invariant::kTypesMatch, kP, "the operation takes no such operands",
     FN("%p: u32 = bitcast %e")},
    {Invariant::kAttributesFit, kP, "attribute fortran is of another kind",
     FN("%y: [n]f64 = alloc (%n) {fortran = \"yes\"}")},
    {Invariant::kAttributesFit, kP, "unknown entry in axes",
     FN("%y: [n]f64 = generic slice %x, 0, 1, 1 {axes = \"q\"}")},
    {Invariant::kAttributesFit, kP, "perm is no permutation",
     FN("%y: [w][h]f64 = transpose %m {perm = [1, 1]}")},
    {Invariant::kAttributesFit, kP, "perm is no permutation",
     FN("%y: [w][h]f64 = transpose %m {perm = [1, 2]}")},
    {Invariant::kAttributesFit, kP, "lanes of a power of two",
     FN("%s: f64 = reduce (%a: f64 in %x) add tree(lanes 3) { yield %a }")},
    {Invariant::kAttributesFit, kI, "`free` counts more indexes",
     FN("%s: f64 = contract (%a) in (%n) add { yield %e }")},
    {Invariant::kBlocksMatch, kI, "what follows the sum takes is 1 values; expected 2",
     FN("%s: [n]f64 = contract (%a) in (%n) add {free = 1} { yield %e } then (%s: f64) { yield %s "
        "}")},
    {Invariant::kTypesMatch, kI, "result 0 is",
     FN("%s: [n]f64 = contract (%a) in (%n) add {free = 1} { yield %e } then (%r: i64, %s: f64) { "
        "yield %r }")},
    {Invariant::kAttributesFit, kI, "it has no region", FN("mark %n, %n")},
    {Invariant::kTypesMatch, kI, "the second number is f64; expected i64",
     FN("mark %n, %e {region = 0}")},
    {Invariant::kAttributesFit, kS, "`lanes` is missing",
     FN("%s: f64 = lanes (%a) in 0 to %n add from 0.0 { yield %e }")},
    {Invariant::kAttributesFit, kS, "`axis` is no axis",
     FN("%v: f64x4 = load_lanes %x[%i] {axis = 1}")},
    {Invariant::kAttributesFit, kP, "`at` counts more operands",
     FN("generic check %c {site = 0, at = 2}")},
    {Invariant::kCountsMatch, kP, "expected 2 operands", FN("copy %x")},
    {Invariant::kCountsMatch, kP, "expected 1 results", FN("alloc (3)")},
    {Invariant::kCountsMatch, kP, "expected 2 blocks",
     FN("%s: f64 = reduce (%a: f64 in %x) { yield %a }")},
    {Invariant::kCountsMatch, kP, "axes and operands differ",
     FN("%y: [n]f64 = generic slice %x, 0 {axes = \"r\"}")},
    {Invariant::kCountsMatch, kP, "an initial value a result",
     FN("generic for 0, 3, 1, %e (%a: i64) { }")},
    {Invariant::kCountsMatch, kP, "an initial value a result",
     FN("generic while %e () { yield %c } () { }")},
    {Invariant::kCountsMatch, kI, "an offset and coefficients",
     FN("%y: [n]f64 = view %m offset (0) strides ((1))")},
    {Invariant::kCountsMatch, kS, "indexes, value and mask",
     FN(V4 "%l: f64x4 = gather_lanes %x[%k], %b")},
    {Invariant::kTypesMatch, kP, "takes no such operands", FN("%y: f64 = add %e, %i")},
    {Invariant::kTypesMatch, kP, "takes no such operands", FN("%y: f64 = add %e")},
    {Invariant::kTypesMatch, kP, "takes no such operands", FN("%y: bool = sqrt %c")},
    {Invariant::kTypesMatch, kP, "takes no such operands", FN("%y: f64 = select %e, %e, %e")},
    {Invariant::kTypesMatch, kP, "[n]f64 is not a scalar", FN("%y: [n]f64 = add %x, %x")},
    {Invariant::kTypesMatch, kS, "of other lanes", FN(V4 "%y: f64x4 = add %v, %e")},
    {Invariant::kTypesMatch, kP, "the result is i64; expected f64", FN("%y: i64 = add %e, %e")},
    {Invariant::kTypesMatch, kP, "the result is i64; expected bool", FN("%y: i64 = lt %e, %e")},
    {Invariant::kTypesMatch, kP, "the condition is f64; expected bool",
     FN("check %e, site 0 with (1, 2)")},
    {Invariant::kTypesMatch, kP, "operand 1 is f64; expected i64",
     FN("check %c, site 0 at (%e) with (1, 2)")},
    {Invariant::kTypesMatch, kP, "operand 1 is no scalar", FN("check %c, site 0 with (%x, 2)")},
    {Invariant::kTypesMatch, kP, "operand 1 is f64; expected i64",
     FN("%s: i64 = broadcast_size %n, %e, site 0")},
    {Invariant::kTypesMatch, kP, "operand 0 is no array", FN("%y: [n]f64 = reshape %e")},
    {Invariant::kTypesMatch, kP, "expected 1 axes of f64", FN("%y: [n]f32 = reshape %x")},
    {Invariant::kTypesMatch, kP, "the result has fewer axes", FN("%y: [w]f64 = broadcast %m")},
    {Invariant::kTypesMatch, kP, "the result is [n]f64; expected [h][w]f64",
     FN("%y: [n]f64 = ascribe %m")},
    {Invariant::kTypesMatch, kP, "other axes than the sizes", FN("%y: [n]f64 = alloc (%n, %n)")},
    {Invariant::kTypesMatch, kP, "the source is [n]f64; expected [h][w]f64", FN("copy %x, %m")},
    {Invariant::kTypesMatch, kP, "the result is f32; expected f64", FN("%y: f32 = load %x[%i]")},
    {Invariant::kTypesMatch, kP, "the value stored is i64; expected f64", FN("store %x[%i], %i")},
    {Invariant::kTypesMatch, kP, "result 0 is [n]f32; expected [n]f64",
     FN("%y: [n]f32 = map (%a: f64 in %x) { yield %a }")},
    {Invariant::kTypesMatch, kP, "result 0 is f64; expected [n]f64",
     FN("%y: f64 = imap (%a) in (%n) { yield %e }")},
    {Invariant::kTypesMatch, kP, "an initial value is i64; expected f64",
     FN("%s: f64 = ireduce (%a) in (%n) add from 0 { yield %e }")},
    {Invariant::kTypesMatch, kP, "the condition is i64; expected bool", FN("if %i { }")},
    {Invariant::kTypesMatch, kP, "operand 0 is f64; expected i64",
     FN("for %a in %e to 3 step 1 { }")},
    {Invariant::kTypesMatch, kS, "the operand is no vector", FN("%y: f64 = low_half %e")},
    {Invariant::kTypesMatch, kS, "an odd number of lanes",
     FN("%v: f64x3 = splat %e %y: f64 = low_half %v")},
    {Invariant::kTypesMatch, kS, "the result is f64; expected f64x2",
     FN(V4 "%y: f64 = high_half %v")},
    {Invariant::kTypesMatch, kS, "the result is f64x4; expected f64x8",
     FN(V4 "%y: f64x4 = interleave %v, %v")},
    {Invariant::kTypesMatch, kS, "an operand is f64x2; expected f64x4",
     FN(V4 "%z: f64x2 = low_half %v %y: f64x4 = slide %v, %z {by = 1}")},
    {Invariant::kAttributesFit, kS, "`by` is not within the lanes",
     FN(V4 "%y: f64x4 = slide %v, %v {by = 4}")},
    {Invariant::kAttributesFit, kS, "flat lanes go forwards, each to its own element",
     FN("%y: f64x4 = load_lanes %x[%i] {axis = 0, step = -1, flat = 1}")},
    {Invariant::kAttributesFit, kS, "`phase` is not below `repeat`",
     FN("%y: f64x4 = load_lanes %x[%i] {axis = 0, repeat = 2, phase = 2}")},
    {Invariant::kTypesMatch, kS, "the operand is f64x4; expected boolx4",
     FN(V4 "%y: bool = any %v")},
    {Invariant::kTypesMatch, kS, "the operand is f64x4; expected boolx4",
     FN(V4 "%y: i64 = first_lane %v")},
    {Invariant::kTypesMatch, kS, "the result is no vector", FN("%y: f64 = load_lanes %x[%i]")},
    {Invariant::kTypesMatch, kS, "the value is no vector", FN("store_lanes %x[%i], %e")},
    {Invariant::kTypesMatch, kS, "the mask is f64x4; expected boolx4",
     FN(V4 "store_lanes %x[%i], %v, %v {masked = 1}")},
    {Invariant::kTypesMatch, kS, "the result is f32x4, of f64", FN("%y: f32x4 = splat %e")},
    {Invariant::kBlocksMatch, kP, "more elements than there are arrays",
     FN("%y: [n]f64 = generic map %x (%a: f64, %b: f64) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "fewer elements than there are arrays",
     FN("%y: [n]f64 = generic map %x, %x (%a: f64) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "no index space in common",
     FN("%y: [n]f64 = map (%a: f64 in %x, %b: f64 in %m) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "no index space in common",
     FN("%y: [n]f64 = map (%a: [n]f64 in %x) { yield %e }")},
    {Invariant::kBlocksMatch, kP, "an element is i64; expected f64",
     FN("%y: [n]i64 = map (%a: i64 in %x) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "more or fewer values than there are results",
     FN("%y: [n]f64 = imap (%a) in (%n) { yield %e, %e }")},
    {Invariant::kBlocksMatch, kP, "fewer indexes than extents",
     FN("%y: [n]f64 = generic imap %n, %n (%a: i64) { yield %e }")},
    {Invariant::kBlocksMatch, kP, "an index is f64; expected i64",
     FN("%y: [n]f64 = generic imap %n (%a: f64) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "differ in number",
     FN("%s: f64 = ireduce (%a) in (%n) add from (0.0, 0.0) { yield %e }")},
    {Invariant::kBlocksMatch, kP, "what the combine takes is 1 values; expected 2",
     FN("%s: f64 = ireduce (%a) in (%n) { yield %e } combine (%l: f64) { yield %l }")},
    {Invariant::kBlocksMatch, kP, "what the combine yields is i64; expected f64",
     FN("%s: f64 = ireduce (%a) in (%n) { yield %e } combine (%l: f64, %r: f64) { yield %i }")},
    {Invariant::kBlocksMatch, kP, "a scan runs over one index",
     FN("%y: [h][w]f64 = iscan (%a, %b) in (%h, %w) add { yield %e }")},
    {Invariant::kBlocksMatch, kP, "a scan runs along one axis",
     FN("%y: [h][w]f64 = scan (%a: f64 in %m) add { yield %a }")},
    {Invariant::kBlocksMatch, kP, "what the block yields is f64; expected bool",
     FN("%k: i64, %y: [k]f64 = filter (%a: f64 in %x) { yield %a }")},
    {Invariant::kBlocksMatch, kP, "expected a count",
     FN("%k: i64 = filter (%a: f64 in %x) { yield %c }")},
    {Invariant::kBlocksMatch, kI, "yields no bool first",
     FN("%k: i64 = ifilter (%a) in (%n) { yield %e }")},
    {Invariant::kBlocksMatch, kI, "what the block yields is 1 values; expected 0",
     FN("foreach (%a) in (%n) { yield %e }")},
    {Invariant::kBlocksMatch, kP, "what a branch yields is i64; expected f64",
     FN("%y: f64 = if %c { yield %i } else { yield %e }")},
    {Invariant::kBlocksMatch, kP, "what the body yields is 0 values; expected 1",
     FN("%y: f64 = for %a in 0 to 3 step 1 (%s: f64 = %e) { }")},
    {Invariant::kBlocksMatch, kP, "what the condition yields is f64; expected bool",
     FN("while { yield %e } do { }")},
    {Invariant::kBlocksMatch, kP, "what the body takes is i64; expected f64",
     FN("%y: f64 = while (%a: f64 = %e) { yield %c } do (%a: i64) { yield %e }")},
    {Invariant::kIndexFits, kP, "1 entries for 2 axes",
     FN("%y: [w]f64 = generic slice %m, 0, %w, 1 {axes = \"r\"}")},
    {Invariant::kIndexFits, kP, "1 operands for 2 axes", FN("%y: f64 = generic load %m, %i")},
    {Invariant::kIndexFits, kP, "more indexes than axes", FN("%y: f64 = load %x[%i], %i")},
    {Invariant::kIndexFits, kP, "more or fewer indexes than axes", FN("store %x[%i], %i, %e")},
    {Invariant::kIndexFits, kP, "an index is f64", FN("%y: f64 = load %x[%e]")},
    {Invariant::kIndexFits, kS, "an index is i64x4", FN(V4 "%y: f64x4 = load_lanes %x[%k]")},
    {Invariant::kIndexFits, kS, "an index of other lanes",
     FN("%k: i64x2 = iota %y: f64x4 = gather_lanes %x[%k]")},
    {Invariant::kSizesAgree, kP, "size 4 where 3 is expected", FN("%y: [4]f64 = alloc (3)")},
    {Invariant::kSizesAgree, kP, "size 2 where 3 is expected", FN("%y: [2]f64 = slice %x[0:3:1]")},
    {Invariant::kSizesAgree, kP, "size 2 where 1 is expected",
     FN("%y: [2][3]f64 = slice %t[new, 0:3:1]")},
    {Invariant::kSizesAgree, kP, "size 2 where 3 is expected",
     FN("%y: [2]f64 = transpose %t {perm = [0]}")},
    {Invariant::kSizesAgree, kP, "size 2 where 3 is expected", FN("%y: [2]f64 = broadcast %t")},
    {Invariant::kSizesAgree, kP, "differ in the count of elements",
     FN("%y: [2][2]f64 = reshape %t")},
    {Invariant::kSizesAgree, kP, "size 2 where 3 is expected",
     FN("%u: [2]f64 = alloc (2) %y: [3]f64 = map (%a: f64 in %t, %b: f64 in %u) { yield %a }")},
    {Invariant::kSizesAgree, kP, "is not the count",
     FN("%k: i64, %y: [n]f64 = filter (%a: f64 in %x) { yield %c }")},
    {Invariant::kStepIsConstant, kP, "the step is %i", FN("for %a in 0 to 3 step %i { }")},
    {Invariant::kStepIsConstant, kP, "the step is 0", FN("for %a in 0 to 3 step 0 { }")},
    {Invariant::kSiteExists, kP, "no such site", FN("check %c, site 1 with (1, 2)")},
    {Invariant::kSiteExists, kP, "no such site", FN("check %c at () with (1, 2)")},
    {Invariant::kSiteExists, kP, "1 scalars for 2 holes", FN("check %c, site 0 with (1)")},
    {Invariant::kSiteExists, kP, "no such site",
     FN("%s: i64 = broadcast_size %n, %h, site 4 at (1)")},
    {Invariant::kCallFits, kP, "no such function", FN("call @g()")},
    {Invariant::kCallFits, kP, "other numbers of parameters", FN("call @f(%x)")},
    {Invariant::kCallFits, kP, "argument 0 is f64; expected [n]f64",
     FN("call @f(%e, %m, %t, %i, %c, %e)")},
    {Invariant::kCallFits, kP, "result 0 is i64; expected f64",
     "fn @f() { %y: i64 = call @g() return } fn @g() -> f64 { return 1.0 }"},
    {Invariant::kCallFits, kP, "no such routine", FN("%k: i64 = library_call @bogosort(%x)")},
    {Invariant::kCallFits, kP, "another number of operands", FN("%k: i64 = library_call @sort()")},
    {Invariant::kCallFits, kP, "operand 1 is [n]f64",
     FN("%k: i64 = library_call @argsort(%x, %x)")},
    {Invariant::kCallFits, kP, "operand 0 is f64", FN("%k: i64 = library_call @sort(%e)")},
    // --- Memory ---
    {Invariant::kStoresAreLocal, kP, "%x is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { %k: i64 = library_call @sort(%x) yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%x is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { store %x[%a], %e yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%x is of memory outside",
     FN("%y: [n]f64 = map (%a: f64 in %x) { copy %x, %x yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%r is of memory outside",
     FN("%y: [h]f64 = map (%r: [w]f64 in %m) { store %r[0], %e yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%v is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { %v: [3]f64 = slice %x[0:3:1] store %v[0], %e yield %e "
        "}")},
    {Invariant::kStoresAreLocal, kP, "%v is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { %u: [3]f64 = alloc (3)"
        " %v: [3]f64 = if %c { yield %u } else { yield %t } store %v[0], %e yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%v is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { %u: [3]f64 = alloc (3)"
        " %l: [3]f64 = for %b in 0 to 2 step 1 (%v: [3]f64 = %u) { store %v[0], %e yield %t } "
        "yield %e }")},
    {Invariant::kStoresAreLocal, kP, "%u is of memory outside",
     FN("%y: [n]f64 = imap (%a) in (%n) { %u: [3]f64 = alloc (3)"
        " %s: f64 = ireduce (%b) in (3) add { store %u[%b], %e yield %e } yield %s }")},
    {Invariant::kStoresAreLocal, kP, "%l is of memory outside",
     FN("%s: [3]f64 = ireduce (%a) in (3) { yield %t } combine (%l: [3]f64, %r: [3]f64) { store "
        "%l[0], %e yield %l }")},
    {Invariant::kFreesAreOwn, kS, "%x is never what the function allocates", FN("free %x")},
    {Invariant::kFreesAreOwn, kS, "%v is never what the function allocates",
     FN("%u: [3]f64 = alloc (3) %v: [3]f64 = if %c { yield %t } else { yield %t } "
        "free %v unless (%u)")},
    // --- Functions ---
    {Invariant::kFunctionsAreNamed, kP, "an entry comes after",
     "fn @f() { return } fn @g() entry { return }"},
    {Invariant::kResultsMatch, kP, "0 values are returned; expected 1",
     "fn @f() -> f64 { return }"},
    {Invariant::kResultsMatch, kP, "result 0 is i64; expected f64",
     "fn @f(%i: i64) -> f64 { return %i }"},
    {Invariant::kResultsMatch, kP, "result 0 is [3]f64; expected [4]f64",
     "fn @f(%x: [3]f64) -> [4]f64 { return %x }"},
    {Invariant::kResultsMatch, kS, "result 0 is f64x4",
     "fn @f() -> f64x4 { %v: f64x4 = splat 1.0 return %v }"},
};

class VerifierBroken : public testing::TestWithParam<Broken> {};

TEST_P(VerifierBroken, IsReportedOnce) {
  const Broken& broken = GetParam();
  const std::vector<std::string> messages = Verify(Parse(broken.text), broken.stage);
  ASSERT_FALSE(messages.empty()) << broken.text;
  EXPECT_EQ(messages.size(), 1) << messages.back();
  EXPECT_NE(messages[0].find(broken.found), std::string::npos) << messages[0];
  EXPECT_NE(messages[0].find(Sentence(broken.invariant)), std::string::npos) << messages[0];
}

INSTANTIATE_TEST_SUITE_P(All, VerifierBroken, testing::ValuesIn(kBroken));

// What text cannot say: values defined twice, read where they are not in scope, and constants
// beyond their dtypes.
class VerifierOfNodes : public testing::Test {
 protected:
  VerifierOfNodes() : builder_(program_.arena.get()) {}

  std::vector<std::string> Finish() {
    program_.functions.push_back(
        program_.arena->New(Function{"f", {}, {}, builder_.Finish({}, {}), false, false, {}}));
    return Verify(program_, Stage::kParallel);
  }
  void ExpectOnly(std::string_view message) {
    const std::vector<std::string> messages = Finish();
    ASSERT_EQ(messages.size(), 1);
    EXPECT_EQ(messages[0], message);
  }

  Program program_;
  Builder builder_;
};

TEST_F(VerifierOfNodes, DefinedTwice) {
  const Var* x = builder_.NewVar(DType::kI64, "x");
  builder_.Emit(OpCode::kNeg, {x}, {Operand::Int(1)});
  builder_.Emit(OpCode::kNeg, {x}, {Operand::Int(2)});
  ExpectOnly(
      "@f: `%x: i64 = neg 2`: %x is defined again (a value is defined once in its function)");
}

TEST_F(VerifierOfNodes, BlockUsedTwice) {
  Builder inner = builder_.Nested();
  inner.EmitOne(OpCode::kNeg, DType::kI64, {Operand::Int(1)});
  const Block* block = inner.Finish({}, {});
  builder_.Emit(OpCode::kIf, {}, {Operand::Bool(true)}, {}, {block, block});
  ExpectOnly("@f: `if true {`: a block is used again (a value is defined once in its function)");
}

TEST_F(VerifierOfNodes, ReadBeforeDefinition) {
  const Var* x = builder_.NewVar(DType::kI64, "x");
  builder_.EmitOne(OpCode::kNeg, DType::kI64, {x}, {}, {}, "y");
  builder_.Emit(OpCode::kNeg, {x}, {Operand::Int(2)});
  ExpectOnly(
      "@f: `%y: i64 = neg %x`: %x is not defined before"
      " (a value is read after its definition, in the same block or one inside it)");
}

TEST_F(VerifierOfNodes, ReadAfterItsBlock) {
  Builder inner = builder_.Nested();
  const Var* x = inner.EmitOne(OpCode::kNeg, DType::kI64, {Operand::Int(1)}, {}, {}, "x");
  builder_.Emit(OpCode::kIf, {}, {Operand::Bool(true)}, {},
                {inner.Finish({}, {}), builder_.Nested().Finish({}, {})});
  builder_.EmitOne(OpCode::kNeg, DType::kI64, {x}, {}, {}, "y");
  ExpectOnly(
      "@f: `%y: i64 = neg %x`: %x is defined in a block that has ended"
      " (a value is read after its definition, in the same block or one inside it)");
}

TEST_F(VerifierOfNodes, SizesAreReads) {
  const Var* n = builder_.NewVar(DType::kI64, "n");
  builder_.EmitOne(OpCode::kAlloc, Type::Array(DType::kF64, {n}), {Operand::Int(3)}, {}, {}, "y");
  ExpectOnly(
      "@f: `%y: [n]f64 = alloc (3)`: %n is not defined before"
      " (a value is read after its definition, in the same block or one inside it)");
}

TEST_F(VerifierOfNodes, ConstantsBeyondTheirDTypes) {
  const Constant wrong[] = {
      Constant::Int(300, DType::kI8),    Constant::Int(-1, DType::kU8),
      Constant::Int(2, DType::kBool),    Constant::Float(0.1, DType::kF32),
      Constant::Float(0.1, DType::kF16), Constant::Complex(1.0, 0.1, DType::kC64)};
  for (const Constant& constant : wrong)
    builder_.EmitOne(OpCode::kReal, constant.dtype, {constant});
  std::vector<std::string> messages = Finish();
  std::erase_if(messages, [](const std::string& m) {
    return m.find("a constant is a value of its dtype") == m.npos;
  });
  EXPECT_EQ(messages.size(), std::size(wrong));
}

TEST_F(VerifierOfNodes, FunctionsOfOneName) {
  program_.functions.push_back(
      program_.arena->New(Function{"f", {}, {}, program_.arena->New(Block{}), false, false, {}}));
  ExpectOnly(
      "@f: another function has this name (functions have names of their own, and only the first "
      "is an entry)");
}

TEST_F(VerifierOfNodes, ResultsOfUnknownSizes) {
  const Var* n = builder_.NewVar(DType::kI64, "n");
  const Var* y = builder_.EmitOne(OpCode::kAlloc, Type::Array(DType::kF64, {Operand::Int(3)}),
                                  {Operand::Int(3)});
  const Var* result = builder_.NewVar(Type::Array(DType::kF64, {n}));
  program_.functions.push_back(
      program_.arena->New(Function{"f", {}, {result}, builder_.Finish({}, {y}), false, false, {}}));
  const std::vector<std::string> messages = Verify(program_, Stage::kParallel);
  ASSERT_EQ(messages.size(), 1);
  EXPECT_NE(messages[0].find("result 0 has an unknown size"), std::string::npos) << messages[0];
}

TEST(Verifier, EveryInvariantHasACase) {
  // The tests of VerifierOfNodes are of these, as text cannot say them.
  std::set<Invariant> covered = {Invariant::kDefinedOnce, Invariant::kDefinedBeforeUse,
                                 Invariant::kConstantsFit};
  for (const Broken& broken : kBroken) covered.insert(broken.invariant);
#define PARAKEET_INVARIANT(name, sentence) \
  EXPECT_TRUE(covered.contains(Invariant::k##name)) << sentence;
#include "ir/invariants.def"
}

// What is near to being refused, and is not.
TEST(Verifier, AcceptsStoresToItsOwnMemory) {
  const Program program = Parse(
      "fn @f(%t: [3]f64, %c: bool) -> [3][3]f64 {"
      "  %y: [3][3]f64 = imap (%a) in (3) {"
      "    %u: [3]f64 = alloc (3)  %w: [3]f64 = alloc (3)"
      "    %v: [3]f64 = if %c { yield %u } else { yield %w }"
      "    %p: [3]f64, %q: [3]f64 = for %b in 0 to 2 step 1 (%k: [3]f64 = %u, %l: [3]f64 = %v) {"
      "      store %k[0], 1.0 store %l[0], 1.0 yield %l, %k }"
      "    store %p[1], 2.0"
      "    yield %q }"
      "  if %c { store %t[0], 1.0 }"
      "  for %b in 0 to 2 step 1 { store %t[%b], 1.0 }"
      "  return %y }");
  EXPECT_EQ(Verify(program, kP), std::vector<std::string>());
}

// A store to one of two arrays that an `if` joins is no store to the other.
TEST(Verifier, ReadsJoinedWithLocalsDoNotTaintThem) {
  const Program program = Parse(
      "fn @f(%t: [3]f64, %c: bool) -> [3]f64 {"
      "  %y: [3]f64 = imap (%a) in (3) {"
      "    %u: [3]f64 = alloc (3)"
      "    store %u[0], 1.0"
      "    %v: [3]f64 = if %c { yield %u } else { yield %t }"
      "    %s: f64 = load %v[0]"
      "    yield %s }"
      "  return %y }");
  EXPECT_EQ(Verify(program, kP), std::vector<std::string>());
}

TEST(Verifier, SizesGivenByValuesAreTrusted) {
  const Program program = Parse("fn @f(%x: [n]f64, %y: [m]f64) { copy %x, %y return }");
  EXPECT_EQ(Verify(program, kP), std::vector<std::string>());
}

TEST(Verifier, FailsAsABugThatNamesWhoMadeIt) {
  try {
    VerifyOrFail(Parse("fn @f(%x: f64) -> f64 { %y: f64 = add %x, 1 return %y }"), kP,
                 "fuse_vertically");
    ADD_FAILURE() << "the program is not valid";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), FailureKind::kBug);
    EXPECT_STREQ(failure.what(),
                 "the program is not valid at the stage parallel after fuse_vertically\n"
                 "  @f: `%y: f64 = add %x, 1`: the operation takes no such operands"
                 " (operands and results have the types of the operation's rule)");
  }
  VerifyOrFail(Parse("fn @f() { return }"), kP);
}

// The programs that the interpreter is tested with are valid, but that they mix stages.
TEST(Verifier, AcceptsTheInterpretersCases) {
  for (const auto& cases : {OperatorCases(), MemoryCases(), ControlCases(), LaneCases()}) {
    for (const InterpreterCase& run : cases) {
      for (const std::string& message : Verify(Parse(run.text), kS)) {
        const bool of_stage = message.find("not allowed at the stage") != std::string::npos;
        EXPECT_TRUE(of_stage) << run.name << ": " << message;
      }
    }
  }
}

// Whatever parses is answered, and what is refused is never refused without a reason.
TEST(Verifier, MutatedProgramsNeverCrash) {
  std::mt19937 random(11);
  int valid = 0, broken = 0;
  for (const auto& [stage, text] : Samples()) {
    for (int round = 0; round < 700; ++round) {
      try {
        const std::vector<std::string> messages = Verify(Parse(Mutated(text, random)), stage);
        ++(messages.empty() ? valid : broken);
      } catch (const Failure& failure) {
        ASSERT_EQ(failure.exception(), "ParseError") << failure.what();
      }
    }
  }
  EXPECT_GT(valid, 10);
  EXPECT_GT(broken, 10);
}

TEST(Verifier, KeepsTwentyMessages) {
  std::string text = "fn @f(%x: f64) {";
  for (int i = 0; i < 100; ++i) text += " %" + std::to_string(i) + ": i64 = neg %x";
  EXPECT_EQ(Verify(Parse(text + " }"), kP).size(), 20);
}

}  // namespace
}  // namespace parakeet::ir
