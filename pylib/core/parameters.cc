#include "pylib/core/parameters.h"

#include <algorithm>
#include <cstdint>

namespace parakeet::pylib {
namespace {

constexpr long kCodeVarArgs = 0x04;  // inspect.CO_VARARGS

long CodeAttribute(PyObject* object, const char* name) {
  Ref value = Ref::Steal(PyObject_GetAttrString(object, name));
  return value ? PyLong_AsLong(value.get()) : -1;
}

// Names in code objects and in calls are interned: most comparisons end at identity.
bool IsSameName(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

}  // namespace

bool Parameters::Read(PyObject* function) {
  Ref code = Ref::Steal(PyObject_GetAttrString(function, "__code__"));
  if (!code) return false;
  Ref names = Ref::Steal(PyObject_GetAttrString(code.get(), "co_varnames"));
  const long positional = CodeAttribute(code.get(), "co_argcount");
  const long only_positional = CodeAttribute(code.get(), "co_posonlyargcount");
  const long only_keyword = CodeAttribute(code.get(), "co_kwonlyargcount");
  const long flags = CodeAttribute(code.get(), "co_flags");
  if (!names || PyErr_Occurred()) return false;
  const auto add = [&](Py_ssize_t at, bool by_position, bool by_keyword, bool is_star) {
    Ref name = Ref::Borrow(PyTuple_GetItem(names.get(), at));
    parameters_.push_back({std::move(name), Ref(), by_position, by_keyword, is_star});
  };
  // co_varnames has `*args` after the keyword-only parameters.
  for (long k = 0; k < positional; ++k) add(k, true, k >= only_positional, false);
  if (flags & kCodeVarArgs) add(positional + only_keyword, false, false, true);
  for (long k = 0; k < only_keyword; ++k) add(positional + k, false, true, false);
  is_plain_ = parameters_.size() == size_t(positional);
  direct_count_ = is_plain_ ? parameters_.size() : SIZE_MAX;
  return ReadDefaults(function, positional);
}

bool Parameters::ReadDefaults(PyObject* function, Py_ssize_t positional) {
  Ref defaults = Ref::Steal(PyObject_GetAttrString(function, "__defaults__"));
  Ref keyword_defaults = Ref::Steal(PyObject_GetAttrString(function, "__kwdefaults__"));
  if (!defaults || !keyword_defaults) return false;
  if (PyTuple_Check(defaults.get())) {
    const Py_ssize_t count = PyTuple_Size(defaults.get());
    for (Py_ssize_t k = 0; k < count; ++k) {
      parameters_[positional - count + k].default_value =
          Ref::Borrow(PyTuple_GetItem(defaults.get(), k));
    }
  }
  if (!PyDict_Check(keyword_defaults.get())) return true;
  for (Parameter& parameter : parameters_) {
    if (parameter.by_position || parameter.is_star) continue;
    parameter.default_value =
        Ref::Borrow(PyDict_GetItemWithError(keyword_defaults.get(), parameter.name.get()));
  }
  return true;
}

Py_ssize_t Parameters::Find(PyObject* name) const {
  for (size_t k = 0; k < parameters_.size(); ++k) {
    if (parameters_[k].name.get() == name) return Py_ssize_t(k);
  }
  for (size_t k = 0; k < parameters_.size(); ++k) {
    if (IsSameName(parameters_[k].name.get(), name)) return Py_ssize_t(k);
  }
  return -1;
}

bool Parameters::Has(PyObject* name) const { return Find(name) >= 0; }

bool Parameters::BindPositional(PyObject* const* arguments, size_t positional,
                                BoundValues* bound) const {
  PyObject** values = bound->values.Extend(parameters_.size());
  std::fill_n(values, parameters_.size(), nullptr);
  size_t used = 0;
  for (size_t k = 0; k < parameters_.size(); ++k) {
    if (parameters_[k].by_position && used < positional) values[k] = arguments[used++];
    if (!parameters_[k].is_star) continue;
    const Py_ssize_t rest = Py_ssize_t(positional - used);
    bound->star = Ref::Steal(PyTuple_New(rest));
    if (!bound->star) return false;
    for (Py_ssize_t i = 0; i < rest; ++i) {
      Py_INCREF(arguments[used]);
      PyTuple_SetItem(bound->star.get(), i, arguments[used++]);
    }
    values[k] = bound->star.get();
  }
  return used == positional;
}

bool Parameters::FillDefaults(BoundValues* bound) const {
  for (size_t k = 0; k < parameters_.size(); ++k) {
    if (bound->values[k] == nullptr) bound->values[k] = parameters_[k].default_value.get();
    if (bound->values[k] == nullptr) return false;
  }
  return true;
}

bool Parameters::BindPlain(PyObject* const* arguments, size_t positional,
                           BoundValues* bound) const {
  PyObject** values = bound->values.Extend(parameters_.size());
  for (size_t k = 0; k < parameters_.size(); ++k) {
    values[k] = k < positional ? arguments[k] : parameters_[k].default_value.get();
    if (values[k] == nullptr) return false;
  }
  return true;
}

bool Parameters::Bind(PyObject* const* arguments, size_t positional, PyObject* names,
                      uint64_t skipped, BoundValues* bound) const {
  if (names == nullptr && is_plain_ && positional <= parameters_.size()) {
    return BindPlain(arguments, positional, bound);
  }
  if (!BindPositional(arguments, positional, bound)) return false;
  const Py_ssize_t keywords = names == nullptr ? 0 : PyTuple_Size(names);
  for (Py_ssize_t i = 0; i < keywords; ++i) {
    if (i < 64 && (skipped >> i & 1) != 0) continue;
    const Py_ssize_t at = Find(PyTuple_GetItem(names, i));
    if (at < 0 || !parameters_[at].by_keyword || bound->values[at] != nullptr) return false;
    bound->values[at] = arguments[positional + i];
  }
  return FillDefaults(bound);
}

}  // namespace parakeet::pylib
