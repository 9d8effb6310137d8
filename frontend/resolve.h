#ifndef PARAKEET_FRONTEND_RESOLVE_H_
#define PARAKEET_FRONTEND_RESOLVE_H_

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/argument.h"
#include "frontend/py_ref.h"
#include "frontend/syntax.h"
#include "frontend/syntax_archive.h"
#include "frontend/value.h"
#include "ir/node.h"

// What names mean outside the functions being compiled: closure cells, globals and builtins become
// Values, and every one that was read is recorded.
namespace parakeet::frontend {

// The namespace that a name was read from; kDefault: a parameter's default value; kOverload: what
// users' overloads make of an object, or of an array method; kAttribute: an attribute of a module
// or of another object.
enum class NamespaceKind : uint8_t { kClosure, kGlobal, kBuiltin, kDefault, kOverload, kAttribute };

// One outside thing that a compilation read. It holds as long as `name` in that namespace of
// `function` is the same object, or one of equal content. A kOverload holds as long as the same
// function, or None, stands for the object `function`, called `name`; or for the method `name`,
// where that is None. Of a kAttribute `function` is the object that has it.
struct Dependency {
  NamespaceKind kind;
  PyRef function;  // Whose closure, globals or builtins.
  std::string name;
  PyRef object;
};

// An outside array or list of numbers: a hidden parameter of the entry function, read again from
// the same place at each call.
struct Capture {
  NamespaceKind kind;
  PyRef function;
  std::string name;
  // How to come from that object to the array: indexes into tuples.
  std::vector<int> path;
  Argument argument;  // What it was when compiled: dtype, rank, layout ...
};

class Resolver {
 public:
  // `library` has the trees of functions that are read ahead of time; null for none.
  Resolver(ir::SourceMap* sources, SyntaxArchive* library) : sources_(sources), library_(library) {}

  // The checked syntax tree of a Python function, read once a compilation.
  FunctionSyntaxPtr SyntaxOf(PyObject* function);

  // The object that `name` is in the closure, globals or builtins of `function`; a null reference
  // where there is none. Records the dependency.
  struct Found {
    NamespaceKind kind;
    PyRef object;
  };
  Found Find(PyObject* function, const std::string& name);
  // The default value of a parameter; the dependency is recorded.
  PyRef DefaultOf(PyObject* function, const std::string& parameter);
  // An attribute of an object, read by the function `home`; the dependency is recorded. A null
  // reference with Python's exception set where there is none.
  PyRef AttributeOf(PyObject* object, const std::string& name, const PyRef& home);

  // The value of a Python object that needs no parameter: numbers, strings, None, dtypes, modules,
  // functions, tuples of these. Undefined for what has no meaning in the language. `home` is the
  // function that reads it, null where it is an argument; it may decide what a function means.
  Value FromPython(PyObject* object, const PyRef& home);
  // The function behind a method of arrays, if there is one, where `home` calls it.
  std::optional<Value> MethodNamed(const std::string& name, const PyRef& home);
  // True for an array, and for a list, which is one where it holds numbers: they become captures.
  static bool IsArray(PyObject* object);
  // One of ours, which is on a device: no capture can be.
  static bool IsOnDevice(PyObject* object);
  // What a capture is: its dtype, rank and layout. Throws for what cannot be one, naming `name`.
  static Argument Describe(PyObject* object, const std::string& name, const ir::Span& span);

  // The number of the capture, made once.
  int CaptureOf(Capture capture);
  const std::vector<Capture>& captures() const { return captures_; }
  const std::vector<Dependency>& dependencies() const { return dependencies_; }

 private:
  Found Look(PyObject* function, const std::string& name) const;
  void Record(NamespaceKind kind, PyObject* function, const std::string& name, const PyRef& object);
  PyRef OverloadOf(PyObject* object, const PyRef& home);

  ir::SourceMap* sources_;
  SyntaxArchive* library_;
  std::unordered_map<PyObject*, FunctionSyntaxPtr> syntax_;
  std::vector<Capture> captures_;
  std::vector<Dependency> dependencies_;
};

// "numpy.linalg.norm": the module and qualified name of a function or class, or its repr.
std::string NameOfObject(PyObject* object);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_RESOLVE_H_
