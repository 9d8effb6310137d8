#include "frontend/find_source.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/ast_node.h"
#include "frontend/code_object.h"
#include "frontend/compile_source.h"
#include "frontend/match_source.h"
#include "frontend/python_errors.h"
#include "frontend/source_lines.h"
#include "frontend/source_scanner.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

bool Contains(const ir::Span& span, const CodeObject::Extent& extent) {
  const bool starts = std::pair(span.line, span.column) <= std::pair(extent.line, extent.column);
  const bool ends =
      std::pair(extent.end_line, extent.end_column) <= std::pair(span.end_line, span.end_column);
  return starts && ends;
}

// A search for one function in one list of lines.
class Search {
 public:
  Search(const CodeObject& code, PyObject* globals, const SourceLines& lines)
      : code_(code), matcher_(code, globals), lines_(lines), first_line_(code.FirstLine()) {}

  std::optional<FoundSource> Run() {
    const auto found = code_.IsLambda() ? FindLambdaByPlace() : FindBlock();
    return found ? found : FindInWholeFile();
  }
  bool is_too_deep() const { return is_too_deep_ || matcher_.is_too_deep(); }

 private:
  // The `def` with its decorators that starts on the first line, parsed alone. It keeps its
  // indentation, under an `if`, so that columns are the user's.
  std::optional<FoundSource> FindBlock() {
    BlockScanner scanner;
    for (int32_t line = first_line_; line <= lines_.count(); ++line) {
      if (!scanner.Add(lines_.At(line))) break;
    }
    const std::string text = lines_.Join(first_line_, first_line_ + scanner.line_count() - 1);
    const bool is_indented =
        !text.empty() && (text[0] == ' ' || text[0] == '\t' || text[0] == '\f');
    const PyRef module = Parse(is_indented ? "if 1:\n" + text : text, "exec");
    if (!module) return std::nullopt;
    const auto body = AstNode(module).List("body");
    if (body.empty()) return std::nullopt;
    const auto statements = is_indented ? body[0].List("body") : body;
    return Verify(statements[0], first_line_ - (is_indented ? 2 : 1));
  }

  // The lambda whose body lies where the code's instructions say, parsed alone. Of the words
  // `lambda` on its line, the last before the body is tried first.
  std::optional<FoundSource> FindLambdaByPlace() {
    const auto extent = code_.BodyExtent();
    if (!extent) return std::nullopt;
    const std::string line = lines_.At(first_line_);
    size_t from = extent->line == first_line_ ? static_cast<size_t>(extent->column) : line.size();
    while (from != 0) {
      const size_t start = line.rfind("lambda", from - 1);
      if (start == std::string::npos) return std::nullopt;
      if (auto found = ParseLambda(start, *extent)) return found;
      from = start;
    }
    return std::nullopt;
  }

  std::optional<FoundSource> ParseLambda(size_t start, const CodeObject::Extent& body) {
    std::string text = lines_.Join(first_line_, body.end_line);
    const size_t last_line_length = lines_.At(body.end_line).size();
    const size_t dropped = last_line_length - std::min<size_t>(last_line_length, body.end_column);
    text.resize(text.size() - dropped);
    if (start >= text.size()) return std::nullopt;
    // Spaces keep the columns. Brackets that close around the body lie outside of what its
    // instructions cover.
    SourceScanner scanner;
    scanner.Feed(std::string_view(text).substr(start));
    const std::string closed = text.substr(start) + std::string(scanner.brackets(), ')');
    const PyRef tree = Parse("(\n" + std::string(start, ' ') + closed + "\n)", "eval");
    if (!tree) return std::nullopt;
    return Verify(AstNode(tree).Field("body"), first_line_ - 2);
  }

