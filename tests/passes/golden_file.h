#ifndef PARAKEET_TESTS_PASSES_GOLDEN_FILE_H_
#define PARAKEET_TESTS_PASSES_GOLDEN_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "ir/ops.h"

namespace parakeet {

// One case of a golden file: a program, and after which passes its text is shown.
struct GoldenCase {
  std::string title;  // the line that opens it, with ##
  std::string input;
  std::vector<std::string> after;  // passes after which output is shown; empty text: the last one
};

// A golden file (tests/golden_test.cc says how one reads), without its expected parts.
struct GoldenFile {
  std::vector<std::string> header;  // the lines before the first case
  std::vector<std::string> passes;
  bool kernels = false;                       // Whether they write code for a GPU,
  bool keeps = false;                         // and the entry's results may stay in its memory.
  std::vector<std::vector<int64_t>> lengths;  // As in passes::Options,
  bool short_sides = false;                   // this,
  bool few_rows = false;                      // this,
  bool one_thread = false;                    // this,
  int vector_bytes = 0;                       // and this too; 0 where the file does not say it.
  ir::Stage stage = ir::Stage::kParallel;
  std::vector<GoldenCase> cases;
};

GoldenFile ParseGoldenFile(const std::string& text);

// The folder that paths of golden files start from: PARAKEET_GOLDEN_UPDATE where it is set, else
// the current one.
std::filesystem::path GoldenRoot();
std::string ReadText(const std::filesystem::path& path);

// The paths, from GoldenRoot, of every golden file, sorted.
std::vector<std::string> GoldenFiles();

}  // namespace parakeet

#endif  // PARAKEET_TESTS_PASSES_GOLDEN_FILE_H_
