#include "ir/diagnostics.h"

#include <algorithm>

namespace parakeet::ir {
namespace {

// The number of characters in the first `bytes` bytes of UTF-8 `text`.
int CharactersBefore(const std::string& text, int bytes) {
  int count = 0;
  for (int i = 0; i < bytes && i < static_cast<int>(text.size()); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) ++count;
  }
  return count;
}

// The source line without its indentation, and carets under the span.
std::string Excerpt(const Span& span, const std::string& line) {
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  const int indent = static_cast<int>(first);
  const int start = CharactersBefore(line, span.column) - indent;
  const bool one_line = span.end_line == span.line;
  const int end_byte = one_line ? span.end_column : static_cast<int>(line.size());
  const int width = std::max(1, CharactersBefore(line, end_byte) - indent - start);
  return "\n    " + line.substr(first) + "\n    " + std::string(std::max(0, start), ' ') +
         std::string(width, '^');
}

}  // namespace

void FailUser(const std::string& exception, const std::string& message, Span span) {
  throw Failure(FailureKind::kUserError, exception, message, span);
}

void FailLimitation(const std::string& message, Span span) {
  throw Failure(FailureKind::kLimitation, "Limitation", message, span);
}

void FailBug(const std::string& message, Span span) {
  throw Failure(FailureKind::kBug, "Bug", message, span);
}

std::string Render(const Failure& failure, const SourceMap& sources) {
  const Span& span = failure.span();
  if (!span.IsKnown() || span.file >= sources.size()) return failure.what();
  const SourceFile& file = sources.At(span.file);
  const std::string line = file.Line(span.line);
  const int column = CharactersBefore(line, span.column) + 1;
  return file.name + ":" + std::to_string(span.line) + ":" + std::to_string(column) + ": " +
         failure.what() + Excerpt(span, line);
}

}  // namespace parakeet::ir