  // Slow (ten milliseconds for a thousand lines), and for whatever the ways above fail on.
  std::optional<FoundSource> FindInWholeFile() {
    const SourceLines lines = lines_.SplitAtNewlines();
    const PyRef module = Parse(lines.Join(1, lines.count()), "exec");
    if (!module || !matcher_.MatchesSomeIn(module.get())) return std::nullopt;
    const std::vector<AstNode> nodes = NodesThatStartHere(module);
    if (nodes.size() == 1) return Found(nodes[0], lines, 0);
    // Several lambdas: the innermost around the instructions, which ast.walk gives last.
    if (const auto extent = code_.BodyExtent()) {
      for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
        if (Contains(node->SpanIn(0, 0), *extent)) return Found(*node, lines, 0);
      }
    }
    for (const AstNode& node : nodes) {
      if (matcher_.Matches(node.object())) return Found(node, lines, 0);
    }
    return std::nullopt;
  }

  std::vector<AstNode> NodesThatStartHere(const PyRef& module) const {
    std::vector<AstNode> nodes;
    const PyRef ast = Checked(PyImport_ImportModule("ast"));
    const PyRef walk = Checked(PyObject_CallMethod(ast.get(), "walk", "O", module.get()));
    while (PyObject* next = PyIter_Next(walk.get())) {
      const AstNode node(PyRef::Steal(next));
      if (IsOfItsKind(node) && StartsHere(node)) nodes.push_back(node);
    }
    if (PyErr_Occurred() != nullptr) FailFromPython();
    return nodes;
  }

  bool IsOfItsKind(const AstNode& node) const {
    const std::string kind = node.Kind();
    if (code_.IsLambda()) return kind == "Lambda";
    return kind == "FunctionDef" || kind == "AsyncFunctionDef";
  }

  bool StartsHere(const AstNode& node) const {
    if (code_.IsLambda()) return node.Integer("lineno") == first_line_;
    const std::vector<AstNode> decorators = node.List("decorator_list");
    const AstNode& first = decorators.empty() ? node : decorators.front();
    return first.Integer("lineno") == first_line_;
  }

  PyRef Parse(const std::string& text, const char* mode) {
    const Compiled parsed = ParseSource(text, mode);
    is_too_deep_ |= parsed.is_too_deep;
    return parsed.object;
  }

  // What parsing a part of the text gave, if it is the function.
  std::optional<FoundSource> Verify(const AstNode& node, int32_t line_shift) {
    if (!IsOfItsKind(node) || !matcher_.Matches(node.object())) return std::nullopt;
    return Found(node, lines_, line_shift);
  }

  FoundSource Found(const AstNode& node, const SourceLines& lines, int32_t line_shift) const {
    FoundSource found;
    found.node = PyRef::Borrow(node.object());
    found.line_shift = line_shift;
    found.file.name = code_.FileName();
    found.file.first_line = first_line_;
    found.file.lines = lines.Slice(first_line_, node.Integer("end_lineno") + line_shift);
    return found;
  }

  const CodeObject& code_;
  SourceMatcher matcher_;
  const SourceLines& lines_;
  const int32_t first_line_;
  bool is_too_deep_ = false;
};

PyRef Attribute(PyObject* object, const char* name) {
  PyObject* const value = PyObject_GetAttrString(object, name);
  if (value == nullptr) PyErr_Clear();
  return PyRef::Steal(value);
}

// The function under a bound method; a UserError for anything that has no Python code and globals.
PyRef PlainFunction(PyObject* object) {
  const PyRef inner = Attribute(object, "__func__");
  const PyRef function = inner ? inner : PyRef::Borrow(object);
  const PyRef code = Attribute(function.get(), "__code__");
  const PyRef globals = Attribute(function.get(), "__globals__");
  const bool is_code = code && AstNode(code).Kind() == "code";
  if (!is_code || !globals || !PyDict_Check(globals.get())) {
    const std::string kind = AstNode(PyRef::Borrow(object)).Kind();
    ir::FailUser("TypeError", "expected a Python function, got " + kind, {});
  }
  return function;
}

std::string Describe(const CodeObject& code) {
  return "`" + code.Name() + "` (" + code.FileName() + ":" + std::to_string(code.FirstLine()) + ")";
}

[[noreturn]] void FailNoSource(const CodeObject& code) {
  ir::FailUser("OSError",
               "could not get the source of " + Describe(code) +
                   ": Python keeps none here (the plain prompt before Python 3.13, exec, -c); " +
                   "define the function in a file or a notebook",
               {});
}

[[noreturn]] void FailChanged(const CodeObject& code) {
  ir::FailUser("OSError",
               "the source found for " + Describe(code) +
                   " is not what Python compiled: the file has changed since it was loaded, or " +
                   "was rewritten on import; load it again",
               {});
}

}  // namespace

FoundSource FindSource(PyObject* object) {
  const PyRef function = PlainFunction(object);
  const PyRef globals = Attribute(function.get(), "__globals__");
  const CodeObject code(Attribute(function.get(), "__code__"));

  // What linecache holds may well be older than the file on disk, and may well be the function's:
  // so try it first.
  const SourceLines cached = SourceLines::Cached(code, globals.get());
  Search search(code, globals.get(), cached);
  if (auto found = search.Run()) return *found;
  const SourceLines refreshed = SourceLines::Refreshed(code, globals.get());
  if (!refreshed.IsSameAs(cached)) {
    Search again(code, globals.get(), refreshed);
    if (auto found = again.Run()) return *found;
  }
  if (search.is_too_deep()) {
    ir::FailUser("RecursionError", "the source of " + Describe(code) + " nests too deeply", {});
  }
  if (cached.count() == 0 && refreshed.count() == 0) FailNoSource(code);
  FailChanged(code);
}

}  // namespace parakeet::frontend
