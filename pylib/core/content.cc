#include "pylib/core/content.h"

#include <algorithm>
#include <cstring>

#include "pylib/core/arguments.h"
#include "pylib/core/beyond_limited_api.h"
#include "pylib/core/foreign_array.h"
#include "pylib/core/function.h"
#include "pylib/core/numpy_access.h"

namespace parakeet::pylib {
namespace {

// How deep tuples and closures are followed; below that identity decides. A nested function that
// calls itself is in its own closure.
constexpr int kDeepestContent = 8;

PyTypeObject* function_type = nullptr;
PyTypeObject* cell_type = nullptr;
PyTypeObject* code_type = nullptr;
PyTypeObject* dtype_type = nullptr;  // np.dtype, of which every dtype's class is a subclass

// types.CellType's struct: one reference behind the header; checked by LoadContent.
PyObject* const* CellPlace(PyObject* cell) {
  return reinterpret_cast<PyObject* const*>(reinterpret_cast<char*>(cell) + sizeof(PyObject));
}

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

uint64_t Identity(const void* pointer) { return reinterpret_cast<uint64_t>(pointer) >> 4; }

// An attribute, borrowed: the object itself keeps it alive. Null where there is none.
PyObject* AttributeOf(PyObject* object, const char* name) {
  PyObject* value = PyObject_GetAttrString(object, name);
  if (value == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  Py_DECREF(value);
  return value;
}

// `np.add.reduce` is made anew each time it is read, equal to what it was before.
bool IsMethodOfC(PyObject* object) { return PyObject_TypeCheck(object, &PyCFunction_Type) != 0; }

bool IsCapturable(PyObject* object) { return IsArray(object) || PyList_Check(object); }

// A scalar's type and the bits of its value.
struct ScalarBits {
  uint64_t word = 0;
  uint64_t slots[2] = {0, 0};
  bool operator==(const ScalarBits&) const = default;
};

bool ReadScalar(PyObject* object, ScalarBits* bits) {
  const bool is_number = ScalarTypeOf(object) >= 0 || PyFloat_Check(object) ||
                         PyLong_Check(object) || PyComplex_Check(object);
  if (!is_number) return false;
  Arguments scratch;
  if (EncodeCapture(object, &bits->word, &scratch) != Encoded::kYes) {
    PyErr_Clear();  // beyond 64 bits
    return false;
  }
  std::memcpy(bits->slots, scratch.slots.data(), scratch.slots.size() * sizeof(uint64_t));
  return true;
}

uint64_t HashObject(PyObject* object, int depth, bool in_closure);

uint64_t HashFunction(PyObject* function, int depth) {
  uint64_t hash = Identity(AttributeOf(function, "__code__"));
  for (const char* name : {"__defaults__", "__kwdefaults__"}) {
    if (PyObject* part = AttributeOf(function, name))
      hash = Mix(hash, HashObject(part, depth, false));
  }
  PyObject* closure = AttributeOf(function, "__closure__");
  if (closure == nullptr || !PyTuple_Check(closure)) return hash;
  for (Py_ssize_t i = 0; i < PyTuple_Size(closure); ++i) {
    PyObject* value = CellContents(PyTuple_GetItem(closure, i));
    hash = Mix(hash, value == nullptr ? 0 : HashObject(value, depth, depth == 1));
  }
  return hash;
}

uint64_t HashPlain(PyObject* object) {
  const Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1) PyErr_Clear();
  return uint64_t(hash);
}

uint64_t HashObject(PyObject* object, int depth, bool in_closure) {
  object = Unwrap(object);
  if (depth >= kDeepestContent) return 0;
  ScalarBits bits;
  if (ReadScalar(object, &bits)) return Mix(Mix(bits.word, bits.slots[0]), bits.slots[1]);
  if (PyUnicode_Check(object) || PyBytes_Check(object)) return HashPlain(object);
  if (IsMethodOfC(object)) return HashPlain(object);
  if (PyObject_TypeCheck(object, dtype_type)) return HashPlain(object);
  if (Py_TYPE(object) == function_type) return HashFunction(object, depth + 1);
  if (in_closure && IsCapturable(object)) return LeafWordOf(object);
  if (PyTuple_Check(object)) {
    uint64_t hash = uint64_t(PyTuple_Size(object));
    for (Py_ssize_t i = 0; i < PyTuple_Size(object); ++i) {
      hash = Mix(hash, HashObject(PyTuple_GetItem(object, i), depth + 1, in_closure));
    }
    return hash;
  }
  if (PyDict_Check(object)) return uint64_t(PyDict_Size(object));  // keyword defaults
  return Identity(object);
}

bool IsSame(PyObject* a, PyObject* b, int depth, bool in_closure);

bool AreSameTuples(PyObject* a, PyObject* b, int depth, bool in_closure) {
  const Py_ssize_t size = PyTuple_Size(a);
  if (PyTuple_Size(b) != size) return false;
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!IsSame(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i), depth, in_closure)) return false;
  }
  return true;
}

