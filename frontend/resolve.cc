#include "frontend/resolve.h"

#include <utility>

#include "frontend/python_errors.h"
#include "frontend/read_python_function.h"
#include "frontend/registry.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

// The attribute, or a null reference where there is none.
PyRef TryAttribute(PyObject* object, const char* name) {
  PyRef found = PyRef::Steal(PyObject_GetAttrString(object, name));
  PyErr_Clear();
  return found;
}

// A type of a module that the process has imported already; null where it has not, and then no
// object can be of that type.
PyRef LoadedType(const char* module, const char* type) {
  const PyRef name = Checked(PyUnicode_FromString(module));
  const PyRef loaded = PyRef::Steal(PyImport_GetModule(name.get()));
  PyErr_Clear();
  return loaded ? TryAttribute(loaded.get(), type) : PyRef();
}

bool IsInstance(PyObject* object, const char* module, const char* type) {
  const PyRef wanted = LoadedType(module, type);
  const bool is_instance = wanted && PyObject_IsInstance(object, wanted.get()) == 1;
  PyErr_Clear();
  return is_instance;
}

bool IsSubclass(PyObject* type, PyObject* wanted) {
  const bool is_subclass = PyType_Check(type) && PyObject_IsSubclass(type, wanted) == 1;
  PyErr_Clear();
  return is_subclass;
}

// The type of Python functions, whichever modules are loaded.
PyRef FunctionType() {
  const PyRef types = Checked(PyImport_ImportModule("types"));
  return Checked(PyObject_GetAttrString(types.get(), "FunctionType"));
}

bool IsFunction(PyObject* object) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == FunctionType().get();
}

// The Python function inside a jitted object; the object itself where it is a function; else null.
PyRef PlainFunction(PyObject* object) {
  if (IsFunction(object)) return PyRef::Borrow(object);
  const PyRef type = PyRef::Borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  if (TextAttribute(type.get(), "__module__").rfind("parakeet", 0) != 0) return PyRef();
  PyRef wrapped = TryAttribute(object, "__wrapped__");
  return wrapped && IsFunction(wrapped.get()) ? wrapped : PyRef();
}

// `np.maximum.accumulate`, read outside of jitted code: the element-wise function, and the name.
std::optional<Value> MethodOfUfunc(PyObject* object) {
  if (!PyObject_TypeCheck(object, &PyCFunction_Type)) return std::nullopt;
  const PyRef self = TryAttribute(object, "__self__");
  if (!self || !IsInstance(self.get(), "numpy", "ufunc")) return std::nullopt;
  std::optional<Value> function = LookUpObject(self.get());
  const std::string name = TextAttribute(object, "__name__");
  if (!function || !function->Is<PrimitiveValue>() || !LookUpUfuncMethod(name)) return std::nullopt;
  return Value::Method(*std::move(function), name);
}

std::optional<Value> IntegerValue(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) return Value::Int(value);
  const unsigned long long wide = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return Value::Python(ir::Constant::Int(static_cast<int64_t>(wide), ir::DType::kU64));
}

std::optional<Value> PythonNumber(PyObject* object) {
  if (PyBool_Check(object)) return Value::Bool(object == Py_True);
  if (PyLong_CheckExact(object)) return IntegerValue(object);
  if (PyFloat_CheckExact(object)) return Value::Float(PyFloat_AsDouble(object));
  if (PyComplex_CheckExact(object)) {
    return Value::Python(
        ir::Constant::Complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
  }
  return std::nullopt;
}

std::optional<ir::DType> DTypeOfDescriptor(PyObject* descriptor) {
  const PyRef number = TryAttribute(descriptor, "num");
  const PyRef native = TryAttribute(descriptor, "isnative");
  if (!number || !native || native.get() != Py_True) return std::nullopt;
  return ir::DTypeFromNumpy(static_cast<int>(PyLong_AsLong(number.get())));
}

// A NumPy scalar as a constant of its dtype.
std::optional<Value> NumpyScalar(PyObject* object) {
  if (!IsInstance(object, "numpy", "generic")) return std::nullopt;
  const PyRef descriptor = TryAttribute(object, "dtype");
  const auto dtype = DTypeOfDescriptor(descriptor.get());
  const PyRef item = PyRef::Steal(PyObject_CallMethod(object, "item", nullptr));
  PyErr_Clear();
  if (!dtype || !item) return std::nullopt;
  const std::optional<Value> number = PythonNumber(item.get());
  if (!number) return std::nullopt;
  ir::Constant constant = number->op().constant();
  constant.dtype = *dtype;
  return Value::NumPy(constant);
}

std::optional<Value> DTypeValueOf(PyObject* object) {
  if (IsInstance(object, "numpy", "dtype")) {
    const auto dtype = DTypeOfDescriptor(object);
    if (dtype) return DTypeValue{*dtype};
    return std::nullopt;
  }
  const PyRef generic = LoadedType("numpy", "generic");
  if (!generic || !IsSubclass(object, generic.get())) return std::nullopt;
  const PyRef make = LoadedType("numpy", "dtype");
  const PyRef descriptor = PyRef::Steal(PyObject_CallFunctionObjArgs(make.get(), object, nullptr));
  PyErr_Clear();
  const auto dtype = descriptor ? DTypeOfDescriptor(descriptor.get()) : std::nullopt;
  if (!dtype) return std::nullopt;
  return DTypeValue{*dtype};
}

// Python's exceptions, and those that NumPy adds to them, which parakeet.errors finds by name.
std::optional<Value> ExceptionOf(PyObject* object) {
  if (!IsSubclass(object, PyExc_Exception)) return std::nullopt;
  const std::string name = TextAttribute(object, "__name__");
  const bool is_numpy = name == "LinAlgError" || name == "AxisError";
  if (!is_numpy && TextAttribute(object, "__module__") != "builtins") return std::nullopt;
  return ExceptionValue{name};
}

// Mutable containers have no meaning: what they hold would be read once and then be stale.
bool IsRefusedContainer(PyObject* object) {
  return PyDict_Check(object) || PyList_Check(object) || PyObject_TypeCheck(object, &PySet_Type) ||
         PyObject_TypeCheck(object, &PyFrozenSet_Type) || PyBytes_Check(object) ||
         PyByteArray_Check(object);
}

}  // namespace

