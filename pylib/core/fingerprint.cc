#include "pylib/core/fingerprint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/core/content.h"
#include "pylib/core/named_object.h"
#include "pylib/core/numpy_access.h"

namespace parakeet::pylib {
namespace {

// Deeper tuples, constants and closures are not followed, and nothing is certain then.
constexpr int kDeepestFingerprint = 40;

Ref Attribute(PyObject* object, const char* name) {
  Ref value = Ref::Steal(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value;
}

int64_t IntegerAttribute(PyObject* object, const char* name) {
  const Ref value = Attribute(object, name);
  const int64_t number = value ? PyLong_AsLongLong(value.get()) : -1;
  PyErr_Clear();
  return number;
}

// pytest compiles tests from a tree in which it has replaced the assertions: the code does not say
// what the source does.
bool IsRewritten(PyObject* names) {
  for (Py_ssize_t i = 0; PyTuple_Check(names) && i < PyTuple_Size(names); ++i) {
    PyObject* name = PyTuple_GetItem(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "@pytest_ar") == 0) return true;
    if (PyUnicode_CompareWithASCIIString(name, "@py_builtins") == 0) return true;
  }
  return false;
}

}  // namespace

void Fingerprint::AddWord(uint64_t word) {
  bytes_.append(reinterpret_cast<const char*>(&word), sizeof(word));
}

void Fingerprint::AddText(std::string_view text) {
  AddWord(text.size());
  bytes_ += text;
}

std::string Fingerprint::Take() { return std::exchange(bytes_, std::string()); }

void Fingerprint::AddRepr(PyObject* object) {
  const Ref text = Ref::Steal(PyObject_Repr(object));
  if (!text || !AddString(text.get())) is_certain_ = false;
  PyErr_Clear();
}

bool Fingerprint::AddString(PyObject* text) {
  Py_ssize_t size = 0;
  const char* letters = PyUnicode_AsUTF8AndSize(text, &size);
  if (letters != nullptr) AddText({letters, size_t(size)});
  PyErr_Clear();  // lone surrogates
  return letters != nullptr;
}

void Fingerprint::AddItems(PyObject* tuple, bool deep, int depth) {
  const Py_ssize_t size = PyTuple_Size(tuple);
  AddWord(uint64_t(size));
  for (Py_ssize_t i = 0; i < size; ++i) AddObject(PyTuple_GetItem(tuple, i), deep, depth + 1);
}

// Python's and NumPy's own; objects of classes derived from them are read through attributes.
bool Fingerprint::AddNumber(PyObject* object) {
  const bool is_python = PyBool_Check(object) || PyFloat_CheckExact(object) ||
                         PyLong_CheckExact(object) || PyComplex_CheckExact(object);
  if (!is_python && ScalarTypeOf(object) < 0) return false;
  Arguments scratch;
  uint64_t word = 0;
  if (EncodeCapture(object, &word, &scratch) != Encoded::kYes) {
    PyErr_Clear();  // beyond 64 bits
    AddTag('I');
    AddRepr(object);
    return true;
  }
  AddTag('i');
  AddWord(word);
  for (uint64_t slot : scratch.slots) AddWord(slot);
  return true;
}

// What is equal by its value alone.
bool Fingerprint::AddPlain(PyObject* object, bool deep, int depth) {
  if (object == Py_None || object == Py_Ellipsis) {
    AddTag(object == Py_None ? 'N' : 'E');
  } else if (PyUnicode_Check(object)) {
    AddTag('u');
    if (!AddString(object)) is_certain_ = false;
  } else if (PyBytes_Check(object)) {
    AddTag('b');
    AddText({PyBytes_AsString(object), size_t(PyBytes_Size(object))});
  } else if (PyTuple_Check(object)) {
    AddTag('t');
    AddItems(object, deep, depth);
  } else if (Py_TYPE(object) == &PySlice_Type) {
    AddTag('s');
    for (const char* part : {"start", "stop", "step"}) AddPart(object, part, deep, depth);
  } else if (IsDType(object)) {
    AddTag('d');
    AddRepr(object);
  } else if (IsArray(object) || PyList_Check(object)) {
    AddTag('a');
    AddWord(LeafWordOf(object));
  } else {
    return false;
  }
  return true;
}

void Fingerprint::AddPart(PyObject* object, const char* name, bool deep, int depth) {
  const Ref part = Attribute(object, name);
  // Numbers are given to what lives on: this reference is one of several.
  if (part) AddObject(part.get(), deep, depth + 1);
  if (!part) AddTag('-');
}

void Fingerprint::AddObject(PyObject* object, bool deep, int depth) {
  object = Unwrap(object);
  if (depth > kDeepestFingerprint) {
    is_certain_ = false;
  } else if (!AddNumber(object) && !AddPlain(object, deep, depth)) {
    AddIdentical(object, deep, depth);
  }
}

void Fingerprint::AddIdentical(PyObject* object, bool deep, int depth) {
  const auto [place, is_new] = numbers_.try_emplace(object, uint32_t(numbers_.size()));
  AddTag('#');
  AddWord(place->second);
  if (!is_new) return;
  if (PyModule_Check(object)) {
    AddTag('m');
    AddPart(object, "__name__", deep, depth);
  } else if (IsPythonFunction(object) && !IsOfLibrary(object)) {
    AddTag('f');
    AddFunction(object, deep, depth);
  } else {
    AddNamed(object);
  }
}

void Fingerprint::AddNamed(PyObject* object) {
  const NamedObject named = NameObject(object);
  AddTag(named.is_found ? 'n' : 'o');
  AddText(named.name);
  is_certain_ = is_certain_ && (named.is_found || !IsKnownByIdentity(object));
}

void Fingerprint::AddFunction(PyObject* function, bool deep, int depth) {
  const Ref code = Attribute(function, "__code__");
  if (!code) {
    is_certain_ = false;
    return;
  }
  AddCode(code.get(), IntegerAttribute(code.get(), "co_firstlineno"), depth);
  if (!deep) return;
  AddPart(function, "__defaults__", deep, depth);
  const Ref cells = Attribute(function, "__closure__");
  for (Py_ssize_t i = 0; cells && PyTuple_Check(cells.get()) && i < PyTuple_Size(cells.get());
       ++i) {
    PyObject* value = CellContents(PyTuple_GetItem(cells.get(), i));
    AddTag('c');
    if (value != nullptr) AddObject(value, deep, depth + 1);
  }
}

// Lines are counted from those of the outermost function.
void Fingerprint::AddCode(PyObject* code, int64_t first_line, int depth) {
  for (const char* name : {"co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_flags"}) {
    AddWord(uint64_t(IntegerAttribute(code, name)));
  }
  AddWord(uint64_t(IntegerAttribute(code, "co_firstlineno") - first_line));
  for (const char* name : {"co_name", "co_code", "co_linetable", "co_exceptiontable", "co_names",
                           "co_varnames", "co_freevars", "co_cellvars"}) {
    AddPart(code, name, false, depth);
  }
  const Ref names = Attribute(code, "co_names"), constants = Attribute(code, "co_consts");
  if (!names || !constants || !PyTuple_Check(constants.get()) || IsRewritten(names.get())) {
    is_certain_ = false;
    return;
  }
  AddWord(uint64_t(PyTuple_Size(constants.get())));
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    AddConstant(PyTuple_GetItem(constants.get(), i), first_line, depth + 1);
  }
}

