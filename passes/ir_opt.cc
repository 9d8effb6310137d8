// ir_opt: IR text in, named passes, IR text out.
//
//   ir_opt [--stage=parallel|indexed|scheduled] [--passes=name,name... | --pipeline=cpu|gpu]
//   [--remarks] [--spans] [FILE]
//
// Reads FILE or standard input, verifies after every pass, prints the program. --remarks adds what
// passes noted, as comments. Exits with 1 and a message where the text does not parse, a pass is
// unknown or its output is wrong.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "ir/diagnostics.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/pass_manager.h"
#include "passes/pipelines.h"

namespace parakeet::passes {
namespace {

struct Arguments {
  ir::Stage stage = ir::Stage::kParallel;
  std::vector<std::string_view> passes;
  bool remarks = false;
  bool spans = false;
  bool kernels = false;
  std::string file;
};

std::vector<std::string_view> SplitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return parts;
}

ir::Stage StageNamed(std::string_view name) {
  for (const ir::Stage stage : {ir::Stage::kParallel, ir::Stage::kIndexed, ir::Stage::kScheduled}) {
    if (Name(stage) == name) return stage;
  }
  ir::FailUser("ValueError", "no stage is called " + std::string(name), {});
}

std::vector<std::string_view> PipelineNamed(std::string_view name) {
  const auto* pipeline = FindPipeline(name);
  if (pipeline == nullptr)
    ir::FailUser("ValueError", "no pipeline is called " + std::string(name), {});
  return *pipeline;
}

Arguments Read(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    const std::string_view value = text.substr(std::min(text.size(), text.find('=') + 1));
    if (text.starts_with("--stage=")) {
      arguments.stage = StageNamed(value);
    } else if (text.starts_with("--passes=")) {
      arguments.passes = SplitAtCommas(value);
    } else if (text.starts_with("--pipeline=")) {
      arguments.passes = PipelineNamed(value);
      arguments.kernels = value == "gpu";
    } else if (text == "--remarks") {
      arguments.remarks = true;
    } else if (text == "--spans") {
      arguments.spans = true;
    } else if (text.starts_with("--")) {
      ir::FailUser("ValueError", "no option is called " + std::string(text), {});
    } else {
      arguments.file = text;
    }
  }
  return arguments;
}

std::string ReadText(const std::string& file) {
  if (file.empty()) return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream stream(file);
  if (!stream) ir::FailUser("FileNotFoundError", "cannot read " + file, {});
  return {std::istreambuf_iterator<char>(stream), {}};
}

void Run(const Arguments& arguments) {
  Context context;
  context.options.kernels = arguments.kernels;
  const ir::Program program = ir::Parse(ReadText(arguments.file));
  const PipelineResult result = RunPipeline(program, arguments.stage, arguments.passes, context);
  std::cout << ir::Print(result.program, {.spans = arguments.spans});
  if (!arguments.remarks) return;
  for (const Remark& remark : context.remarks)
    std::cout << "// " << remark.pass << ": " << remark.text << "\n";
}

}  // namespace
}  // namespace parakeet::passes

int main(int argc, char** argv) {
  try {
    parakeet::passes::Run(parakeet::passes::Read(argc, argv));
  } catch (const parakeet::ir::Failure& failure) {
    std::cerr << "ir_opt: " << failure.what() << "\n";
    return 1;
  }
  return 0;
}
