#include "tests/passes/golden_file.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "passes/pass.h"
#include "passes/pipelines.h"

namespace parakeet {
namespace {

namespace fs = std::filesystem;

std::string ValueAfter(const std::string& line, const std::string& key) {
  return line.starts_with(key) ? line.substr(key.size()) : "";
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    part.erase(0, part.find_first_not_of(' '));
    parts.push_back(part);
  }
  return parts;
}

ir::Stage StageNamed(const std::string& name) {
  for (const ir::Stage stage : {ir::Stage::kIndexed, ir::Stage::kScheduled}) {
    if (Name(stage) == name) return stage;
  }
  return ir::Stage::kParallel;
}

void ReadHeader(const std::string& line, GoldenFile& file) {
  file.header.push_back(line);
  if (const std::string names = ValueAfter(line, "// passes: "); !names.empty()) {
    file.passes = Split(names, ',');
    const passes::Pass* first = passes::FindPass(file.passes[0]);
    if (first != nullptr) file.stage = first->before;
  }
  if (const std::string name = ValueAfter(line, "// pipeline: "); !name.empty()) {
    for (const std::string_view pass : *passes::FindPipeline(name)) file.passes.emplace_back(pass);
    file.kernels = name == "gpu";
  }
  if (ValueAfter(line, "// target: ") == "gpu") file.kernels = true;
  if (const std::string lists = ValueAfter(line, "// lengths: "); !lists.empty()) {
    for (const std::string& list : Split(lists, ',')) {
      file.lengths.emplace_back();
      for (const std::string& length : Split(list, ' '))
        file.lengths.back().push_back(std::stoll(length));
    }
  }
  if (ValueAfter(line, "// results: ") == "kept") file.keeps = true;
  if (ValueAfter(line, "// sides: ") == "short") file.short_sides = true;
  if (ValueAfter(line, "// rows: ") == "few") file.few_rows = true;
  if (ValueAfter(line, "// threads: ") == "1") file.one_thread = true;
  if (const std::string bytes = ValueAfter(line, "// registers: "); !bytes.empty())
    file.vector_bytes = std::stoi(bytes);
  if (const std::string name = ValueAfter(line, "// stage: "); !name.empty()) {
    file.stage = StageNamed(name);
  }
}

}  // namespace

GoldenFile ParseGoldenFile(const std::string& text) {
  GoldenFile file;
  bool in_input = false;
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with("##")) {
      file.cases.push_back({line, "", {}});
      in_input = true;
    } else if (file.cases.empty()) {
      ReadHeader(line, file);
    } else if (line.starts_with("==>")) {
      file.cases.back().after.push_back(ValueAfter(line, "==> after "));
      in_input = false;
    } else if (in_input) {
      file.cases.back().input += line + "\n";
    }
  }
  return file;
}

fs::path GoldenRoot() {
  const char* root = std::getenv("PARAKEET_GOLDEN_UPDATE");
  return root == nullptr ? fs::path(".") : fs::path(root);
}

std::string ReadText(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::string> GoldenFiles() {
  std::vector<std::string> files;
  for (const char* folder : {"tests/passes", "tests/pipelines"}) {
    if (!fs::is_directory(GoldenRoot() / folder)) continue;
    for (const auto& entry : fs::directory_iterator(GoldenRoot() / folder)) {
      if (entry.path().extension() != ".ir") continue;
      files.push_back((fs::path(folder) / entry.path().filename()).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace parakeet
