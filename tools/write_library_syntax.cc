// Writes the C++ file that holds the syntax trees of the library's Python sources:
//
//   write_library_syntax pylib/parakeet/library/*.py > library_syntax.cc
//
// A file's module is named by its path from the folder `parakeet` on.

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "frontend/py_ref.h"
#include "frontend/syntax_archive.h"
#include "ir/diagnostics.h"

namespace {

// "parakeet.library.scans" of "pylib/parakeet/library/scans.py".
std::string ModuleOf(const std::string& path) {
  std::string module = path.substr(path.rfind("parakeet/"));
  module.resize(module.rfind(".py"));
  for (char& c : module) c = c == '/' ? '.' : c;
  return module;
}

std::string ReadFile(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void PrintBytes(const std::string& bytes) {
  std::printf("constexpr char kBytes[] =");
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 24 == 0) std::printf(i == 0 ? "\n    \"" : "\"\n    \"");
    std::printf("\\%03o", static_cast<unsigned char>(bytes[i]));
  }
  std::printf("\";\n");
}

}  // namespace

int main(int argc, char** argv) {
  Py_Initialize();
  parakeet::frontend::SyntaxArchiveWriter writer;
  for (int i = 1; i < argc; ++i) {
    try {
      writer.Add(ModuleOf(argv[i]), ReadFile(argv[i]));
    } catch (const parakeet::ir::Failure& failure) {
      std::fprintf(stderr, "%s: %s\n", argv[i], failure.what());
      return 1;
    }
  }
  std::printf(
      "#include \"pylib/library_syntax/library_syntax.h\"\n\nnamespace parakeet::pylib {\n\n");
  PrintBytes(writer.Finish());
  std::printf("\nstd::string_view LibrarySyntax() { return {kBytes, sizeof kBytes - 1}; }\n\n");
  std::printf("}  // namespace parakeet::pylib\n");
}
