#include "frontend/match_source.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontend/compare_code.h"
#include "frontend/compile_source.h"
#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

// The class whose body the function stands in, however deep ("" for none): private names are
// spelled by it.
std::string InnermostClass(const std::string& qualified_name) {
  const std::string kLocals = "<locals>";
  std::string inner, result;
  size_t end = qualified_name.size();
  // From the last part to the first: a part followed by one that is not <locals> is a class.
  for (bool is_last = true; end != std::string::npos; is_last = false) {
    // A part may hold dots of its own: "<locals>" and "<lambda>" don't.
    const size_t dot = end == 0 ? std::string::npos : qualified_name.rfind('.', end - 1);
    const size_t start = dot == std::string::npos ? 0 : dot + 1;
    const std::string part = qualified_name.substr(start, end - start);
    if (!is_last && part != kLocals && inner != kLocals) return part;
    inner = part;
    end = dot;
  }
  return result;
}

bool IsIdentifier(const std::string& name) {
  const PyRef text = PyRef::Steal(PyUnicode_FromString(name.c_str()));
  PyErr_Clear();
  return text && PyUnicode_IsIdentifier(text.get()) == 1;
}

// The names in `tuple` that are names of the source, unlike `.0`.
std::vector<std::string> SourceNames(const PyRef& tuple) {
  std::vector<std::string> names;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple.get()); ++i) {
    std::string name;
    if (TryTextOf(PyTuple_GetItem(tuple.get(), i), &name) && IsIdentifier(name)) {
      names.push_back(name);
    }
  }
  return names;
}

// Every name in `code` and in the functions nested in it that `globals` has too, attributes among
// them.
void AddGlobalNames(PyObject* code, PyObject* globals, std::vector<std::string>* names) {
  for (const char* field : {"co_names", "co_varnames", "co_freevars", "co_cellvars"}) {
    for (const std::string& name : SourceNames(Checked(PyObject_GetAttrString(code, field)))) {
      const bool is_new = std::find(names->begin(), names->end(), name) == names->end();
      if (is_new && PyDict_GetItemString(globals, name.c_str()) != nullptr) names->push_back(name);
    }
  }
  const PyRef constants = Checked(PyObject_GetAttrString(code, "co_consts"));
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* const constant = PyTuple_GetItem(constants.get(), i);
    if (Py_TYPE(constant) == Py_TYPE(code)) AddGlobalNames(constant, globals, names);
  }
}

// "import a, b", or nothing.
std::string ImportOf(const std::vector<std::string>& names) {
  std::string result;
  for (const std::string& name : names) result += (result.empty() ? "import " : ", ") + name;
  return result.empty() ? "" : result + "\n";
}

// The header's lines for each guess at what the module imports: its modules, nothing, everything.
std::vector<std::string> GuessImports(const CodeObject& code, PyObject* globals) {
  std::vector<std::string> names, modules;
  AddGlobalNames(code.object(), globals, &names);
  for (const std::string& name : names) {
    if (PyModule_Check(PyDict_GetItemString(globals, name.c_str()))) modules.push_back(name);
  }
  std::vector<std::string> guesses = {ImportOf(modules)};
  for (const std::string& guess : {std::string(), ImportOf(names)}) {
    if (std::find(guesses.begin(), guesses.end(), guess) == guesses.end()) guesses.push_back(guess);
  }
  return guesses;
}

// The headers of the scopes that the code's free names and private names need.
std::vector<std::string> ScopesOf(const CodeObject& code) {
  std::string parameters;
  for (const std::string& name : SourceNames(code.Attribute("co_freevars"))) {
    // The class makes `__class__`.
    if (name != "__class__") parameters += name + ",";
  }
  const std::string class_name = InnermostClass(TextOf(code.Attribute("co_qualname").get()));
  std::vector<std::string> scopes;
  if (!parameters.empty()) scopes.push_back("def _(" + parameters + ")");
  if (!class_name.empty()) scopes.push_back("class " + class_name);
  return scopes;
}

// The scopes one in another, and a `0` in the place of the function.
std::string TextOfScopes(const std::vector<std::string>& scopes) {
  std::string text, indentation;
  for (const std::string& header : scopes) {
    text += indentation + header + ":\n";
    indentation += ' ';
  }
  return text + indentation + "0\n";
}

PyRef BodyOf(const PyRef& node) { return Checked(PyObject_GetAttrString(node.get(), "body")); }

// Puts `node` in the place of the `0` (a `def` takes its statement's): last in each scope.
void PutInScopes(const PyRef& module, size_t depth, PyObject* node, bool is_lambda) {
  PyRef body = BodyOf(module);
  for (size_t i = 0; i < depth; ++i) body = BodyOf(Checked(PySequence_GetItem(body.get(), -1)));
  int failed;
  if (is_lambda) {
    const PyRef statement = Checked(PySequence_GetItem(body.get(), -1));
    failed = PyObject_SetAttrString(statement.get(), "value", node);
  } else {
    failed = PySequence_SetItem(body.get(), -1, node);
  }
  if (failed != 0) FailFromPython();
}

}  // namespace

SourceMatcher::SourceMatcher(const CodeObject& code, PyObject* globals)
    : code_(code), scopes_(ScopesOf(code)), imports_(GuessImports(code, globals)) {}

bool SourceMatcher::Matches(PyObject* node) {
  for (const std::string& imports : imports_) {
    const PyRef module = Compile(ParseSource(imports + TextOfScopes(scopes_), "exec"), node);
    const int depth = static_cast<int>(scopes_.size());
    if (module && HoldsSameFunction(module.get(), depth, code_.object())) return true;
  }
  return false;
}

bool SourceMatcher::MatchesSomeIn(PyObject* module) {
  const Compiled compiled = CompileModule(module, FutureFlags());
  is_too_deep_ |= compiled.is_too_deep;
  return compiled.object && HoldsSameFunctionAnywhere(compiled.object.get(), code_.object());
}

// The code object of `scopes` with `node` put in, or null.
PyRef SourceMatcher::Compile(const Compiled& scopes, PyObject* node) {
  if (!scopes.object) return PyRef();
  PutInScopes(scopes.object, scopes_.size(), node, code_.IsLambda());
  const Compiled compiled = CompileModule(scopes.object.get(), FutureFlags());
  is_too_deep_ |= compiled.is_too_deep;
  return compiled.object;
}

int SourceMatcher::FutureFlags() const {
  // CO_FUTURE_ANNOTATIONS: the one feature of `__future__` that changes what a nested `def`
  // becomes.
  constexpr int kFutureAnnotations = 0x1000000;
  return code_.Integer("co_flags") & kFutureAnnotations;
}

}  // namespace parakeet::frontend
