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

namespace parakeet::passes {
namespace {

using ir::OpCode;

constexpr int kArrays = 3;
constexpr int64_t kBytesOfRow = kArrays * 3 * 8;

int Number(Random& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

// A program under construction: its text, and a number for each value.
struct Text {
  std::string all;
  int values = 0;
  std::string Value() { return "%v" + std::to_string(values++); }
};

std::string Array(int k, const std::string& suffix) {
  return "%" + std::string(1, char('a' + k)) + suffix;
}

// Adds up elements around an iteration's own, of the array that is stored to its own alone.
void AddNest(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string i = text.Value(), j = text.Value();
  text.all += "    foreach (" + i + ", " + j + ") in (%h, 1) {\n";
  const auto index = [&](const std::string& from, int moved) {
    const std::string value = text.Value();
    text.all += "      " + value + ": i64 = add " + from + ", " + std::to_string(moved) + "\n";
    return value;
  };
  std::string sum = "0.5";
  for (int loads = Number(random, 1, 3); loads > 0; --loads) {
    const int array = Number(random, 0, kArrays - 1);
    const bool is_own = array == stored;
    const std::string row = index(i, is_own ? 2 : Number(random, 0, 4));
    const std::string column = index(j, is_own ? 1 : Number(random, 0, 2));
    const std::string element = text.Value(), half = text.Value(), next = text.Value();
    text.all += "      " + element + ": f64 = load " + Array(array, suffix) + "[" + row + ", " +
                column + "]\n      " + half + ": f64 = mul 0.375, " + element + "\n      " + next +
                ": f64 = add " + sum + ", " + half + "\n";
    sum = next;
  }
  const std::string row = index(i, 2), column = index(j, 1);
  text.all +=
      "      store " + Array(stored, suffix) + "[" + row + ", " + column + "], " + sum + " }\n";
}

// Stores one row, of another array's row beside it and of what the step has for all.
void AddRow(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string j = text.Value(), element = text.Value(), sum = text.Value();
  const bool is_last = Number(random, 0, 1) == 1;
  const std::string beside = Number(random, 0, 1) == 0 ? "%1" : "%0";
  text.all += "    foreach (" + j + ") in (3) {\n      " + element + ": f64 = load " +
              Array((stored + 1) % kArrays, suffix) + "[" + (is_last ? "%before" : beside) + ", " +
              j + "]\n      " + sum + ": f64 = add %wave, " + element + "\n      store " +
              Array(stored, suffix) + "[" + (is_last ? "%last" : "%0") + ", " + j + "], " + sum +
              " }\n";
}

// Adds up elements of rows around an iteration's own, where the first row lies behind the last.
void AddRing(Text& text, int stored, const std::string& suffix, Random& random) {
  const std::string i = text.Value(), j = text.Value();
  text.all += "    foreach (" + i + ", " + j + ") in (%n, 3) {\n";
  std::string sum = "%wave";
  for (int loads = Number(random, 1, 2); loads > 0; --loads) {
    const int other = (stored + Number(random, 1, kArrays - 1)) % kArrays;
    const bool is_before = Number(random, 0, 1) == 0;
    const std::string moved = text.Value(), is_in = text.Value(), around = text.Value(),
                      row = text.Value(), element = text.Value(), half = text.Value(),
                      next = text.Value();
    const std::string by = std::to_string(Number(random, 0, 3));
    text.all += "      " + moved + ": i64 = " + (is_before ? "sub " : "add ") + i + ", " + by +
                "\n      " + is_in + ": bool = " + (is_before ? "ge " : "lt ") + moved + ", " +
                (is_before ? "0" : "%n") + "\n      " + around +
                ": i64 = " + (is_before ? "add " : "sub ") + moved + ", %n\n      " + row +
                ": i64 = select " + is_in + ", " + moved + ", " + around + "\n      " + element +
                ": f64 = load " + Array(other, suffix) + "[" + row + ", " + j + "]\n      " + half +
                ": f64 = mul 0.375, " + element + "\n      " + next + ": f64 = add " + sum + ", " +
                half + "\n";
    sum = next;
  }
  text.all += "      store " + Array(stored, suffix) + "[" + i + ", " + j + "], " + sum + " }\n";
}

// Sizes are asked for where rows beside the first and the last are: `n` is 5 or more.
std::string RandomProgram(Random& random) {
  Text text;
  text.all =
      "fn @f(%a: [n][3]f64 c, %b: [n][3]f64 c, %c: [n][3]f64 c, %steps: i64) -> f64 entry {\n"
      "  %h: i64 = sub %n, 4\n  %last: i64 = sub %n, 1\n"
      "  %before: i64 = sub %n, 2\n  %0: i64 = mul 0, %n\n  %1: i64 = add %0, 1\n";
  const int turning = Number(random, 0, 2);  // 0: none; else so many of the others and %a
  std::string results, carried, yielded;
  const std::string inside = turning > 0 ? ".t" : "";
  for (int k = 0; k <= turning && turning > 0; ++k) {
    const std::string comma = k > 0 ? ", " : "";
    results += comma + Array(k, ".r") + ": [n][3]f64";
    carried += comma + Array(k, ".t") + ": [n][3]f64 = " + Array(k, "");
    yielded += comma + Array((k + 1) % (turning + 1), ".t");
  }
  const std::string comma = turning > 0 ? ", " : "";
  text.all += "  " + results + comma + "%last.number: f64 = for %t in 0 to %steps step 1 (" +
              carried + comma +
              "%number: f64 = 0.5) {\n    %time: f64 = cast %t\n"
              "    %wave: f64 = add %time, %number\n    %next.number: f64 = mul %wave, 0.25\n";
  for (int nests = Number(random, 1, 3); nests > 0; --nests) {
    const int stored = Number(random, 0, kArrays - 1);
    const size_t from = text.all.size();
    const int kind = Number(random, 0, 5);
    (kind == 0 ? AddRow : kind < 3 ? AddRing : AddNest)(text, stored, "@", random);
    // What is not carried has its name from outside.
    std::string& all = text.all;
    for (size_t at = from; (at = all.find('@', at)) != std::string::npos;)
      all.replace(at, 1, turning > 0 && all[at - 1] - 'a' <= turning ? inside : "");
  }
  return text.all + "    yield " + yielded + comma + "%next.number }\n  return %last.number }\n";
}

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
    const std::string text = RandomProgram(random);
    const ir::Program program = ir::Parse(text);
    Context context;
    context.options.tiled = {.of_band = Number(random, 1, 40) * kBytesOfRow, .of_thread = 0};
    const ir::Program after =
        RunPipeline(program, ir::Stage::kIndexed, {"tile-steps"}, context, {.verify = true})
            .program;
    if (after.functions == program.functions) continue;
    const ir::Program backwards = WithOtherBands(after, false);
    const ir::Program without = WithOtherBands(after, true);
    tiled += backwards.functions != after.functions;
    for (const int64_t rows : {5, 17, 40, 97}) {
      ir::Values values = RandomArguments(*program.functions[0], {.sizes = {rows}}, random);
      values.back() = ir::Constant::Int(Number(random, 0, 13));
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
