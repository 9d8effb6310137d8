#include "frontend/syntax_archive.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "frontend/ast_node.h"
#include "frontend/check_subset.h"
#include "frontend/code_object.h"
#include "frontend/compile_source.h"
#include "frontend/python_errors.h"
#include "frontend/read_ast.h"
#include "frontend/serialize_syntax.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

// FNV-1a: texts of one file differ by an edit, not by design.
uint64_t HashText(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

void AppendText(std::string_view text, std::string* bytes) {
  AppendNumber(text.size(), bytes);
  *bytes += text;
}

std::string_view TakeText(std::string_view* bytes) {
  const uint64_t size = TakeNumber(bytes);
  const std::string_view text = bytes->substr(0, size);
  bytes->remove_prefix(text.size());
  return text;
}

// The line that a code object names: the first decorator's, where there is one.
int32_t FirstLine(const AstNode& function) {
  const std::vector<AstNode> decorators = function.List("decorator_list");
  return (decorators.empty() ? function : decorators.front()).Integer("lineno");
}

// Null for what the language has not: the library has such functions for Python's own use.
FunctionSyntaxPtr ReadChecked(const AstNode& function) {
  try {
    FunctionSyntaxPtr syntax = ReadAst(function.object(), 0);
    CheckSubset(*syntax);
    return syntax;
  } catch (const ir::Failure& failure) {
    if (failure.kind() == ir::FailureKind::kBug) throw;
    return nullptr;
  }
}

}  // namespace

void SyntaxArchiveWriter::Add(const std::string& module, const std::string& text) {
  const Compiled parsed = ParseSource(text, "exec");
  if (!parsed.object) ir::FailUser("SyntaxError", module + " does not parse", {});
  std::string functions;
  uint64_t count = 0;
  for (const AstNode& statement : AstNode(parsed.object).List("body")) {
    if (statement.Kind() != "FunctionDef") continue;
    const FunctionSyntaxPtr syntax = ReadChecked(statement);
    if (syntax == nullptr) continue;
    AppendNumber(static_cast<uint64_t>(FirstLine(statement)), &functions);
    AppendNumber(static_cast<uint64_t>(statement.Integer("end_lineno")), &functions);
    AppendNumber(trees_.size(), &functions);
    trees_ += SerializeSyntax(*syntax);
    ++count;
  }
  AppendText(module, &index_);
  AppendNumber(HashText(text), &index_);
  AppendNumber(count, &index_);
  index_ += functions;
  ++modules_;
}

std::string SyntaxArchiveWriter::Finish() const {
  std::string bytes;
  AppendNumber(modules_, &bytes);
  AppendText(index_, &bytes);
  return bytes + trees_;
}

SyntaxArchive::SyntaxArchive(std::string_view bytes) {
  if (bytes.empty()) return;
  const uint64_t modules = TakeNumber(&bytes);
  std::string_view index = TakeText(&bytes);
  for (uint64_t i = 0; i < modules; ++i) {
    Module& module = modules_[std::string(TakeText(&index))];
    module.hash = TakeNumber(&index);
    const uint64_t functions = TakeNumber(&index);
    for (uint64_t k = 0; k < functions; ++k) {
      const auto first_line = static_cast<int32_t>(TakeNumber(&index));
      const auto last_line = static_cast<int32_t>(TakeNumber(&index));
      module.functions[first_line] = {bytes.substr(TakeNumber(&index)), last_line};
    }
  }
}

FunctionSyntaxPtr SyntaxArchive::Find(PyObject* function, ir::SourceMap* sources) {
  const auto found = modules_.find(TextAttribute(function, "__module__"));
  if (found == modules_.end()) return nullptr;
  Module& module = found->second;
  const CodeObject code(Checked(PyObject_GetAttrString(function, "__code__")));
  const int32_t first_line = code.FirstLine();
  const auto entry = module.functions.find(first_line);
  if (entry == module.functions.end()) return nullptr;
  if (!module.lines) module.lines = ReadLines(code.FileName(), module.hash);
  if (module.lines->empty()) return nullptr;
  const auto lines = module.lines->begin();
  ir::SourceFile file{code.FileName(), {}, first_line};
  file.lines.assign(lines + first_line - 1, lines + entry->second.last_line);
  FunctionSyntaxPtr syntax = DeserializeSyntax(entry->second.tree, sources->Add(std::move(file)));
  // A function made by code that says it stands elsewhere.
  return syntax->name == code.Name() ? syntax : nullptr;
}

std::vector<std::string> SyntaxArchive::ReadLines(const std::string& file, uint64_t hash) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  std::vector<std::string> lines;
  if (HashText(text) != hash) return lines;
  std::istringstream cut(text);
  for (std::string line; std::getline(cut, line);) lines.push_back(line);
  return lines;
}

}  // namespace parakeet::frontend
