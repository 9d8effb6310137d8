#ifndef PARAKEET_FRONTEND_SOURCE_SCANNER_H_
#define PARAKEET_FRONTEND_SOURCE_SCANNER_H_

#include <string_view>

namespace parakeet::frontend {

// Follows strings, comments and brackets through Python source, a line at a time: just enough to
// tell where a block ends without a tokenizer. It does not follow quotes nested in f-strings
// (Python 3.12); a caller must check what it gets, and have another way.
class SourceScanner {
 public:
  // Feeds the next physical line, or the first or last part of one.
  void Feed(std::string_view text);

  // Whether the next line goes on with this one's statement.
  bool IsInsideStatement() const { return brackets_ > 0 || quote_ != 0 || is_continued_; }
  // Brackets open at this point.
  int brackets() const { return brackets_; }
  // Whether the last text fed held more than blanks and comments.
  bool had_code() const { return had_code_; }

 private:
  // Each returns the position after what it consumed.
  size_t SkipString(std::string_view text, size_t position);
  size_t OpenString(std::string_view text, size_t position);

  int brackets_ = 0;
  char quote_ = 0;  // of the string we are in, 0 for none
  bool is_triple_ = false;
  bool is_continued_ = false;  // the line ended in a backslash
  bool had_code_ = false;
};

// Tells, line by line, where a `def` with its decorators ends.
class BlockScanner {
 public:
  // Takes the next line; false, and the line is not part of the block, when the block has ended
  // before it.
  bool Add(std::string_view line);
  // How many of the lines taken lie in the block: comments and blank lines after it are not
  // counted.
  int line_count() const { return line_count_; }

 private:
  SourceScanner scanner_;
  int lines_taken_ = 0;
  int line_count_ = 0;
  size_t indentation_ = 0;
  bool is_first_ = true;
  bool has_header_ = false;
};

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_SOURCE_SCANNER_H_
