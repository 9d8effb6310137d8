#ifndef PARAKEET_FRONTEND_SOURCE_LINES_H_
#define PARAKEET_FRONTEND_SOURCE_LINES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/code_object.h"
#include "frontend/py_ref.h"

namespace parakeet::frontend {

// The lines that linecache holds for a code object's file. Lines count from 1.
class SourceLines {
 public:
  // Empty where there are none. `globals` lets linecache ask the module's loader.
  static SourceLines Cached(const CodeObject& code, PyObject* globals);
  // As Cached, after linecache has compared its entry with the file on disk.
  static SourceLines Refreshed(const CodeObject& code, PyObject* globals);

  // The same text, cut where Python's parser counts lines. Whoever fills linecache by
  // str.splitlines cuts at form feeds and other separators too, and then lines miscount.
  SourceLines SplitAtNewlines() const;

  int32_t count() const;
  bool IsSameAs(const SourceLines& other) const { return list_.get() == other.list_.get(); }
  // The line with its newline, in UTF-8; empty where there is none or it is not valid text.
  std::string At(int32_t line) const;
  // The lines from `first` to `last`, joined.
  std::string Join(int32_t first, int32_t last) const;
  // The same, as a list without newlines.
  std::vector<std::string> Slice(int32_t first, int32_t last) const;

 private:
  explicit SourceLines(PyRef list) : list_(std::move(list)) {}

  PyRef list_;  // a Python list
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SOURCE_LINES_H_
