#include "frontend/source_scanner.h"

#include <algorithm>

namespace parakeet::frontend {
namespace {

constexpr std::string_view kBlanks = " \t\f\r\n";

}  // namespace

void SourceScanner::Feed(std::string_view text) {
  had_code_ = IsInsideStatement();
  is_continued_ = false;
  size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (quote_ != 0) {
      i = SkipString(text, i);
      continue;
    }
    if (c == '#') break;
    if (c == '\\') is_continued_ = text.find_first_not_of(kBlanks, i + 1) == std::string_view::npos;
    if (c == '(' || c == '[' || c == '{') ++brackets_;
    if (c == ')' || c == ']' || c == '}') brackets_ = std::max(0, brackets_ - 1);
    if (kBlanks.find(c) == std::string_view::npos) had_code_ = true;
    i = c == '"' || c == '\'' ? OpenString(text, i) : i + 1;
  }
}

size_t SourceScanner::OpenString(std::string_view text, size_t position) {
  quote_ = text[position];
  const std::string_view next = text.substr(position, 3);
  is_triple_ = next.size() == 3 && next[1] == quote_ && next[2] == quote_;
  return position + (is_triple_ ? 3 : 1);
}

// Within a string: one character, an escape, or the closing quotes. A single-quoted string ends
// with its line unless a backslash carries it on.
size_t SourceScanner::SkipString(std::string_view text, size_t position) {
  const char c = text[position];
  if (c == '\\') return position + (text.substr(position, 3) == "\\\r\n" ? 3 : 2);
  if (c == '\n' && !is_triple_) quote_ = 0;
  if (c != quote_) return position + 1;
  if (!is_triple_) {
    quote_ = 0;
    return position + 1;
  }
  const std::string_view next = text.substr(position, 3);
  if (next.size() < 3 || next[1] != quote_ || next[2] != quote_) return position + 1;
  quote_ = 0;
  return position + 3;
}

bool BlockScanner::Add(std::string_view line) {
  const bool starts_statement = !scanner_.IsInsideStatement();
  const size_t indentation = std::min(line.find_first_not_of(" \t\f"), line.size());
  const char first = indentation < line.size() ? line[indentation] : '\n';
  const bool is_blank = first == '\n' || first == '\r' || first == '#';
  if (is_first_) indentation_ = indentation;
  if (starts_statement && !is_blank && !is_first_) {
    if (has_header_ && indentation <= indentation_) return false;
  }
  // Decorators stand above the header at the same indentation.
  if (starts_statement && !is_blank && first != '@') has_header_ = true;
  is_first_ = false;
  scanner_.Feed(line);
  ++lines_taken_;
  if (scanner_.had_code()) line_count_ = lines_taken_;
  return true;
}

}  // namespace parakeet::frontend
