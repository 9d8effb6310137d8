#include "frontend/read_python_function.h"

#include <utility>

#include "frontend/check_subset.h"
#include "frontend/find_source.h"
#include "frontend/read_ast.h"

namespace parakeet::frontend {

FunctionSyntaxPtr ReadPythonFunction(PyObject* function, ir::SourceMap* sources) {
  FoundSource source = FindSource(function);
  const int32_t file = sources->Add(std::move(source.file));
  FunctionSyntaxPtr syntax = ReadAst(source.node.get(), file, source.line_shift);
  CheckSubset(*syntax);
  return syntax;
}

}  // namespace parakeet::frontend
