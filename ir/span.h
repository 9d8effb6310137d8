#ifndef PARAKEET_IR_SPAN_H_
#define PARAKEET_IR_SPAN_H_

#include <cstdint>
#include <string>
#include <vector>

namespace parakeet::ir {

// A stretch of a user's Python source. Lines count from 1, columns from 0 in UTF-8 bytes, as `ast`
// gives them. `file` indexes the SourceMap that the program carries; -1 means the node came from no
// source.
struct Span {
  int32_t file = -1;
  int32_t line = 0;
  int32_t column = 0;
  int32_t end_line = 0;
  int32_t end_column = 0;

  bool IsKnown() const { return file >= 0; }
  friend bool operator==(const Span&, const Span&) = default;
};

// One file of source: its name as Python shows it, and its text from line `first_line` on (empty
// when unknown).
struct SourceFile {
  std::string name;
  std::vector<std::string> lines;
  int32_t first_line = 1;

  // Returns the text of `line`, or an empty string where the source is not held.
  std::string Line(int32_t line) const;
};

// The source files that spans refer to, by index. Adding the same name and first line twice gives
// the same index.
class SourceMap {
 public:
  int32_t Add(SourceFile file);
  const SourceFile& At(int32_t index) const { return files_[index]; }
  int32_t size() const { return static_cast<int32_t>(files_.size()); }

 private:
  std::vector<SourceFile> files_;
};

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_SPAN_H_
