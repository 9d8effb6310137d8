#include "frontend/registry.h"

#include "frontend/python_errors.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

PyRef Registry() { return Checked(PyImport_ImportModule("parakeet.library.registry")); }

PyRef Attribute(PyObject* object, const char* name) {
  return Checked(PyObject_GetAttrString(object, name));
}

// What an entry of the registry is: objects of ours say so themselves, all else is a function
// written in the language.
Value FromEntry(const PyRef& entry) {
  const std::string kind = TextAttribute(entry.get(), "parakeet_kind");
  if (kind.empty()) return UserFunctionValue{entry, PyRef()};
  const std::string name = TextAttribute(entry.get(), "name");
  if (kind == "primitive") return PrimitiveValue{name, "", entry};
  if (kind == "operator") return OperatorValue{name};
  if (kind == "intrinsic") return IntrinsicValue{name};
  ir::FailBug("an entry of the registry is of the unknown kind " + kind);
}

// The entry under a string in one of the registry's tables, or none.
std::optional<Value> EntryNamed(const char* table, const std::string& name) {
  const PyRef entry =
      Checked(PyObject_CallMethod(Registry().get(), "named", "ss", table, name.c_str()));
  if (entry.IsNone()) return std::nullopt;
  return FromEntry(entry);
}

// What one of the registry's functions finds for an object, or none.
std::optional<Value> LookUp(const char* function, PyObject* object) {
  const PyRef lookup = Attribute(Registry().get(), function);
  const PyRef entry = Checked(PyObject_CallFunctionObjArgs(lookup.get(), object, nullptr));
  if (entry.IsNone()) return std::nullopt;
  return FromEntry(entry);
}

PyRef AskOverloads(const char* function, PyObject* what, PyObject* home) {
  const PyRef overloads = Checked(PyImport_ImportModule("parakeet.overloading"));
  const PyRef lookup = Attribute(overloads.get(), function);
  PyRef found = Checked(
      PyObject_CallFunctionObjArgs(lookup.get(), what, home == nullptr ? Py_None : home, nullptr));
  return found.IsNone() ? PyRef() : std::move(found);
}

}  // namespace

PyRef LookUpOverload(PyObject* object, PyObject* home) {
  return AskOverloads("lookup", object, home);
}

PyRef LookUpMethodOverload(const std::string& name, PyObject* home) {
  return AskOverloads("lookup_method", Checked(PyUnicode_FromString(name.c_str())).get(), home);
}

std::optional<Value> LookUpObject(PyObject* object) { return LookUp("lookup", object); }

std::optional<Value> LookUpSubscript(PyObject* object) {
  return LookUp("lookup_subscript", object);
}

std::optional<Value> LookUpMethod(const std::string& name) { return EntryNamed("methods", name); }

std::optional<Value> LookUpUfuncMethod(const std::string& name) {
  return EntryNamed("ufunc_methods", name);
}

Value ComposedUfunc(const std::string& name) {
  const auto found = EntryNamed("composed", name);
  if (!found) ir::FailBug("the library composes no element-wise function " + name);
  return *found;
}

Value LibraryFunction(const std::string& name) {
  const auto found = EntryNamed("functions", name);
  if (!found) ir::FailBug("the library has no function " + name);
  return *found;
}

bool IsOurFunction(PyObject* function) {
  return TextAttribute(function, "__module__").starts_with("parakeet.");
}

bool IsLibraryFunction(PyObject* function) {
  return TextAttribute(function, "__module__").starts_with("parakeet.library");
}

}  // namespace parakeet::frontend
