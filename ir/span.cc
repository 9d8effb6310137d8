#include "ir/span.h"

#include <utility>

namespace parakeet::ir {

std::string SourceFile::Line(int32_t line) const {
  const int64_t index = static_cast<int64_t>(line) - first_line;
  if (index < 0 || index >= static_cast<int64_t>(lines.size())) return "";
  return lines[index];
}

int32_t SourceMap::Add(SourceFile file) {
  for (int32_t i = 0; i < size(); ++i) {
    if (files_[i].name == file.name && files_[i].first_line == file.first_line &&
        files_[i].lines == file.lines) {
      return i;
    }
  }
  files_.push_back(std::move(file));
  return size() - 1;
}

}  // namespace parakeet::ir
