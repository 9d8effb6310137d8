// Time loops of nests chosen at random, several steps at once: whatever is done at once, and in
// whatever order bands are taken, elements have the bits that they have step by step.
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

constexpr int kTiledColumns = 3;
constexpr int64_t kBytesOfRow = int64_t{8} * kTimeLoopArrays * kTiledColumns;

// Takes the bands from the last to the first, or none.
class OtherBands : public ir::Mutator {
 public:
  OtherBands(ir::Arena* arena, bool takes_none) : Mutator(arena), takes_none_(takes_none) {}
  int bands = 0;

 protected:
  void Visit(const ir::Binding* b) override {
    if (b->op != OpCode::kForeach || !b->attrs.Has(ir::Attr::kCost)) return Mutator::Visit(b);
    ++bands;
    ir::Binding turned = *b;
    ir::Builder block = builder().Nested();
    const ir::Var* param = block.NewVar(ir::DType::kI64);
    const ir::Operand last = block.Sub(b->operands[0], ir::Operand::Int(1));
    ir::InlineBlock(block, *b->blocks[0], {block.Sub(last, param)});
    turned.blocks = {block.Finish({param}, {})};
    if (takes_none_) turned.operands[0] = ir::Operand::Int(0);
    builder().Append(arena()->New(std::move(turned)));
  }

 private:
  const bool takes_none_;
};

// The same program where it is known to do no steps at once.
ir::Program WithOtherBands(const ir::Program& program, bool takes_none) {
  ir::Program other = program;
  OtherBands bands(program.arena.get(), takes_none);
  other.functions[0] = bands.Run(program.functions[0]);
  EXPECT_LE(bands.bands, 1) << ir::Print(program);
  return bands.bands == 0 ? program : other;
}

TEST(TileSteps, NoBitChanges) {
  Random random(20261128);
  int tiled = 0, took_bands = 0;  // programs, and runs
  for (int round = 0; round < 300; ++round) {
    const std::string text = RandomTimeLoop(random, kTiledColumns);
    const ir::Program program = ir::Parse(text);
    Context context;
    context.options.tiled = {.of_band = RandomNumber(random, 1, 40) * kBytesOfRow, .of_thread = 0};
    const ir::Program after =
        RunPipeline(program, ir::Stage::kIndexed, {"tile-steps"}, context, {.verify = true})
            .program;
    if (after.functions == program.functions) continue;
    const ir::Program backwards = WithOtherBands(after, false);
    const ir::Program without = WithOtherBands(after, true);
    tiled += backwards.functions != after.functions;
    for (const int64_t rows : {5, 17, 40, 97}) {
      ir::Values values = RandomArguments(*program.functions[0], {.sizes = {rows}}, random);
      values.back() = ir::Constant::Int(RandomNumber(random, 0, 13));
      const Outcome expected = RunOn(program, values);
      ASSERT_EQ(expected.bug, "") << text;
      ASSERT_EQ(Difference(expected, RunOn(after, values), kExactly), "") << text;
      ASSERT_EQ(Difference(expected, RunOn(backwards, values), kExactly), "") << text;
      took_bands += !Difference(expected, RunOn(without, values), kExactly).empty();
    }
  }
  EXPECT_GT(tiled, 150);
  EXPECT_GT(took_bands, 300);
}

}  // namespace
}  // namespace parakeet::passes
