#include "pylib/compiler/raise_failure.h"

#include <unistd.h>

#include <cstdlib>

#include "frontend/py_ref.h"
#include "ir/printer.h"
#include "passes/pass.h"
#include "passes/pipelines.h"

namespace parakeet::pylib {
namespace {

using frontend::PyRef;

// Borrowed, or a new reference that the module keeps alive: a class is never freed while raised.
PyRef ClassOf(const std::string& name) {
  PyObject* builtin = PyDict_GetItemString(PyEval_GetBuiltins(), name.c_str());
  if (builtin != nullptr && PyExceptionClass_Check(builtin)) return PyRef::Borrow(builtin);
  const PyRef module = PyRef::Steal(PyImport_ImportModule("parakeet.errors"));
  PyRef found = PyRef::Steal(module ? PyObject_GetAttrString(module.get(), name.c_str()) : nullptr);
  if (found) return found;
  PyErr_Clear();
  return PyRef::Borrow(PyExc_RuntimeError);
}

void Raise(const std::string& exception, const std::string& message) {
  const PyRef type = ClassOf(exception);
  const PyRef text = PyRef::Steal(
      PyUnicode_DecodeUTF8(message.data(), Py_ssize_t(message.size()), "backslashreplace"));
  if (text) PyErr_SetObject(type.get(), text.get());
}

// The passes from `step` on, as ir_opt takes them; empty where the step is no pass.
std::string PassesFrom(const std::string& step) {
  std::string passes;
  for (std::string_view pass : passes::CpuPipeline()) {
    if (passes.empty() && pass != step) continue;
    if (!passes.empty()) passes += ',';
    passes += pass;
  }
  return passes;
}

// Writes the program where no other file is; the path, or an empty string where that fails.
std::string WriteRepro(const ir::Program& program, const std::string& step) {
  if (program.functions.empty()) return "";
  const char* folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr || *folder == 0 ? "/tmp" : folder) +
                     "/parakeet-XXXXXX.repro.ir";
  const int file = mkstemps(path.data(), sizeof(".repro.ir") - 1);
  if (file < 0) return "";
  const std::string text =
      "// ir_opt --passes=" + PassesFrom(step) + " " + path + "\n" + ir::Print(program);
  const bool is_written = write(file, text.data(), text.size()) == ssize_t(text.size());
  close(file);
  return is_written ? path : "";
}

}  // namespace

void RaiseFailure(const ir::Failure& failure, const ir::SourceMap& sources,
                  const ir::Program& last_program, const std::string& step) {
  const std::string message = ir::Render(failure, sources);
  if (failure.kind() != ir::FailureKind::kBug) return Raise(failure.exception(), message);
  const std::string repro = WriteRepro(last_program, step);
  std::string text = "a bug in parakeet, in " + step + ": " + message;
  if (!repro.empty()) text += "\nplease report it with the program in " + repro;
  Raise("CompilerBug", text);
}

void RaiseBug(const std::string& message) { Raise("CompilerBug", "a bug in parakeet: " + message); }

}  // namespace parakeet::pylib