bool AreSameDicts(PyObject* a, PyObject* b, int depth) {
  if (PyDict_Size(a) != PyDict_Size(b)) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(a, &at, &key, &value);) {
    PyObject* other = PyDict_GetItemWithError(b, key);
    if (other == nullptr || !IsSame(value, other, depth, false)) return false;
  }
  return true;
}

bool AreSameParts(PyObject* a, PyObject* b, const char* name, int depth) {
  PyObject *left = AttributeOf(a, name), *right = AttributeOf(b, name);
  return left != nullptr && right != nullptr && IsSame(left, right, depth, false);
}

bool AreSameClosures(PyObject* a, PyObject* b, int depth) {
  PyObject *left = AttributeOf(a, "__closure__"), *right = AttributeOf(b, "__closure__");
  if (left == right) return true;
  if (left == nullptr || right == nullptr) return false;
  if (!PyTuple_Check(left) || !PyTuple_Check(right)) return false;
  if (PyTuple_Size(left) != PyTuple_Size(right)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(left); ++i) {
    PyObject* x = CellContents(PyTuple_GetItem(left, i));
    PyObject* y = CellContents(PyTuple_GetItem(right, i));
    if (x == y) continue;
    if (x == nullptr || y == nullptr || !IsSame(x, y, depth, depth == 1)) return false;
  }
  return true;
}

bool AreSameFunctions(PyObject* a, PyObject* b, int depth) {
  return AttributeOf(a, "__code__") == AttributeOf(b, "__code__") &&
         AttributeOf(a, "__globals__") == AttributeOf(b, "__globals__") &&
         AreSameParts(a, b, "__defaults__", depth) && AreSameParts(a, b, "__kwdefaults__", depth) &&
         AreSameClosures(a, b, depth);
}

bool IsEqual(PyObject* a, PyObject* b) {
  const int equal = PyObject_RichCompareBool(a, b, Py_EQ);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

bool IsSame(PyObject* a, PyObject* b, int depth, bool in_closure) {
  a = Unwrap(a);
  b = Unwrap(b);
  if (a == b) return true;
  if (depth >= kDeepestContent || Py_TYPE(a) != Py_TYPE(b)) return false;
  ScalarBits left, right;
  if (ReadScalar(a, &left)) return ReadScalar(b, &right) && left == right;
  if (PyUnicode_Check(a) || PyBytes_Check(a)) return IsEqual(a, b);
  if (IsMethodOfC(a)) return IsEqual(a, b);
  if (PyObject_TypeCheck(a, dtype_type)) return IsEqual(a, b);
  if (Py_TYPE(a) == function_type) return AreSameFunctions(a, b, depth + 1);
  if (in_closure && IsCapturable(a)) return LeafWordOf(a) != 0 && LeafWordOf(a) == LeafWordOf(b);
  if (PyTuple_Check(a)) return AreSameTuples(a, b, depth + 1, in_closure);
  if (PyDict_Check(a)) return AreSameDicts(a, b, depth + 1);
  return false;
}

// A function that reads nothing but its arguments and globals.
bool HasNoState(PyObject* function) {
  for (const char* name : {"__closure__", "__defaults__", "__kwdefaults__"}) {
    if (AttributeOf(function, name) != Py_None) return false;
  }
  return true;
}

PyTypeObject* TypeNamed(const char* module_name, const char* name) {
  Ref module = Ref::Steal(PyImport_ImportModule(module_name));
  if (!module) return nullptr;
  return reinterpret_cast<PyTypeObject*>(PyObject_GetAttrString(module.get(), name));
}

}  // namespace

bool LoadContent() {
  function_type = TypeNamed("types", "FunctionType");
  cell_type = TypeNamed("types", "CellType");
  code_type = TypeNamed("types", "CodeType");
  dtype_type = TypeNamed("numpy", "dtype");
  if (function_type == nullptr || cell_type == nullptr || code_type == nullptr ||
      dtype_type == nullptr) {
    return false;
  }
  Ref cell = Ref::Steal(
      PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(cell_type), Py_Ellipsis, nullptr));
  if (!cell) return false;
  if (*CellPlace(cell.get()) == Py_Ellipsis) return true;
  PyErr_SetString(PyExc_ImportError, "closure cells of this Python are laid out differently");
  return false;
}

uint64_t HashContent(PyObject* object) { return HashObject(object, 0, false); }

bool HasSameContent(PyObject* a, PyObject* b) { return IsSame(a, b, 0, false); }

