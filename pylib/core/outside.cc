#include "pylib/core/outside.h"

#include "pylib/core/content.h"

namespace parakeet::pylib {
namespace {

Ref Attribute(PyObject* object, const char* name) {
  return Ref::Steal(PyObject_GetAttrString(object, name));
}

// The number of a free variable among a function's cells, or -1.
Py_ssize_t CellNumber(PyObject* function, PyObject* name) {
  Ref code = Attribute(function, "__code__");
  Ref names = code ? Attribute(code.get(), "co_freevars") : Ref();
  return names ? PySequence_Index(names.get(), name) : -1;
}

// Where the default of parameter `name` stands: its number in __defaults__, or -1 for
// __kwdefaults__. False where there is no such parameter.
bool FindDefault(PyObject* function, PyObject* name, Py_ssize_t* number) {
  Ref code = Attribute(function, "__code__");
  Ref names = code ? Attribute(code.get(), "co_varnames") : Ref();
  Ref count = code ? Attribute(code.get(), "co_argcount") : Ref();
  Ref defaults = Attribute(function, "__defaults__");
  if (!names || !count || !defaults) return false;
  const Py_ssize_t place = PySequence_Index(names.get(), name);
  const Py_ssize_t positional = PyLong_AsSsize_t(count.get());
  const Py_ssize_t given = PyTuple_Check(defaults.get()) ? PyTuple_Size(defaults.get()) : 0;
  *number = place < positional ? place - (positional - given) : -1;
  return place >= 0;
}

// Borrowed from the function; null where there is none.
PyObject* ReadDefault(PyObject* function, PyObject* name, Py_ssize_t number) {
  Ref defaults = Attribute(function, number < 0 ? "__kwdefaults__" : "__defaults__");
  if (!defaults) {
    PyErr_Clear();
    return nullptr;
  }
  if (number < 0) {
    return PyDict_Check(defaults.get()) ? PyDict_GetItemWithError(defaults.get(), name) : nullptr;
  }
  const bool is_there = PyTuple_Check(defaults.get()) && number < PyTuple_Size(defaults.get());
  return is_there ? PyTuple_GetItem(defaults.get(), number) : nullptr;
}

// `__builtins__` is a dictionary or a module.
Ref BuiltinsOf(PyObject* globals) {
  PyObject* builtins = PyDict_GetItemString(globals, "__builtins__");
  if (builtins == nullptr) return Ref::Borrow(PyEval_GetBuiltins());
  if (PyDict_Check(builtins)) return Ref::Borrow(builtins);
  return Ref::Borrow(PyModule_GetDict(builtins));
}

// Which static argument is this function, unwrapped; -1 for none.
int ArgumentThatIs(PyObject* function, const std::vector<Ref>& statics) {
  for (size_t i = 0; i < statics.size(); ++i) {
    if (Unwrap(statics[i].get()) == function) return int(i);
  }
  return -1;
}

}  // namespace

uint64_t overloads_version = 0;

Ref LookUpOverload(PyObject* object, const std::string& method) {
  Ref overloads = Ref::Steal(PyImport_ImportModule("parakeet.overloading"));
  if (!overloads) return overloads;
  if (object != Py_None) {
    return Ref::Steal(PyObject_CallMethod(overloads.get(), "lookup", "OO", object, Py_None));
  }
  return Ref::Steal(
      PyObject_CallMethod(overloads.get(), "lookup_method", "sO", method.c_str(), Py_None));
}

PyObject* OutsidePlace::Read() const {
  switch (space) {
    case Namespace::kClosure: return CellContents(holder.get());
    case Namespace::kBuiltin:
      if (PyDict_GetItemWithError(globals.get(), name.get()) != nullptr) return nullptr;
      return PyDict_GetItemWithError(holder.get(), name.get());
    case Namespace::kGlobal: return PyDict_GetItemWithError(holder.get(), name.get());
    case Namespace::kDefault:
    case Namespace::kOverload:
    case Namespace::kAttribute: break;
  }
  return ReadDefault(holder.get(), name.get(), number);
}

Ref OutsidePlace::ReadNow() const {
  if (space != Namespace::kAttribute) return Ref::Borrow(Read());
  Ref found = Ref::Steal(PyObject_GetAttr(holder.get(), name.get()));
  if (!found) PyErr_Clear();
  return found;
}

bool OutsidePlace::Locate(const OutsideName& from, PyObject* function) {
  space = from.space;
  name = Ref::Steal(PyUnicode_InternFromString(from.name.c_str()));
  if (!name) return false;
  if (space == Namespace::kDefault) {
    holder = Ref::Borrow(function);
    return FindDefault(function, name.get(), &number);
  }
  if (space == Namespace::kClosure) {
    const Py_ssize_t cell = CellNumber(function, name.get());
    Ref closure = Attribute(function, "__closure__");
    if (cell < 0 || !closure || !PyTuple_Check(closure.get())) return false;
    holder = Ref::Borrow(PyTuple_GetItem(closure.get(), cell));
    return bool(holder);
  }
  Ref names = Attribute(function, "__globals__");
  if (!names || !PyDict_Check(names.get())) return false;
  if (space == Namespace::kGlobal) {
    holder = std::move(names);
  } else {
    holder = BuiltinsOf(names.get());
    globals = std::move(names);
  }
  return true;
}

bool OutsideObjects::Bind(const Manifest& manifest, PyObject* functions, PyObject* objects,
                          const std::vector<Ref>& statics) {
  for (size_t i = 0; i < manifest.dependencies.size(); ++i) {
    const OutsideName& from = manifest.dependencies[i];
    PyObject* object = PyTuple_GetItem(objects, Py_ssize_t(i));
    PyObject* function = PyTuple_GetItem(functions, from.function);
    if (object == nullptr || function == nullptr) return false;
    if (from.space == Namespace::kOverload) {
      overloads_.push_back({Ref::Borrow(function), from.name, Ref::Borrow(object)});
      continue;
    }
    // Modules and what they have are not guarded, and the closure of an argument has been compared
    // with the argument.
    if (PyModule_Check(object)) continue;
    if (from.space == Namespace::kAttribute) {
      GuardAttribute(function, from.name, object);
      continue;
    }
    if (from.space == Namespace::kClosure && ArgumentThatIs(function, statics) >= 0) continue;
    Guard guard;
    if (!guard.place.Locate(from, function)) return false;
    guard.object = Ref::Borrow(object);
    guards_.push_back(std::move(guard));
  }
  for (const CaptureSource& source : manifest.captures) {
    PyObject* function = PyTuple_GetItem(functions, source.from.function);
    Capture capture;
    if (function == nullptr || !capture.place.Locate(source.from, function)) return false;
    if (source.from.space == Namespace::kClosure) {
      capture.argument = ArgumentThatIs(function, statics);
      capture.cell = CellNumber(function, capture.place.name.get());
    }
    capture.path = source.path;
    captures_.push_back(std::move(capture));
  }
  return true;
}

// Of an object of the user's, or a class; not what is another each time it is read.
void OutsideObjects::GuardAttribute(PyObject* holder, const std::string& name, PyObject* object) {
  if (PyModule_Check(holder) || IsMadeByNumpy(holder)) return;
  Guard guard;
  guard.place.space = Namespace::kAttribute;
  guard.place.name = Ref::Steal(PyUnicode_InternFromString(name.c_str()));
  guard.place.holder = Ref::Borrow(holder);
  guard.object = Ref::Borrow(object);
  const Ref now = guard.place.ReadNow();
  if (now && (now.get() == object || MayReplace(now.get(), object)))
    guards_.push_back(std::move(guard));
}

// Whether each still is what it was compiled as. A registration is compared by identity: what its
// function captures is read from that function's own cells.
bool OutsideObjects::OverloadsHold() {
  const uint64_t version = overloads_version;
  if (allows_no_overload_) return false;
  for (const Overload& overload : overloads_) {
    Ref now = LookUpOverload(overload.replaced.get(), overload.method);
    if (!now) PyErr_Clear();
    if (now.get() != overload.function.get()) return false;
  }
  version_ = version;
  return true;
}

bool OutsideObjects::AllHold() {
  if (version_ != overloads_version && !OverloadsHold()) return false;
  for (Guard& guard : guards_) {
    if (guard.place.space == Namespace::kAttribute) {
      Ref object = guard.place.ReadNow();
      if (object.get() == guard.object.get()) continue;
      if (!object || !MayReplace(object.get(), guard.object.get())) return false;
      guard.object = std::move(object);
      continue;
    }
    PyObject* object = guard.place.Read();
    if (object == guard.object.get()) continue;
    if (object == nullptr || !MayReplace(object, guard.object.get())) return false;
    guard.object = Ref::Borrow(object);
  }
  return true;
}

// What stands in nested tuples where the steps lead, borrowed; null where they lead nowhere.
PyObject* OutsideObjects::AlongPath(PyObject* object, const std::vector<uint32_t>& path) {
  for (uint32_t step : path) {
    if (object == nullptr || !PyTuple_Check(object)) return nullptr;
    if (step >= size_t(PyTuple_Size(object))) return nullptr;
    object = PyTuple_GetItem(object, step);
  }
  return object;
}

// The captured object as it is now; none where it is gone.
Ref OutsideObjects::Follow(const Capture& capture, const Arguments& call) {
  PyObject* object = nullptr;
  if (capture.argument >= 0) {
    Ref closure = Attribute(Unwrap(call.statics[capture.argument]), "__closure__");
    if (!closure || !PyTuple_Check(closure.get())) return Ref();
    PyObject* cell = PyTuple_GetItem(closure.get(), capture.cell);
    object = cell == nullptr ? nullptr : CellContents(cell);
  } else {
    object = capture.place.Read();
  }
  return Ref::Borrow(AlongPath(object, capture.path));
}

bool OutsideObjects::TakeCaptures(const ExpectedCall& expected, DirectArguments* call) const {
  for (size_t i = 0; i < captures_.size(); ++i) {
    if (captures_[i].argument >= 0) return false;
    PyObject* object = AlongPath(captures_[i].place.Read(), captures_[i].path);
    if (object == nullptr) {
      PyErr_Clear();
      return false;
    }
    if (!expected.TakeCapture(i, object, call)) return false;
  }
  return true;
}

Encoded OutsideObjects::ReadCaptures(const Manifest& manifest, Arguments* call) const {
  const size_t first = manifest.leaves.size() - captures_.size();
  for (size_t i = 0; i < captures_.size(); ++i) {
    Ref object = Follow(captures_[i], *call);
    if (!object) {
      PyErr_Clear();
      return Encoded::kRefused;
    }
    uint64_t word = 0;
    const Encoded result = EncodeCapture(object.get(), &word, call);
    if (result != Encoded::kYes) return result;
    if (word != manifest.leaves[first + i]) return Encoded::kRefused;
    // Another thread may bind the name anew while the code runs without the GIL.
    call->owned.push_back(std::move(object));
  }
  return Encoded::kYes;
}

}  // namespace parakeet::pylib
