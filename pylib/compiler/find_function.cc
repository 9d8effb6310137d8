#include "pylib/compiler/find_function.h"

#include <algorithm>

#include "frontend/python_errors.h"

namespace parakeet::pylib {
namespace {

using frontend::PyRef;

constexpr int kMaxDepth = 50;

// None where there is no such attribute.
PyRef Attribute(PyObject* object, const char* name) {
  PyRef value = PyRef::Steal(PyObject_GetAttrString(object, name));
  if (!value) PyErr_Clear();
  return value;
}

std::string TextAttribute(PyObject* object, const char* name) {
  const PyRef value = Attribute(object, name);
  std::string text;
  if (value) frontend::TryTextOf(value.get(), &text);
  return text;
}

// The last line that the code's instructions have.
int32_t LastLine(PyObject* code, int32_t first_line) {
  const PyRef lines = PyRef::Steal(PyObject_CallMethod(code, "co_lines", nullptr));
  const PyRef list = PyRef::Steal(lines ? PySequence_List(lines.get()) : nullptr);
  int32_t last = first_line;
  for (Py_ssize_t i = 0; list && i < PyList_Size(list.get()); ++i) {
    PyObject* line = PyTuple_GetItem(PyList_GetItem(list.get(), i), 2);
    if (line != nullptr && line != Py_None) last = std::max(last, int32_t(PyLong_AsLong(line)));
  }
  PyErr_Clear();
  return last;
}

}  // namespace

void FunctionFinder::Add(PyObject* object) {
  PyRef code = Attribute(object, "__code__");
  if (!code) {
    const PyRef wrapped = Attribute(object, "__wrapped__");
    if (wrapped) code = Attribute(wrapped.get(), "__code__");
  }
  if (code) AddCode(code.get(), 0);
}

void FunctionFinder::AddCode(PyObject* code, int depth) {
  const PyRef first = Attribute(code, "co_firstlineno");
  const PyRef constants = Attribute(code, "co_consts");
  if (!first || !constants || depth == kMaxDepth) return;
  const int32_t first_line = int32_t(PyLong_AsLong(first.get()));
  const size_t number = extents_.size();
  extents_.push_back({TextAttribute(code, "co_filename"), TextAttribute(code, "co_name"),
                      first_line, LastLine(code, first_line)});
  for (Py_ssize_t i = 0; i < PyTuple_Size(constants.get()); ++i) {
    PyObject* constant = PyTuple_GetItem(constants.get(), i);
    if (Py_TYPE(constant) == Py_TYPE(code)) AddCode(constant, depth + 1);
  }
  // A function's last lines may all be in one that is nested in it.
  for (size_t i = number + 1; i < extents_.size(); ++i) {
    extents_[number].last_line = std::max(extents_[number].last_line, extents_[i].last_line);
  }
  PyErr_Clear();
}

std::string FunctionFinder::Find(const std::string& file, int32_t line,
                                 const std::string& otherwise) const {
  const Extent* innermost = nullptr;
  for (const Extent& extent : extents_) {
    if (extent.file != file || line < extent.first_line || line > extent.last_line) continue;
    if (innermost == nullptr || extent.first_line >= innermost->first_line) innermost = &extent;
  }
  return innermost == nullptr ? otherwise : innermost->name;
}

}  // namespace parakeet::pylib
