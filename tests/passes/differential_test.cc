// Every pass keeps what a program means: programs of the golden files and random ones run on the
// interpreter before and after each pass of the pipeline.
#include "tests/passes/differential.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include "passes/pipelines.h"
#include "tests/passes/golden_file.h"
#include "tests/passes/random_program.h"

namespace parakeet {
namespace {

// With which power of an array's size the work of a block grows, by the loops in one another.
int GrowthOf(const ir::Block& block) {
  int growth = 0;
  for (const ir::Binding* b : block.bindings) {
    int inner = 0;
    for (const ir::Block* own : b->blocks) inner = std::max(inner, GrowthOf(*own));
    int loops = 0;
    switch (ir::InfoOf(b->op).format) {
      case ir::OpFormat::kIndices:
        for (size_t k = 0; k < b->blocks[0]->params.size(); ++k) loops += b->operands[k].IsVar();
        break;
      case ir::OpFormat::kFor: loops = b->operands[0].IsVar() || b->operands[1].IsVar(); break;
      case ir::OpFormat::kElements:
      case ir::OpFormat::kWhile: loops = 1; break;
      default:
        for (const ir::Var* result : b->results) loops = std::max(loops, result->type.rank());
    }
    growth = std::max(growth, loops + inner);
  }
  return growth;
}

// A size that takes several blocks or tiles, as far as the work allows; none where it grows fast.
std::optional<int64_t> LargeSize(const ir::Program& program) {
  for (const ir::Param& param : program.functions.front()->params) {
    if (param.var->type.rank() > 1) return std::nullopt;
  }
  int growth = 0;
  for (const ir::Function* function : program.functions)
    growth = std::max(growth, GrowthOf(*function->body));
  if (growth > 2) return std::nullopt;
  return growth == 2 ? 150 : 5000;
}

// Arguments of every kind of size, some with special floats.
std::vector<ArgumentSet> ArgumentSets(const ir::Program& program, Random& random) {
  const ir::Function& function = *program.functions.front();
  const std::vector<std::vector<int64_t>> sizes = {{0}, {1},    {2},  {3},   {7, 8},
                                                   {9}, {2, 5}, {33}, {0, 3}};
  std::vector<ir::Values> sets;
  for (const std::vector<int64_t>& choice : sizes) {
    sets.push_back(RandomArguments(function, {choice, false}, random));
    sets.push_back(RandomArguments(function, {choice, true}, random));
  }
  if (const auto large = LargeSize(program))
    sets.push_back(RandomArguments(function, {{*large}, false}, random));
  return RunOnEach(program, std::move(sets));
}

// One of each kind of size, every other one with special floats, and the largest: a pipeline runs
// them behind each of its passes.
std::vector<ArgumentSet> OneOfEachSize(const std::vector<ArgumentSet>& sets) {
  std::vector<ArgumentSet> chosen;
  for (size_t k = 0; k + 1 < sets.size(); k += 2) chosen.push_back(sets[k + k / 2 % 2]);
  if (sets.size() % 2 == 1) chosen.push_back(sets.back());
  return chosen;
}

// Two of them, and the largest: all threads of a block take long on the interpreter.
std::vector<ArgumentSet> Sample(const std::vector<ArgumentSet>& sets) {
  return {sets[0], sets[9], sets.back()};
}

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

// Behind each pass one set of arguments in so many runs: half of what `./dev test --long` does.
int OneIn(int of_all) { return FromEnvironment("PARAKEET_LONG", 0) ? of_all : 2 * of_all; }

// Bytes of a vector register of hosts, in turns. PARAKEET_REGISTERS says which, for all.
int RegistersInTurn(int k) {
  constexpr int kBytes[] = {64, 32, 16};
  return FromEnvironment("PARAKEET_REGISTERS", kBytes[k % 3]);
}

class GoldenPrograms : public testing::TestWithParam<std::string> {};

TEST_P(GoldenPrograms, MeanTheSameAfterEveryPass) {
  const GoldenFile file = ParseGoldenFile(ReadText(GoldenRoot() / GetParam()));
  int k = 0;
  for (const GoldenCase& golden : file.cases) {
    SCOPED_TRACE(golden.title);
    const int turn = RegistersInTurn(k++);
    const int bytes = file.vector_bytes == 0 ? turn : file.vector_bytes;
    SCOPED_TRACE(std::to_string(bytes) + " bytes a register");
    const ir::Program program = ir::Parse(golden.input);
    Random random(1);
    const std::vector<ArgumentSet> sets = ArgumentSets(program, random);
    const std::vector<std::string_view> own(file.passes.begin(), file.passes.end());
    const DifferentialResult alone =
        RunDifferential(program, file.stage, own, sets, {file.kernels, 1, bytes, file.one_thread});
    EXPECT_EQ(alone.failure, "");
    EXPECT_GT(alone.runs, 0) << "no arguments are valid";
    const auto cpu = PassesFrom(passes::CpuPipeline(), file.stage);
    const DifferentialOptions options{
        .one_in = OneIn(3), .vector_bytes = bytes, .one_thread = k % 2 == 0};
    EXPECT_EQ(RunDifferential(program, file.stage, cpu, OneOfEachSize(sets), options).failure, "");
    const auto gpu = PassesFrom(passes::GpuPipeline(), file.stage);
    const DifferentialOptions kernels{true, OneIn(2)};
    EXPECT_EQ(RunDifferential(program, file.stage, gpu, Sample(sets), kernels).failure, "");
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path = info.param;
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPrograms, testing::ValuesIn(GoldenFiles()), NameOf);

// Behind every pass, on arrays of that size.
void ExpectTheSameWithEveryRegister(const ir::Program& program, int64_t size) {
  const auto passes = PassesFrom(passes::CpuPipeline(), ir::Stage::kIndexed);
  Random random(1);
  const std::vector<ArgumentSet> sets =
      RunOnEach(program, {RandomArguments(*program.functions.front(), {{size}, false}, random)});
  for (const int bytes : {16, 32, 64}) {
    SCOPED_TRACE(bytes);
    const DifferentialOptions options{.vector_bytes = bytes};
    EXPECT_EQ(RunDifferential(program, ir::Stage::kIndexed, passes, sets, options).failure, "");
  }
}

// Rows that are packed, of tiles as high as registers of any host make them.
TEST(Contractions, MeanTheSameWithRegistersOfEverySize) {
  ExpectTheSameWithEveryRegister(ir::Parse(R"(
fn @f(%x: [13][9]f64 c, %y: [9][n]f64 c) -> [13][n]f64 entry {
  %r: [13][n]f64 = contract (%i, %j, %k) in (13, %n, 9) add from 0.0 {free = 2} {
    %a: f64 = load %x[%i, %k]
    %b: f64 = load %y[%k, %j]
    %c: f64 = neg %b
    %d: f64 = mul %a, %c
    yield %d }
  return %r })"),
                                 210);
}

// A contraction of `depth` steps: the indices by which each operand is read, and the combine.
struct Contraction {
  const char* dtypes[2];   // of the operands
  const char* sizes[2];    // "[m][k]"; k is the depth
  const char* indices[2];  // "%i, %k"
  const char* product;     // makes %d of %a and %b, both of the result's dtype
  const char* dtype;       // of the result
  const char* combine;
  const char* start;
};

std::string TextOf(const Contraction& c, const std::string& columns, int depth) {
  const std::string steps = std::to_string(depth), dtype = c.dtype;
  const std::string result = "[13][" + columns + "]" + dtype;
  const bool is_size = columns == "n";
  const auto in = [&](std::string text) {
    const auto replace = [&](const std::string& from, const std::string& to) {
      for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, 3, to);
    };
    replace("[m]", "[13]");
    replace("[k]", "[" + steps + "]");
    return text;
  };
  const auto array = [&](int which) {
    std::string text = in(c.sizes[which]);
    if (const size_t at = text.find("[c]"); at != std::string::npos)
      text.replace(at, 3, "[" + columns + "]");
    return text + c.dtypes[which] + " c";
  };
  const auto load = [&](const std::string& name, int which, const std::string& from) {
    const std::string place = "load " + from + "[" + c.indices[which] + "]\n";
    if (c.dtypes[which] == dtype) return "    " + name + ": " + dtype + " = " + place;
    return "    " + name + "0: " + c.dtypes[which] + " = " + place + "    " + name + ": " + dtype +
           " = cast " + name + "0\n";
  };
  return "fn @f(%x: " + array(0) + ", %y: " + array(1) + (is_size ? "" : ", %z: [n]f64 c") +
         ") -> " + result + " entry {\n  %r: " + result + " = contract (%i, %j, %k) in (13, " +
         (is_size ? "%n" : columns) + ", " + steps + ") " + c.combine + " from " + c.start +
         " {free = 2} {\n" + load("%a", 0, "%x") + load("%b", 1, "%y") + c.product +
         "    yield %d }\n  return %r }";
}

constexpr const char* kTimes = "    %d: f64 = mul %a, %b\n";
constexpr const char* kTimes4 = "    %d: f32 = mul %a, %b\n";
constexpr const char* kApart = "    %c: f64 = sub %a, %b\n    %d: f64 = mul %c, %c\n";
constexpr const char* kSum = "    %d: f32 = add %a, %b\n";

// Rows and columns that lie along the sums or across them, operands of every size, and extremes,
// whose first value is not zero.
const std::vector<Contraction> kContractions = {
    {{"f64", "f64"}, {"[m][k]", "[k][c]"}, {"%i, %k", "%k, %j"}, kTimes, "f64", "add", "0.0"},
    {{"f64", "f64"}, {"[m][k]", "[c][k]"}, {"%i, %k", "%j, %k"}, kTimes, "f64", "add", "0.0"},
    {{"f64", "f64"}, {"[k][m]", "[k][c]"}, {"%k, %i", "%k, %j"}, kTimes, "f64", "add", "0.0"},
    {{"f64", "f64"}, {"[k][m]", "[c][k]"}, {"%k, %i", "%j, %k"}, kTimes, "f64", "add", "0.0"},
    {{"f32", "f32"}, {"[m][k]", "[c][k]"}, {"%i, %k", "%j, %k"}, kTimes4, "f32", "add", "0.0:f32"},
    {{"f32", "f32"}, {"[k][m]", "[k][c]"}, {"%k, %i", "%k, %j"}, kTimes4, "f32", "add", "0.0:f32"},
    {{"u8", "f64"}, {"[m][k]", "[c][k]"}, {"%i, %k", "%j, %k"}, kTimes, "f64", "add", "0.0"},
    {{"f32", "f64"}, {"[k][m]", "[c][k]"}, {"%k, %i", "%j, %k"}, kTimes, "f64", "add", "0.0"},
    {{"f64", "f64"}, {"[m][k]", "[c][k]"}, {"%i, %k", "%j, %k"}, kApart, "f64", "min", "inf"},
    {{"f32", "f32"}, {"[m][k]", "[c][k]"}, {"%i, %k", "%j, %k"}, kSum, "f32", "max", "-inf:f32"},
    {{"f32", "f32"}, {"[m][k]", "[k][c]"}, {"%i, %k", "%k, %j"}, kSum, "f32", "min", "inf:f32"},
};

// Packed, turned and read in place, whole tiles and parts of them.
TEST(Contractions, OfAnyOrderMeanTheSameWithRegistersOfEverySize) {
  for (const Contraction& contraction : kContractions) {
    for (const auto& [columns, depth] :
         std::vector<std::pair<std::string, int>>{{"n", 20}, {"n", 77}, {"2", 37}, {"3", 18}}) {
      const std::string text = TextOf(contraction, columns, depth);
      SCOPED_TRACE(text);
      ExpectTheSameWithEveryRegister(ir::Parse(text), depth == 77 ? 7 : 35);
    }
  }
}

// PARAKEET_RANDOM_PROGRAMS says how many, PARAKEET_RANDOM_SEED from which seed on.
TEST(RandomPrograms, MeanTheSameAfterEveryPass) {
  const int first = FromEnvironment("PARAKEET_RANDOM_SEED", 1);
  const int count = FromEnvironment("PARAKEET_RANDOM_PROGRAMS", 200);
  int failures = 0;
  for (int seed = first; seed < first + count && failures < 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const std::string text = RandomProgram(random);
    ir::Program program;
    try {
      program = ir::Parse(text);
    } catch (const ir::Failure& failure) {
      FAIL() << failure.what() << "\n" << text;
    }
    const std::vector<std::string> breaches = ir::Verify(program, ir::Stage::kParallel);
    ASSERT_TRUE(breaches.empty()) << breaches.front() << "\n" << text;
    std::vector<ir::Values> arguments;
    for (const int64_t size : {0, 2, 3, 5, 9}) {
      const ArgumentOptions options{{size, size == 9 ? 2 : size}, random() % 4 == 0};
      arguments.push_back(RandomArguments(*program.functions.front(), options, random));
    }
    const std::vector<ArgumentSet> sets = RunOnEach(program, std::move(arguments));
    const DifferentialOptions in_turn{
        .one_in = OneIn(2), .vector_bytes = RegistersInTurn(seed), .one_thread = seed % 2 == 0};
    const DifferentialResult result =
        RunDifferential(program, ir::Stage::kParallel, passes::CpuPipeline(), sets, in_turn);
    EXPECT_EQ(result.failure, "");
    if (seed % 4 == 0) {
      const auto& gpu = passes::GpuPipeline();
      EXPECT_EQ(RunDifferential(program, ir::Stage::kParallel, gpu, {sets[2]}, {true}).failure, "");
    }
    EXPECT_EQ(result.runs, static_cast<int>(sets.size())) << text;
    failures += !result.failure.empty();
  }
}

}  // namespace
}  // namespace parakeet