std::string NameOfObject(PyObject* object) {
  const std::string module = TextAttribute(object, "__module__");
  const std::string name = TextAttribute(object, "__qualname__");
  if (!name.empty()) return module.empty() || module == "builtins" ? name : module + "." + name;
  const PyRef type = PyRef::Borrow(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  return "a " + TextAttribute(type.get(), "__name__");
}

FunctionSyntaxPtr Resolver::SyntaxOf(PyObject* function) {
  FunctionSyntaxPtr& syntax = syntax_[function];
  if (syntax == nullptr && library_ != nullptr && IsLibraryFunction(function)) {
    syntax = library_->Find(function, sources_);
  }
  if (syntax == nullptr) syntax = ReadPythonFunction(function, sources_);
  return syntax;
}

Resolver::Found Resolver::Find(PyObject* function, const std::string& name) {
  Found found = Look(function, name);
  if (found.object) Record(found.kind, function, name, found.object);
  return found;
}

Resolver::Found Resolver::Look(PyObject* function, const std::string& name) const {
  const PyRef cells = TryAttribute(function, "__closure__");
  if (cells && !cells.IsNone()) {
    const PyRef code = Checked(PyObject_GetAttrString(function, "__code__"));
    const PyRef names = Checked(PyObject_GetAttrString(code.get(), "co_freevars"));
    for (Py_ssize_t i = 0; i < PyTuple_Size(names.get()); ++i) {
      if (TextOf(PyTuple_GetItem(names.get(), i)) != name) continue;
      return {NamespaceKind::kClosure,
              TryAttribute(PyTuple_GetItem(cells.get(), i), "cell_contents")};
    }
  }
  const PyRef globals = TryAttribute(function, "__globals__");
  const PyRef key = Checked(PyUnicode_FromString(name.c_str()));
  if (globals) {
    PyRef object = PyRef::Borrow(PyDict_GetItemWithError(globals.get(), key.get()));
    if (object) return {NamespaceKind::kGlobal, std::move(object)};
  }
  const PyRef builtins = TryAttribute(function, "__builtins__");
  if (builtins && PyDict_Check(builtins.get())) {
    return {NamespaceKind::kBuiltin,
            PyRef::Borrow(PyDict_GetItemWithError(builtins.get(), key.get()))};
  }
  return {NamespaceKind::kBuiltin, PyRef()};
}

PyRef Resolver::DefaultOf(PyObject* function, const std::string& parameter) {
  const FunctionSyntaxPtr syntax = SyntaxOf(function);
  PyRef found;
  Py_ssize_t after = 0;  // Positional parameters with a default from this one on.
  for (auto p = syntax->parameters.rbegin(); p != syntax->parameters.rend(); ++p) {
    const bool is_keyword = p->kind == ParameterKind::kKeywordOnly;
    if (!is_keyword && p->has_default) ++after;
    if (p->name != parameter) continue;
    if (is_keyword) {
      const PyRef values = TryAttribute(function, "__kwdefaults__");
      const PyRef key = Checked(PyUnicode_FromString(parameter.c_str()));
      if (values && !values.IsNone()) {
        found = PyRef::Borrow(PyDict_GetItemWithError(values.get(), key.get()));
      }
    } else {
      const PyRef values = TryAttribute(function, "__defaults__");
      if (values && !values.IsNone() && after <= PyTuple_Size(values.get())) {
        found = PyRef::Borrow(PyTuple_GetItem(values.get(), PyTuple_Size(values.get()) - after));
      }
    }
    break;
  }
  if (found) Record(NamespaceKind::kDefault, function, parameter, found);
  return found;
}

PyRef Resolver::AttributeOf(PyObject* object, const std::string& name, const PyRef& home) {
  const bool is_ours = home && IsOurFunction(home.get());
  PyRef found = PyRef::Steal(PyObject_GetAttrString(object, name.c_str()));
  if (found && !is_ours) Record(NamespaceKind::kAttribute, object, name, found);
  return found;
}

// What the library reads of its own modules changes with the package alone.
void Resolver::Record(NamespaceKind kind, PyObject* function, const std::string& name,
                      const PyRef& object) {
  const bool is_of_function = kind != NamespaceKind::kOverload && kind != NamespaceKind::kAttribute;
  if (is_of_function && IsOurFunction(function)) return;
  for (const Dependency& known : dependencies_) {
    if (known.kind == kind && known.function.get() == function && known.name == name) return;
  }
  dependencies_.push_back({kind, PyRef::Borrow(function), name, object});
}

// The user's function for an object, or a null reference. Which it is depends on the registrations
// of the moment, and is recorded; that a function does not stand for anything within itself never
// changes.
PyRef Resolver::OverloadOf(PyObject* object, const PyRef& home) {
  if (home && IsOurFunction(home.get())) return PyRef();
  const PyRef general = LookUpOverload(object, nullptr);
  const PyRef none = PyRef::Borrow(Py_None);
  Record(NamespaceKind::kOverload, object, NameOfObject(object), general ? general : none);
  return general && home ? LookUpOverload(object, home.get()) : general;
}

std::optional<Value> Resolver::MethodNamed(const std::string& name, const PyRef& home) {
  if (home && IsOurFunction(home.get())) return LookUpMethod(name);
  const PyRef none = PyRef::Borrow(Py_None);
  const PyRef general = LookUpMethodOverload(name, nullptr);
  Record(NamespaceKind::kOverload, Py_None, name, general ? general : none);
  PyRef overload = general && home ? LookUpMethodOverload(name, home.get()) : general;
  if (overload) return UserFunctionValue{std::move(overload), PyRef()};
  return LookUpMethod(name);
}

Value Resolver::FromPython(PyObject* object, const PyRef& home) {
  if (object == Py_None) return Value::None();
  if (object == Py_Ellipsis) return EllipsisValue{};
  if (const auto number = PythonNumber(object)) return *number;
  if (PyUnicode_Check(object)) {
    std::string text;
    return TryTextOf(object, &text) ? Value::String(text) : Value();
  }
  if (PyTuple_Check(object)) {
    Values elements;
    for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i) {
      elements.push_back(FromPython(PyTuple_GetItem(object, i), home));
    }
    return Value::Tuple(std::move(elements));
  }
  if (PyObject_TypeCheck(object, &PySlice_Type)) {
    const auto part = [&](const char* name) {
      const PyRef value = Checked(PyObject_GetAttrString(object, name));
      return FromPython(value.get(), home);
    };
    return Value::Slice(part("start"), part("stop"), part("step"));
  }
  if (PyObject_TypeCheck(object, &PyModule_Type)) return ModuleValue{PyRef::Borrow(object)};
  if (PyRef overload = OverloadOf(object, home)) {
    return UserFunctionValue{std::move(overload), PyRef::Borrow(object)};
  }
  if (auto known = LookUpObject(object)) return *known;
  if (auto method = MethodOfUfunc(object)) return *method;
  if (auto scalar = NumpyScalar(object)) return *scalar;
  if (auto dtype = DTypeValueOf(object)) return *dtype;
  if (auto exception = ExceptionOf(object)) return *exception;
  if (PyRef function = PlainFunction(object))
    return UserFunctionValue{std::move(function), PyRef()};
  if (IsRefusedContainer(object) || IsArray(object)) return Value();
  return ObjectValue{PyRef::Borrow(object)};
}

int Resolver::CaptureOf(Capture capture) {
  for (size_t i = 0; i < captures_.size(); ++i) {
    const Capture& known = captures_[i];
    if (known.kind == capture.kind && known.function.get() == capture.function.get() &&
        known.name == capture.name && known.path == capture.path) {
      return static_cast<int>(i);
    }
  }
  captures_.push_back(std::move(capture));
  return static_cast<int>(captures_.size()) - 1;
}

bool Resolver::IsArray(PyObject* object) {
  return PyList_Check(object) || IsInstance(object, "numpy", "ndarray") || IsOnDevice(object);
}

bool Resolver::IsOnDevice(PyObject* object) {
  return IsInstance(object, "parakeet._core", "DeviceArray");
}

}  // namespace parakeet::frontend
