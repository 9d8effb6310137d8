// Every pass keeps what a program means: programs of the golden files and random ones run on the
// interpreter before and after each pass of the pipeline.
#include "tests/passes/differential.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "ir/verifier.h"
#include "tests/passes/golden_file.h"
#include "tests/passes/random_program.h"

namespace parakeet {
namespace {

// Arguments of every kind of size, some with special floats; the large ones only where `large`.
std::vector<ir::Values> ArgumentSets(const ir::Function& function, bool large, Random& random) {
  const std::vector<std::vector<int64_t>> sizes = {{0}, {1},    {2},  {3},   {7, 8},
                                                   {9}, {2, 5}, {33}, {0, 3}};
  std::vector<ir::Values> sets;
  for (const std::vector<int64_t>& choice : sizes) {
    sets.push_back(RandomArguments(function, {choice, false}, random));
    sets.push_back(RandomArguments(function, {choice, true}, random));
  }
  if (large) sets.push_back(RandomArguments(function, {{5000}, false}, random));
  return sets;
}

// True where the work grows with one size only, so that a large one can be tried.
bool IsFlat(const ir::Function& function) {
  for (const ir::Param& param : function.params) {
    if (param.var->type.rank() > 1) return false;
  }
  return true;
}

class GoldenPrograms : public testing::TestWithParam<std::string> {};

TEST_P(GoldenPrograms, MeanTheSameAfterEveryPass) {
  const GoldenFile file = ParseGoldenFile(ReadText(GoldenRoot() / GetParam()));
  for (const GoldenCase& golden : file.cases) {
    SCOPED_TRACE(golden.title);
    const ir::Program program = ir::Parse(golden.input);
    const ir::Function& function = *program.functions.front();
    Random random(1);
    const std::vector<ir::Values> sets = ArgumentSets(function, IsFlat(function), random);
    const std::vector<std::string_view> own(file.passes.begin(), file.passes.end());
    const DifferentialResult alone = RunDifferential(program, file.stage, own, sets);
    EXPECT_EQ(alone.failure, "");
    EXPECT_GT(alone.runs, 0) << "no arguments are valid";
    const auto pipeline = CpuPassesFrom(file.stage);
    EXPECT_EQ(RunDifferential(program, file.stage, pipeline, sets).failure, "");
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path = info.param;
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, GoldenPrograms, testing::ValuesIn(GoldenFiles()), NameOf);

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
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
    std::vector<ir::Values> sets;
    for (const int64_t size : {0, 2, 3, 5, 9}) {
      const ArgumentOptions options{{size, size == 9 ? 2 : size}, random() % 4 == 0};
      sets.push_back(RandomArguments(*program.functions.front(), options, random));
    }
    const DifferentialResult result =
        RunDifferential(program, ir::Stage::kParallel, CpuPassesFrom(ir::Stage::kParallel), sets);
    EXPECT_EQ(result.failure, "");
    EXPECT_EQ(result.runs, static_cast<int>(sets.size())) << text;
    failures += !result.failure.empty();
  }
}

}  // namespace
}  // namespace parakeet
