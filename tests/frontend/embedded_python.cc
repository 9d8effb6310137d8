#include "tests/frontend/embedded_python.h"

#include <functional>
#include <sstream>
#include <stdexcept>

#include "frontend/check_subset.h"
#include "frontend/print_syntax.h"
#include "frontend/python_errors.h"
#include "frontend/read_ast.h"
#include "frontend/read_python_function.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

std::vector<std::string> SplitLines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The first statement's `ast` node.
PyRef Parse(const std::string& source) {
  const PyRef ast = Checked(PyImport_ImportModule("ast"));
  const PyRef module = Checked(PyObject_CallMethod(ast.get(), "parse", "s#", source.data(),
                                                   static_cast<Py_ssize_t>(source.size())));
  const PyRef body = Checked(PyObject_GetAttrString(module.get(), "body"));
  return Checked(PySequence_GetItem(body.get(), 0));
}

std::string Outcome(const ir::SourceMap& sources, const std::function<void()>& act) {
  try {
    act();
  } catch (const ir::Failure& failure) {
    return failure.exception() + ": " + ir::Render(failure, sources);
  }
  return "accepted";
}

}  // namespace

void EmbeddedPython::SetUpTestSuite() {
  if (Py_IsInitialized() == 0) Py_Initialize();
}

PyRef EmbeddedPython::Run(const std::string& source, const std::string& file, bool tell_linecache) {
  const std::string runner =
      "import linecache\n"
      "namespace = {'__name__': 'demo'}\n"
      "if tell_linecache:\n"
      "    linecache.cache[file] = (len(source), None, source.splitlines(True), file)\n"
      "exec(compile(source, file, 'exec', dont_inherit=True), namespace)\n";
  const PyRef globals = Checked(PyDict_New());
  const PyRef text =
      Checked(PyUnicode_FromStringAndSize(source.data(), static_cast<Py_ssize_t>(source.size())));
  const PyRef name = Checked(PyUnicode_FromString(file.c_str()));
  const PyRef code = Checked(Py_CompileString(runner.c_str(), "runner", Py_file_input));
  PyDict_SetItemString(globals.get(), "source", text.get());
  PyDict_SetItemString(globals.get(), "file", name.get());
  PyDict_SetItemString(globals.get(), "tell_linecache", tell_linecache ? Py_True : Py_False);
  Checked(PyEval_EvalCode(code.get(), globals.get(), globals.get()));
  return PyRef::Borrow(PyDict_GetItemString(globals.get(), "namespace"));
}

PyRef EmbeddedPython::Evaluate(const PyRef& module, const std::string& expression) {
  const PyRef code = Checked(Py_CompileString(expression.c_str(), "expression", Py_eval_input));
  return Checked(PyEval_EvalCode(code.get(), module.get(), module.get()));
}

FunctionSyntaxPtr EmbeddedPython::Read(const std::string& source) {
  return ReadAst(Parse(source).get(), 0);
}

std::string EmbeddedPython::ReadExpression(const std::string& expression) {
  const FunctionSyntaxPtr function = Read("def f():\n return " + expression + "\n");
  return PrintSyntax(*As<ReturnStmt>(*function->body.front()).value);
}

std::string EmbeddedPython::Judge(const std::string& source) {
  ir::SourceMap sources;
  sources.Add({"demo.py", SplitLines(source), 1});
  return Outcome(sources, [&] { CheckSubset(*Read(source)); });
}

std::string EmbeddedPython::JudgeFunction(const PyRef& module, const std::string& expression) {
  ir::SourceMap sources;
  const PyRef function = Evaluate(module, expression);
  return Outcome(sources, [&] { ReadPythonFunction(function.get(), &sources); });
}

}  // namespace parakeet::frontend
