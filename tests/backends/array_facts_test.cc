#include "backends/llvm/array_facts.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/uses.h"

namespace parakeet::backends {
namespace {

// The facts of the value with this hint, wherever it is defined.
class Facts {
 public:
  explicit Facts(std::string_view text, bool as_entry = true)
      : program_(ir::Parse(text)), analysis_(*program_.functions[0], as_entry) {
    const ir::Function& function = *program_.functions[0];
    for (const ir::Param& param : function.params) vars_[std::string(param.var->hint)] = param.var;
    ir::ForEachBinding(*function.body, [&](const ir::Binding& binding) {
      for (const ir::Var* var : binding.results) vars_[std::string(var->hint)] = var;
      for (const ir::Block* block : binding.blocks) {
        for (const ir::Var* var : block->params) vars_[std::string(var->hint)] = var;
      }
    });
  }
  const ArrayFacts& Of(const std::string& name) const { return analysis_.Of(vars_.at(name)); }

 private:
  ir::Program program_;
  ArrayAnalysis analysis_;
  std::map<std::string, const ir::Var*> vars_;
};

TEST(ArrayFacts, ParametersAndAllocations) {
  const Facts facts(R"ir(
fn @f(%a: [n][m]f64 c, %b: [n][m]f64 fortran, %s: [n][m]f64,
   %l: [n]f64 fortran, %u: [n]f64 c unaligned) entry {
  %x: [n][m]f64 = alloc (%n, %m)
  %y: [n][m]f64 = alloc (%n, %m) {fortran = 1}
  return })ir");
  EXPECT_EQ(facts.Of("a").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("b").order, MemoryOrder::kFortran);
  EXPECT_EQ(facts.Of("s").order, MemoryOrder::kStrided);
  EXPECT_EQ(facts.Of("l").order, MemoryOrder::kC) << "one axis has one order";
  EXPECT_FALSE(facts.Of("u").aligned);
  EXPECT_EQ(facts.Of("x").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("y").order, MemoryOrder::kFortran);
  std::set<int> roots;
  for (const char* name : {"a", "b", "s", "l", "u", "x", "y"}) {
    EXPECT_EQ(facts.Of(name).roots.size(), 1u);
    roots.insert(*facts.Of(name).roots.begin());
  }
  EXPECT_EQ(roots.size(), 7u) << "all are distinct memory";
}

constexpr std::string_view kOverlapping = R"ir(
fn @f(%a: [n]f64 c, %b: [n]f64 c) entry may_overlap {
  %x: [n]f64 = alloc (%n)
  return })ir";

TEST(ArrayFacts, ParametersThatMayOverlapAreOneRoot) {
  const Facts facts(kOverlapping);
  EXPECT_EQ(facts.Of("a").roots, facts.Of("b").roots);
  EXPECT_NE(facts.Of("a").roots, facts.Of("x").roots);
}

TEST(ArrayFacts, ParametersOfACalleeAreOneRoot) {
  const Facts facts(R"ir(
fn @f(%a: [n]f64 c, %b: [n]f64 c) { %x: [n]f64 = call @f(%a, %b)  return })ir",
                    /*as_entry=*/false);
  EXPECT_EQ(facts.Of("a").roots, facts.Of("b").roots);
  EXPECT_TRUE(facts.Of("x").anywhere);
}

TEST(ArrayFacts, LoopsKeepWhatAllThatTheyCarryHaveInCommon) {
  const Facts facts(R"ir(
fn @f(%n: i64, %p: [n][n]f64) entry {
  %u: [n][n]f64 = alloc (%n, %n)
  %v: [n][n]f64 = alloc (%n, %n)
  %x: [n][n]f64, %y: [n][n]f64, %z: [n][n]f64 = for %t in 0 to %n step 1
      (%a: [n][n]f64 = %u, %b: [n][n]f64 = %v, %c: [n][n]f64 = %u) {
    %new: [n][n]f64 = alloc (%n, %n)
    yield %b, %new, %p }
  return })ir");
  EXPECT_EQ(facts.Of("a").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("x").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("a").roots.size(), 3u) << "u, then v, then new";
  EXPECT_EQ(facts.Of("b").roots.size(), 2u);
  EXPECT_EQ(facts.Of("y").roots, facts.Of("b").roots);
  EXPECT_EQ(facts.Of("c").order, MemoryOrder::kStrided) << "a strided parameter comes around";
  EXPECT_EQ(facts.Of("z").order, MemoryOrder::kStrided);
}

TEST(ArrayFacts, WhileLoopsToo) {
  const Facts facts(R"ir(
fn @f(%n: i64) entry {
  %u: [n]f64 = alloc (%n)
  %v: [n]f64 = alloc (%n)
  %x: [n]f64, %y: [n]f64 = while (%a: [n]f64 = %u, %b: [n]f64 = %v) {
    %go: bool = gt %n, 3  yield %go } do (%c: [n]f64, %d: [n]f64) { yield %d, %c }
  return })ir");
  for (const char* name : {"a", "b", "c", "d", "x", "y"}) {
    EXPECT_EQ(facts.Of(name).order, MemoryOrder::kC) << name;
    EXPECT_EQ(facts.Of(name).roots.size(), 2u) << name;
  }
}

TEST(ArrayFacts, Views) {
  const Facts facts(R"ir(
fn @f(%a: [n][m]f64 c, %b: [n][m]f64 fortran, %k: i64) entry {
  %line: [k]f64 = view %a offset (1, 0) strides ((0), (1))
  %rows: [k][m]f64 = view %a offset (1, 0) strides ((1, 0), (0, 1))
  %part: [k][3]f64 = view %a offset (1, 0) strides ((1, 0), (0, 1))
  %even: [k]f64 = view %a offset (0, 0) strides ((0), (2))
  %turned: [m][n]f64 = view %a offset (0, 0) strides ((0, 1), (1, 0))
  %flat: [k]f64 = view %b offset (0) strides ((1)) {flat = 1}
  %column: [n]f64 = view %b offset (0, 0) strides ((1), (0))
  %joined: [k]f64 = if true { yield %line } else { yield %even }
  return })ir");
  EXPECT_EQ(facts.Of("line").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("rows").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("part").order, MemoryOrder::kRows);
  EXPECT_EQ(facts.Of("even").order, MemoryOrder::kStrided);
  EXPECT_EQ(facts.Of("turned").order, MemoryOrder::kStrided);
  EXPECT_EQ(facts.Of("flat").order, MemoryOrder::kC);
  EXPECT_EQ(facts.Of("column").order, MemoryOrder::kStrided);
  EXPECT_EQ(facts.Of("joined").order, MemoryOrder::kStrided);
  EXPECT_EQ(facts.Of("rows").roots, facts.Of("a").roots);
}

}  // namespace
}  // namespace parakeet::backends
