// Golden tests: every .ir file of tests/passes and tests/pipelines holds cases, each a program,
// what its passes make of it, and what they note.
//
//   // passes: fuse-vertically          or  // pipeline: cpu (or gpu)
//   // stage: indexed                   (where the first pass takes any stage)
//   // lengths: 0 0, 3 3                (of the entry's parameters; 0 where they are not known)
//   // results: kept                     (where numbers may stay in a device's memory)
//   // sides: short                      (where there are tiles for products with short sides)
//   // threads: 1                        (where there are no more)
//   // registers: 32                     (bytes of the host's vectors; 64 where no line says it)
//   ## fires: what this case shows
//   fn @f ...
//   ==>                                  or, any number of times,  ==> after PASS
//   fn @f ...
//   // note: PASS: text of a remark
//
// With PARAKEET_GOLDEN_UPDATE set to the root of the source tree, the expected parts are rewritten
// there instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "ir/diagnostics.h"
#include "ir/equal.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "passes/pass_manager.h"
#include "tests/passes/golden_file.h"

namespace parakeet {
namespace {

namespace fs = std::filesystem;

// Every printed program reads back as itself.
std::string PrintChecked(const ir::Program& program) {
  std::string text = ir::Print(program);
  EXPECT_TRUE(ir::Equal(ir::Parse(text), program)) << "does not read back as itself:\n" << text;
  return text;
}

// The case as it should stand in the file.
std::string Render(const GoldenFile& file, const GoldenCase& golden) {
  const ir::Program program = ir::Parse(golden.input);
  ir::VerifyOrFail(program, file.stage, golden.title);
  passes::Context context;
  context.options.kernels = file.kernels;
  context.options.lengths = file.lengths;
  context.options.short_sides = file.short_sides;
  context.options.few_rows = file.few_rows;
  context.options.one_thread = file.one_thread;
  if (file.vector_bytes > 0) context.options.vector_bytes = file.vector_bytes;
  const size_t results = file.keeps ? program.functions.front()->results.size() : 0;
  for (size_t k = 0; k < results; ++k) context.options.kept_results.push_back(k);
  std::map<std::string, std::string, std::less<>> outputs;
  passes::RunOptions options;
  options.after_pass = [&](std::string_view pass, const ir::Program& output) {
    outputs[std::string(pass)] = outputs[""] = PrintChecked(output);
  };
  const std::vector<std::string_view> names(file.passes.begin(), file.passes.end());
  passes::RunPipeline(program, file.stage, names, context, options);
  std::string text = golden.title + "\n" + PrintChecked(program);
  std::vector<std::string> after = golden.after;
  if (after.empty()) after = {""};
  for (const std::string& pass : after) {
    text += "==>" + (pass.empty() ? "" : " after " + pass) + "\n" + outputs[pass];
  }
  for (const passes::Remark& remark : context.remarks) {
    text += "// note: " + remark.pass + ": " + remark.text + "\n";
  }
  return text;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsWhatThePassesMake) {
  const fs::path path = GoldenRoot() / GetParam();
  const std::string text = ReadText(path);
  const GoldenFile file = ParseGoldenFile(text);
  ASSERT_FALSE(file.passes.empty()) << "no line `// passes: ...`";
  ASSERT_FALSE(file.cases.empty()) << "no case";
  std::string expected;
  for (const std::string& line : file.header) expected += line + "\n";
  for (const GoldenCase& golden : file.cases) {
    SCOPED_TRACE(golden.title);
    try {
      expected += Render(file, golden);
    } catch (const ir::Failure& failure) {
      FAIL() << failure.what();
    }
  }
  if (std::getenv("PARAKEET_GOLDEN_UPDATE") != nullptr) {
    std::ofstream(path) << expected;
  } else {
    EXPECT_EQ(text, expected) << "run `./dev golden --update` and read the difference";
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  const fs::path path = info.param;
  return path.parent_path().filename().string() + "_" + path.stem().string();
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(GoldenFiles()), NameOf);

}  // namespace
}  // namespace parakeet