bool MayReplace(PyObject* a, PyObject* b) {
  a = Unwrap(a);
  b = Unwrap(b);
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (Py_TYPE(a) == function_type) return HasNoState(a) && HasNoState(b) && HasSameContent(a, b);
  // Read anew for each call.
  if (IsCapturable(a)) return LeafWordOf(a) != 0 && LeafWordOf(a) == LeafWordOf(b);
  if (!PyTuple_Check(a)) return HasSameContent(a, b);
  if (PyTuple_Size(a) != PyTuple_Size(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_Size(a); ++i) {
    if (!MayReplace(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i))) return false;
  }
  return true;
}

bool IsMadeByNumpy(PyObject* object) {
  Ref module = Ref::Steal(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__module__"));
  PyErr_Clear();
  const Ref prefix = Ref::Steal(PyUnicode_FromString("numpy"));
  const bool is_text = module && prefix && PyUnicode_Check(module.get());
  return is_text && PyUnicode_Tailmatch(module.get(), prefix.get(), 0,
                                        PyUnicode_GetLength(module.get()), -1) == 1;
}

bool MayBeStatic(PyObject* object) {
  if (object == Py_None || object == Py_Ellipsis || PyUnicode_Check(object)) return true;
  if (PyObject_TypeCheck(object, dtype_type) || PyType_Check(object)) return true;
  if (PyCallable_Check(object)) return true;
  // An object of a user's own class: `self` of a method. Data of other libraries announces itself.
  for (const char* name : {"__array__", "__array_interface__", "__len__", "__iter__", "__next__"}) {
    if (AttributeOf(object, name) != nullptr) return false;
  }
  return !MayBeForeignArray(object);
}

bool IsConstant(PyObject* object) {
  if (object == Py_None || object == Py_Ellipsis || PyBool_Check(object)) return true;
  if (IsDType(object)) return true;
  if (PyUnicode_CheckExact(object) || PyBytes_CheckExact(object)) return true;
  if (PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyType_Check(object)) return true;
  // As HashObject tells what is left.
  const bool has_content = IsFunction(object) || Py_TYPE(object) == function_type ||
                           PyTuple_Check(object) || PyDict_Check(object) || IsCapturable(object) ||
                           PyUnicode_Check(object) || PyBytes_Check(object);
  ScalarBits bits;
  return !has_content && !ReadScalar(object, &bits);
}

bool FunctionParts::Read(PyObject* function) {
  return Py_TYPE(Unwrap(function)) == function_type && ReadFunction(Unwrap(function));
}

bool FunctionParts::ReadFunction(PyObject* function) {
  const auto is_it = [&](const Function& known) { return known.function == function; };
  if (std::any_of(functions_.begin(), functions_.end(), is_it)) return true;
  PyObject* defaults = PyFunction_GetDefaults(function);
  for (Py_ssize_t i = 0; defaults != nullptr && i < PyTuple_Size(defaults); ++i) {
    if (!IsConstant(PyTuple_GetItem(defaults, i))) return false;
  }
  if (PyFunction_GetKwDefaults(function) != nullptr) return false;
  functions_.push_back(
      {function, Ref::Borrow(PyFunction_GetCode(function)), Ref::Borrow(defaults)});
  PyObject* closure = PyFunction_GetClosure(function);
  for (Py_ssize_t i = 0; closure != nullptr && i < PyTuple_Size(closure); ++i) {
    if (!ReadCell(PyTuple_GetItem(closure, i))) return false;
  }
  return true;
}

bool FunctionParts::ReadCell(PyObject* cell) {
  PyObject* value = CellContents(cell);
  if (value == nullptr) return false;
  cells_.push_back({Ref::Borrow(cell), Ref::Borrow(value)});
  PyObject* plain = Unwrap(value);
  return Py_TYPE(plain) == function_type ? ReadFunction(plain) : IsConstant(value);
}

bool FunctionParts::AreTheSame() const {
  for (const Function& known : functions_) {
    if (PyFunction_GetCode(known.function) != known.code.get()) return false;
    if (PyFunction_GetDefaults(known.function) != known.defaults.get()) return false;
    if (PyFunction_GetKwDefaults(known.function) != nullptr) return false;
  }
  for (const Cell& known : cells_) {
    if (CellContents(known.cell.get()) != known.value.get()) return false;
  }
  return true;
}

bool IsPythonFunction(PyObject* object) { return Py_TYPE(object) == function_type; }
bool IsCode(PyObject* object) { return Py_TYPE(object) == code_type; }
bool IsDType(PyObject* object) { return PyObject_TypeCheck(object, dtype_type) != 0; }

uint64_t LeafWordOf(PyObject* object) {
  Arguments scratch;
  uint64_t word = 0;
  if (EncodeCapture(object, &word, &scratch) == Encoded::kYes) return word;
  PyErr_Clear();
  return 0;
}

PyObject* Unwrap(PyObject* object) { return IsFunction(object) ? WrappedFunction(object) : object; }

PyObject* CellContents(PyObject* cell) {
  return Py_TYPE(cell) == cell_type ? *CellPlace(cell) : nullptr;
}

}  // namespace parakeet::pylib
