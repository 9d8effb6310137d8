#ifndef PARAKEET_FRONTEND_SYNTAX_ARCHIVE_H_
#define PARAKEET_FRONTEND_SYNTAX_ARCHIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/py_ref.h"
#include "frontend/syntax.h"
#include "ir/span.h"

// Syntax trees of Python modules, read and checked ahead of time: the library's, which the compiler
// carries, so that a program does not parse it. A function's tree is found by its module and first
// line, and read when it is asked for.
namespace parakeet::frontend {

// Makes an archive of the functions at the outermost level of `text`, for each module that is
// added. Functions outside the language are left out. Called with the GIL held.
class SyntaxArchiveWriter {
 public:
  // `module` is its name in Python: "parakeet.library.scans". A Failure where `text` is no Python.
  void Add(const std::string& module, const std::string& text);
  std::string Finish() const;

 private:
  std::string index_;
  std::string trees_;
  uint64_t modules_ = 0;
};

class SyntaxArchive {
 public:
  // `bytes` are what a writer made, or empty, and outlive the archive.
  explicit SyntaxArchive(std::string_view bytes);

  // The tree of a Python function, with its lines added to `sources`. Null where the archive has
  // none, and where the file of the function's module is not the one that the archive was made
  // from: then its source says what it is. Called with the GIL held.
  FunctionSyntaxPtr Find(PyObject* function, ir::SourceMap* sources);

 private:
  struct Entry {
    std::string_view tree;
    int32_t last_line;
  };
  struct Module {
    uint64_t hash;                                 // of the text
    std::unordered_map<int32_t, Entry> functions;  // by first line
    // The file's lines; empty where it has another text. None until the file has been read.
    std::optional<std::vector<std::string>> lines;
  };

  static std::vector<std::string> ReadLines(const std::string& file, uint64_t hash);

  std::unordered_map<std::string, Module> modules_;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SYNTAX_ARCHIVE_H_
