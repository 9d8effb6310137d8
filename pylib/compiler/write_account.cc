#include "pylib/compiler/write_account.h"

#include <cstdio>
#include <string_view>
#include <utility>

namespace parakeet::pylib {
namespace {

std::string Text(std::string_view text) {
  std::string quoted = "\"";
  for (char letter : text) {
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (static_cast<unsigned char>(letter) >= ' ') {
      quoted += letter;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof(escaped), "\\u%04x", unsigned(letter));
    quoted += escaped;
  }
  return quoted + '"';
}

std::string Number(int64_t value) { return std::to_string(value); }
std::string Flag(bool value) { return value ? "true" : "false"; }

template <typename Item, typename Write>
std::string List(const std::vector<Item>& items, const Write& write) {
  std::string text;
  for (const Item& item : items) text += (text.empty() ? "" : ", ") + write(item);
  return "[" + text + "]";
}

std::string Object(const std::vector<std::pair<std::string_view, std::string>>& fields) {
  const std::string text =
      List(fields, [](const auto& field) { return Text(field.first) + ": " + field.second; });
  return "{" + text.substr(1, text.size() - 2) + "}";
}

class Writer {
 public:
  explicit Writer(const ir::SourceMap& sources) : sources_(sources) {}

  std::string Write(const SourceOperator& made) const {
    static constexpr std::string_view kThreads[] = {"none", "own", "part", "around"};
    return Object({{"span", WriteSpan(made.span)},
                   {"line", Text(LineOf(made.span, made.span.line))},
                   {"text", Text(SourceOf(made.span))},
                   {"kinds", List(made.kinds, Text)},
                   {"own", Flag(made.is_own)},
                   {"into", List(made.into, [&](const ir::Span& s) { return WriteSpan(s); })},
                   {"threads", Text(kThreads[size_t(made.threads)])},
                   {"around", WriteSpan(made.around)},
                   {"lanes", Number(made.lanes)},
                   {"checks", List(made.checks, Text)},
                   {"results", Number(made.results)},
                   {"temporaries", Number(made.temporaries)},
                   {"calls", List(made.calls, Text)}});
  }

  std::string Write(const passes::Remark& remark) const {
    return Object({{"pass", Text(remark.pass)},
                   {"topic", Text(Name(remark.topic))},
                   {"verdict", Text(Name(remark.verdict))},
                   {"text", Text(remark.text)},
                   {"span", WriteSpan(remark.span)},
                   {"other", WriteSpan(remark.other)}});
  }

 private:
  bool IsHeld(const ir::Span& span) const { return span.IsKnown() && span.file < sources_.size(); }

  std::string LineOf(const ir::Span& span, int32_t line) const {
    return IsHeld(span) ? sources_.At(span.file).Line(line) : "";
  }

  // The source of a span; of one of several lines, the first of them.
  std::string SourceOf(const ir::Span& span) const {
    const std::string line = LineOf(span, span.line);
    const size_t begin = std::min(size_t(span.column), line.size());
    if (span.end_line != span.line) return line.substr(begin) + " ...";
    return line.substr(begin, std::max(span.end_column - span.column, 0));
  }

  std::string WriteSpan(const ir::Span& span) const {
    if (!IsHeld(span)) return "null";
    return "[" + Text(sources_.At(span.file).name) + ", " + Number(span.line) + ", " +
           Number(span.column) + ", " + Number(span.end_line) + ", " + Number(span.end_column) +
           "]";
  }

  const ir::SourceMap& sources_;
};

}  // namespace

std::string WriteAccount(const Account& account, const std::vector<passes::Remark>& remarks,
                         const ir::SourceMap& sources) {
  const Writer writer(sources);
  return Object(
      {{"operators",
        List(account.operators, [&](const SourceOperator& made) { return writer.Write(made); })},
       {"notes", List(remarks, [&](const passes::Remark& each) { return writer.Write(each); })},
       {"traversals", Number(account.traversals)},
       {"parallel_regions", Number(account.parallel_regions)},
       {"results", Number(account.results)},
       {"temporaries", Number(account.temporaries)},
       {"buffers", Number(account.buffers)},
       {"checks_in_loops", Number(account.checks_in_loops)},
       {"checks_before", Number(account.checks_before)}});
}

}  // namespace parakeet::pylib
