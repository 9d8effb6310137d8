#include "frontend/read_python_function.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/check_subset.h"
#include "frontend/find_source.h"
#include "frontend/python_errors.h"
#include "frontend/read_ast.h"

namespace parakeet::frontend {
namespace {

// The tree with its growing lists written as arrays, where some line has what they need.
PyRef WithGrownLists(const FoundSource& source) {
  const auto& lines = source.file.lines;
  const bool may_grow = std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find(".append(") != std::string::npos || line.find(".pop(") != std::string::npos;
  });
  if (!may_grow) return source.node;
  const PyRef lists = Checked(PyImport_ImportModule("parakeet.growing_lists"));
  return Checked(PyObject_CallMethod(lists.get(), "grow", "O", source.node.get()));
}

}  // namespace

FunctionSyntaxPtr ReadPythonFunction(PyObject* function, ir::SourceMap* sources) {
  FoundSource source = FindSource(function);
  const PyRef node = WithGrownLists(source);
  const int32_t file = sources->Add(std::move(source.file));
  FunctionSyntaxPtr syntax = ReadAst(node.get(), file, source.line_shift);
  CheckSubset(*syntax);
  return syntax;
}

}  // namespace parakeet::frontend