// What the code of a function holds: numbers, texts, tuples of these, sets, and nested code.
void Fingerprint::AddConstant(PyObject* constant, int64_t first_line, int depth) {
  if (depth > kDeepestFingerprint) {
    is_certain_ = false;
  } else if (Py_TYPE(constant) == &PyFrozenSet_Type) {
    // Its order differs from process to process, where it holds texts.
    std::vector<std::string> items;
    const Ref list = Ref::Steal(PySequence_List(constant));
    for (Py_ssize_t i = 0; list && i < PyList_Size(list.get()); ++i) {
      Fingerprint item;
      item.AddConstant(PyList_GetItem(list.get(), i), first_line, depth + 1);
      is_certain_ = is_certain_ && item.is_certain();
      items.push_back(item.Take());
    }
    std::sort(items.begin(), items.end());
    AddTag('z');
    for (const std::string& item : items) AddText(item);
  } else if (PyTuple_Check(constant)) {
    AddTag('t');
    AddWord(uint64_t(PyTuple_Size(constant)));
    for (Py_ssize_t i = 0; i < PyTuple_Size(constant); ++i) {
      AddConstant(PyTuple_GetItem(constant, i), first_line, depth + 1);
    }
  } else if (IsCode(constant)) {
    AddTag('k');
    AddCode(constant, first_line, depth);
  } else if (!AddNumber(constant) && !AddPlain(constant, false, depth)) {
    is_certain_ = false;
  }
}

}  // namespace parakeet::pylib
