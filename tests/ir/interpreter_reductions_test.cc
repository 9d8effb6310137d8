#include <gtest/gtest.h>

#include <string>

#include "ir/reduction_tree.h"
#include "tests/ir/interpreter_cases.h"

namespace parakeet::ir {
namespace {

// Neither associates nor commutes, so that a result names the tree that made it.
int64_t Mix(int64_t a, int64_t b) {
  const uint64_t mixed = static_cast<uint64_t>(a) * 1000003 + static_cast<uint64_t>(b) * 7 + 1;
  return static_cast<int64_t>(mixed);
}

constexpr char kCombine[] =
    " combine (%l: i64, %r: i64) { %a: i64 = mul %l, 1000003 %b: i64 = mul %r, 7 %c: i64 = add %a, "
    "%b "
    "%d: i64 = add %c, 1 yield %d }";

int64_t IntOf(const RunResult& run) { return std::get<Constant>(run.values.at(0)).integer; }

// Reduces e(i, j) = 10 i + j over (h, w) by Mix.
int64_t Reduce(int64_t h, int64_t w, const std::string& tree, const std::string& from = "") {
  const std::string text =
      "fn @f(%h: i64, %w: i64) -> i64 { %s: i64 = ireduce (%i, %j) in (%h, %w) " + from + " " +
      tree + "{ %t: i64 = mul %i, 10 %e: i64 = add %t, %j yield %e }" + kCombine + " return %s }";
  return IntOf(RunText(text, {I64(h), I64(w)}));
}

TEST(ReductionOrder, WithoutATreeItIsTheLeftFold) {
  EXPECT_EQ(Reduce(2, 2, ""), Mix(Mix(Mix(0, 1), 10), 11));
  EXPECT_EQ(Reduce(2, 2, "", "from 5"), Mix(Mix(Mix(Mix(5, 0), 1), 10), 11));
  EXPECT_EQ(Reduce(2, 2, "tree(block 0, lanes 1)", "from 5"), Reduce(2, 2, "", "from 5"));
  EXPECT_EQ(Reduce(0, 2, "tree(block 4)", "from 5"), 5);
}

TEST(ReductionOrder, LongRowsAreCutIntoColumns) {
  // One row of 5 by blocks of 2: parts (0 1) (2 3) (4), then ((p0 p1) p2), then init.
  const int64_t parts = Mix(Mix(Mix(0, 1), Mix(2, 3)), 4);
  EXPECT_EQ(Reduce(1, 5, "tree(block 2)"), parts);
  EXPECT_EQ(Reduce(1, 5, "tree(block 2)", "from 9"), Mix(9, parts));
  // Two rows of 3 by blocks of 2: parts (0 1) (2) (10 11) (12).
  EXPECT_EQ(Reduce(2, 3, "tree(block 2)"), Mix(Mix(Mix(0, 1), 2), Mix(Mix(10, 11), 12)));
}

TEST(ReductionOrder, ShortRowsShareABlock) {
  // Five rows of 2 by blocks of 4: two rows a part; each row is folded, then the rows.
  const auto row = [](int64_t i) { return Mix(10 * i, 10 * i + 1); };
  const int64_t p0 = Mix(row(0), row(1));
  const int64_t p1 = Mix(row(2), row(3));
  EXPECT_EQ(Reduce(5, 2, "tree(block 4)"), Mix(Mix(p0, p1), row(4)));
  // A block that is no multiple of the row takes the whole rows that fit.
  EXPECT_EQ(Reduce(5, 2, "tree(block 5)"), Mix(Mix(p0, p1), row(4)));
  EXPECT_EQ(Reduce(3, 2, "tree(block 100)"), Mix(Mix(row(0), row(1)), row(2)));
}

TEST(ReductionOrder, LanesWithoutIdentityStartFromTheFirstElement) {
  // Lane 0 takes 0, 2, 4 after the first element; lane 1 takes 1, 3 after it too.
  const int64_t lane0 = Mix(Mix(Mix(0, 0), 2), 4);
  const int64_t lane1 = Mix(Mix(0, 1), 3);
  EXPECT_EQ(Reduce(1, 5, "tree(block 0, lanes 2)"), Mix(lane0, lane1));
  EXPECT_EQ(Reduce(1, 5, "tree(block 8, lanes 2)", "from 3"), Mix(3, Mix(lane0, lane1)));
  // Runs of a row each, whose second starts from its own first element.
  const auto run = [](int64_t i) { return Mix(Mix(10 * i, 10 * i), Mix(10 * i, 10 * i + 1)); };
  EXPECT_EQ(Reduce(2, 2, "tree(block 0, lanes 2)"), Mix(run(0), run(1)));
  // Four lanes combine by halves.
  const auto lane = [](int64_t j) { return Mix(0, j); };
  EXPECT_EQ(Reduce(1, 4, "tree(lanes 4)"), Mix(Mix(lane(0), lane(2)), Mix(lane(1), lane(3))));
}

TEST(ReductionOrder, LanesCombineThePartsWhereBlocksGrow) {
  const auto lane = [](int64_t j) { return Mix(0, j); };
  const auto part = [&](int64_t first) { return Mix(Mix(first, first), Mix(first, first + 1)); };
  // Parts (0 1), (2 3), (4). Lane 0 takes the first and the third, lane 1 the second.
  const int64_t lane0 = Mix(Mix(part(0), part(0)), Mix(4, 4));
  const int64_t lane1 = Mix(part(0), part(2));
  EXPECT_EQ(Reduce(1, 5, "tree(block 2 to 2, lanes 2)"), Mix(lane0, lane1));
  EXPECT_EQ(Reduce(1, 2, "tree(block 4 to 8, lanes 2)"),
            Mix(Mix(Mix(lane(0), lane(1)), Mix(lane(0), lane(1))), Mix(lane(0), lane(1))));
}

TEST(ReductionOrder, LanesStartFromTheIdentity) {
  constexpr char kText[] =
      "fn @f(%x: [n]f64) -> (f64, f64) {"
      "  %s: f64, %p: f64 = ireduce (%i) in (%n) (add, mul) tree(block 4, lanes 4) {"
      "    %e: f64 = load %x[%i] yield %e, %e }"
      "  return %s, %p }";
  const std::vector<double> e = {1e16, 1, -1e16, 1, 0.1, 0.2};
  const RunResult run = RunText(kText, {F64Array({6}, e)});
  // Parts (0 1 2 3) and (4 5 and two idle lanes); each combines lanes as (l0 + l2) + (l1 + l3).
  const double sum = ((e[0] + e[2]) + (e[1] + e[3])) + ((e[4] + -0.0) + (e[5] + -0.0));
  const double product = ((e[0] * e[2]) * (e[1] * e[3])) * ((e[4] * 1) * (e[5] * 1));
  EXPECT_EQ(std::get<Constant>(run.values[0]).real, sum);
  EXPECT_EQ(std::get<Constant>(run.values[1]).real, product);
}

TEST(ReductionOrder, AMinimumOfMixedAccumulatorsStartsFromTheFirstElement) {
  constexpr char kText[] =
      "fn @f(%x: [n]i64) -> (i64, i64) {"
      "  %v: i64, %k: i64 = ireduce (%i) in (%n) tree(block 4, lanes 2) {"
      "    %e: i64 = load %x[%i] yield %e, %i } combine (%a: i64, %i: i64, %b: i64, %j: i64) {"
      "    %less: bool = lt %a, %b %same: bool = eq %a, %b %first: bool = le %i, %j %tie: bool = "
      "and %same, %first"
      "    %left: bool = or %less, %tie"
      "    %v: i64 = select %left, %a, %b %k: i64 = select %left, %i, %j yield %v, %k }"
      "  return %v, %k }";
  EXPECT_EQ(Show(RunText(kText, {I64Array({7}, {5, 3, 9, 2, 4, 2, 8})})), "2, 3");
}

TEST(ReductionOrder, ScansByBlocks) {
  constexpr char kHead[] = "fn @f(%x: [n]i64) -> [n]i64 { %s: [n]i64 = scan (%e: i64 in %x) ";
  const auto scan = [&](const std::string& clauses) {
    const RunResult run =
        RunText(kHead + clauses + "{ yield %e }" + kCombine + " return %s }", {Count({5})});
    const ArrayValue& array = std::get<ArrayValue>(run.values[0]);
    std::vector<int64_t> elements;
    for (int64_t i = 0; i < 5; ++i) {
      elements.push_back(LoadElement(array.dtype, array.data + 8 * i).integer);
    }
    return elements;
  };
  const int64_t t0 = Mix(0, 1);
  const int64_t t1 = Mix(2, 3);
  EXPECT_EQ(scan(""), (std::vector<int64_t>{0, t0, Mix(t0, 2), Mix(Mix(t0, 2), 3),
                                            Mix(Mix(Mix(t0, 2), 3), 4)}));
  EXPECT_EQ(scan("tree(block 2)"),
            (std::vector<int64_t>{0, t0, Mix(t0, 2), Mix(t0, t1), Mix(Mix(t0, t1), 4)}));
  EXPECT_EQ(scan("from 9 tree(block 2)"),
            (std::vector<int64_t>{Mix(9, 0), Mix(9, t0), Mix(Mix(9, t0), 2), Mix(Mix(9, t0), t1),
                                  Mix(Mix(Mix(9, t0), t1), 4)}));
}

// Every index is in exactly one part, in order of parts, whatever the shape.
TEST(ReductionTree, PartsCoverTheSpaceOnce) {
  for (int64_t rows : {0, 1, 2, 3, 7}) {
    for (int64_t inner : {0, 1, 2, 5, 8, 9}) {
      for (int64_t block : {0, 1, 2, 4, 8, 100}) {
        const ReductionTree tree({rows, inner}, block);
        std::vector<int> seen(rows * inner, 0);
        int64_t largest = 0;
        for (int64_t p = 0; p < tree.shape().parts; ++p) {
          const TreePart part = tree.Part(p);
          largest = std::max(largest, (part.last_row - part.first_row) * (part.hi - part.lo));
          for (int64_t row = part.first_row; row < part.last_row; ++row) {
            for (int64_t i = part.lo; i < part.hi; ++i) ++seen[row * inner + i];
          }
        }
        for (int count : seen) EXPECT_EQ(count, 1) << rows << "x" << inner << " by " << block;
        if (block > 0) {
          EXPECT_LE(largest, block);
        }
      }
    }
  }
  EXPECT_EQ(ReductionTree({}, 4).shape().parts, 1);
  EXPECT_EQ(ReductionTree({3, 5, 4}, 8).shape().parts, 8);
}

TEST(ReductionTree, BlocksGrowUpToTheMost) {
  EXPECT_EQ(ReductionTree({4096}, 4, 16).shape().parts, 1024);
  EXPECT_EQ(ReductionTree({4097}, 4, 16).shape().parts, 513);
  EXPECT_EQ(ReductionTree({8193}, 4, 16).shape().parts, 513);
  EXPECT_EQ(ReductionTree({160'000}, 4, 16).shape().parts, 10'000);
  EXPECT_EQ(ReductionTree({160'000}, 4).shape().parts, 40'000);
  const TreePart last = ReductionTree({8193}, 4, 16).Part(512);
  EXPECT_EQ(last.lo, 8192);
  EXPECT_EQ(last.hi, 8193);
}

TEST(ReductionTree, NeverHasMoreThanTheMostBlocks) {
  EXPECT_EQ(ReductionTree({262'144}, 4, 16).shape().parts, 16384);
  EXPECT_EQ(ReductionTree({262'145}, 4, 16).shape().parts, 13108);
  const ReductionTree long_one({100'000'000'000}, 4096, 8192);
  EXPECT_EQ(long_one.shape().parts, 16375);
  EXPECT_EQ(long_one.Part(0).hi % 4096, 0);
}

}  // namespace
}  // namespace parakeet::ir
