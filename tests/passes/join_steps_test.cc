// Time loops of nests chosen at random, several of them in one kernel: elements have the bits that
// they have step by step, and no two iterations touch one element of which one stores.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/pass_manager.h"
#include "tests/passes/outcome.h"
#include "tests/passes/random_time_loops.h"

namespace parakeet::passes {
namespace {

using ir::OpCode;

constexpr int kColumns = 9;

// Leaves out the loop over pairs of kernels; counts what stands in it.
class WithoutKernels : public ir::Mutator {
 public:
  using Mutator::Mutator;
  int loops = 0;

 protected:
  void Visit(const ir::Binding* b) override {
    if (b->op != OpCode::kFor || !b->attrs.Has(ir::Attr::kCost)) return Mutator::Visit(b);
    ++loops;
    ir::Binding none = *b;
    none.operands[1] = none.operands[0];
    builder().Append(arena()->New(std::move(none)));
  }
};

TEST(JoinSteps, NoBitChanges) {
  Random random(20261129);
  int joined = 0, ran = 0;  // programs, and runs of kernels
  for (int round = 0; round < 100; ++round) {
    const std::string text = RandomTimeLoop(random, kColumns);
    const ir::Program program = ir::Parse(text);
    Context context;
    context.options.joined = {.least = 0, .repeated = RandomNumber(random, 1, 3)};
    const ir::Program after =
        RunPipeline(program, ir::Stage::kIndexed, {"join-steps"}, context, {.verify = true})
            .program;
    if (after.functions == program.functions) continue;
    ++joined;
    ir::Program without = after;
    WithoutKernels mutator(after.arena.get());
    without.functions[0] = mutator.Run(after.functions[0]);
    ASSERT_EQ(mutator.loops, 1) << ir::Print(after);
    for (const int64_t rows : {5, 17, 30}) {
      ir::Values values = RandomArguments(*program.functions[0], {.sizes = {rows}}, random);
      values.back() = ir::Constant::Int(RandomNumber(random, 0, 15));
      const Outcome expected = RunOn(program, values);
      ASSERT_EQ(expected.bug, "") << text;
      ASSERT_EQ(Difference(expected, RunOn(after, values), kExactly), "") << text;
      ran += !Difference(expected, RunOn(without, values), kExactly).empty();
    }
  }
  EXPECT_GT(joined, 40);
  EXPECT_GT(ran, 40);
}

}  // namespace
}  // namespace parakeet::passes
