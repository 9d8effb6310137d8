// Functions that call one another twice, level by level: written out, each level would double the
// program.
#include <gtest/gtest.h>

#include <string>

#include "ir/interpreter.h"
#include "ir/parser.h"
#include "ir/uses.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"

namespace parakeet::passes {
namespace {

// @f0 calls @f1 twice, ..., and the last adds 1 to its argument; `levels` of them.
ir::Program Chain(int levels, bool checks) {
  std::string text = checks ? "site 0 ValueError \"too large\"\n" : "";
  for (int level = 0; level < levels; ++level) {
    const std::string next = "@f" + std::to_string(level + 1);
    text += "fn @f" + std::to_string(level) + "(%x: f64) -> f64" + (level == 0 ? " entry" : "");
    text += " {\n  %y: f64 = call " + next +
            "(%x) at (1)\n  %z: f64 = mul %y, 0.5\n  %w: f64 = " + "call " + next +
            "(%z) at (2)\n  return %w }\n";
  }
  text += "fn @f" + std::to_string(levels) + "(%x: f64) -> f64 {\n";
  if (checks) text += "  %ok: bool = lt %x, 8.0\n  check %ok, site 0 at (1)\n";
  return ir::Parse(text + "  %y: f64 = add %x, 1.0\n  return %y }\n");
}

size_t CountBindings(const ir::Program& program) {
  size_t count = 0;
  for (const ir::Function* function : program.functions)
    ir::ForEachBinding(*function->body, [&](const ir::Binding&) { ++count; });
  return count;
}

ir::Program Inlined(const ir::Program& program) {
  Context context;
  return RunPipeline(program, ir::Stage::kParallel, {"inline-calls"}, context, {.verify = true})
      .program;
}

ir::RunResult RunAt(const ir::Program& program, double x) {
  return ir::Interpret(program, "f0", {ir::Constant::Float(x)});
}

TEST(InlinedChain, AShortOneIsOneFunction) {
  const ir::Program inlined = Inlined(Chain(10, false));
  EXPECT_EQ(inlined.functions.size(), 1u);
  EXPECT_EQ(CountBindings(inlined), (size_t{1} << 10) + ((size_t{1} << 10) - 1));
}

TEST(InlinedChain, ALongOneStaysShort) {
  for (const int levels : {20, 40, 80}) {
    const ir::Program inlined = Inlined(Chain(levels, false));
    EXPECT_GT(inlined.functions.size(), 1u);
    EXPECT_LT(CountBindings(inlined), 20'000u) << levels;
  }
}

TEST(InlinedChain, GivesTheSame) {
  const ir::Program chain = Chain(18, false);
  const ir::RunResult before = RunAt(chain, 3.0);
  const ir::RunResult after = RunAt(Inlined(chain), 3.0);
  ASSERT_FALSE(before.error || after.error);
  EXPECT_EQ(std::get<ir::Constant>(before.values[0]), std::get<ir::Constant>(after.values[0]));
}

// The place of a check says which call of which level it stands in, also where calls stay.
TEST(InlinedChain, FailsAtTheSamePlace) {
  const ir::Program chain = Chain(18, true);
  for (const double x : {7.5, 9.0}) {
    const ir::RunResult before = RunAt(chain, x);
    const ir::RunResult after = RunAt(Inlined(chain), x);
    ASSERT_EQ(before.error.has_value(), after.error.has_value()) << x;
    if (before.error) EXPECT_EQ(before.error->place, after.error->place) << x;
  }
}

}  // namespace
}  // namespace parakeet::passes
