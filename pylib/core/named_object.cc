#include "pylib/core/named_object.h"

#include <string_view>

namespace parakeet::pylib {
namespace {

Ref AttributeNamed(PyObject* object, const char* name) {
  Ref value = Ref::Steal(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value;
}

// The text of an attribute; empty where there is none.
std::string TextOf(PyObject* object, const char* name) {
  const Ref value = AttributeNamed(object, name);
  const bool is_text = value && PyUnicode_Check(value.get());
  const char* text = is_text ? PyUnicode_AsUTF8AndSize(value.get(), nullptr) : nullptr;
  PyErr_Clear();
  return text == nullptr ? "" : text;
}

// The first part of a dotted name.
std::string_view RootOf(const std::string& module) {
  return std::string_view(module).substr(0, module.find('.'));
}

PyObject* TypeOf(PyObject* object) { return reinterpret_cast<PyObject*>(Py_TYPE(object)); }

std::string TypeName(PyObject* object) {
  PyObject* type = PyType_Check(object) ? object : TypeOf(object);
  return TextOf(type, "__module__") + "." + TextOf(type, "__qualname__");
}

// What an imported module has under a dotted name; null where there is no such thing.
Ref Find(const std::string& module, std::string_view path) {
  PyObject* modules = PyImport_GetModuleDict();
  Ref found = Ref::Borrow(PyDict_GetItemString(modules, module.c_str()));
  while (found && !path.empty()) {
    const std::string part(path.substr(0, path.find('.')));
    path.remove_prefix(part.size() == path.size() ? path.size() : part.size() + 1);
    found = AttributeNamed(found.get(), part.c_str());
  }
  return found;
}

// A name of NumPy's own objects that do not know theirs, such as np.mgrid.
std::string FindInNumpy(PyObject* object) {
  const Ref numpy = Find("numpy", "");
  PyObject* names = numpy && PyModule_Check(numpy.get()) ? PyModule_GetDict(numpy.get()) : nullptr;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; names != nullptr && PyDict_Next(names, &at, &key, &value);) {
    const char* text =
        value == object && PyUnicode_Check(key) ? PyUnicode_AsUTF8AndSize(key, nullptr) : nullptr;
    if (text != nullptr) return std::string("numpy.") + text;
  }
  return "";
}

}  // namespace

NamedObject NameObject(PyObject* object) {
  // Our operators and primitives: the compiler knows them by kind and name.
  const std::string kind = TextOf(TypeOf(object), "parakeet_kind");
  if (!kind.empty()) return {"parakeet " + kind + " " + TextOf(object, "name"), true};
  const bool is_numpys = RootOf(TextOf(TypeOf(object), "__module__")) == "numpy";
  // An object of a user's class may answer to any name.
  if (!is_numpys && PyCallable_Check(object) == 0) return {TypeName(object), false};
  std::string module = TextOf(object, "__module__");
  std::string path = TextOf(object, "__qualname__");
  if (path.empty()) path = TextOf(object, "__name__");
  if (module.empty() && is_numpys) module = "numpy";
  // `np.add.reduce`, read outside: made anew each time, and never what is found by its name.
  if (PyObject_TypeCheck(object, &PyCFunction_Type)) {
    const Ref self = AttributeNamed(object, "__self__");
    if (self && RootOf(TextOf(TypeOf(self.get()), "__module__")) == "numpy") {
      NamedObject owner = NameObject(self.get());
      owner.name += "." + TextOf(object, "__name__");
      return owner;
    }
  }
  if (!module.empty() && !path.empty() && Find(module, path).get() == object) {
    return {module + "." + path, true};
  }
  if (is_numpys) {
    const std::string name = FindInNumpy(object);
    if (!name.empty()) return {name, true};
  }
  return {TypeName(object), false};
}

bool IsKnownByIdentity(PyObject* object) {
  const std::string root(RootOf(TextOf(TypeOf(object), "__module__")));
  // A class whose metaclass answers for its subclasses.
  if (PyType_Check(object)) return root == "abc";
  return PyCallable_Check(object) != 0 &&
         (root == "builtins" || root == "numpy" || root == "parakeet");
}

bool IsOfLibrary(PyObject* function) {
  const std::string module = TextOf(function, "__module__");
  return RootOf(module) == "numpy";
}

}  // namespace parakeet::pylib
