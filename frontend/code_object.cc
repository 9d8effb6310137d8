#include "frontend/code_object.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "frontend/python_errors.h"

namespace parakeet::frontend {
namespace {

int32_t IntegerOf(PyObject* object) {
  const long value = PyLong_AsLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) FailFromPython();
  return static_cast<int32_t>(value);
}

// One of co_positions()' tuples (line, end_line, column, end_column); none where something is
// unknown or the place is empty, as for instructions that belong to no expression.
std::optional<CodeObject::Extent> ReadPosition(PyObject* tuple) {
  int32_t values[4];
  for (int i = 0; i < 4; ++i) {
    const PyRef item = Checked(PySequence_GetItem(tuple, i));
    if (item.IsNone()) return std::nullopt;
    values[i] = IntegerOf(item.get());
  }
  const CodeObject::Extent extent{values[0], values[2], values[1], values[3]};
  const bool is_empty = extent.line == extent.end_line && extent.column == extent.end_column;
  return is_empty ? std::nullopt : std::optional(extent);
}

void Widen(const CodeObject::Extent& part, std::optional<CodeObject::Extent>* whole) {
  if (!whole->has_value()) *whole = part;
  CodeObject::Extent& extent = **whole;
  std::tie(extent.line, extent.column) =
      std::min(std::pair(extent.line, extent.column), std::pair(part.line, part.column));
  std::tie(extent.end_line, extent.end_column) = std::max(
      std::pair(extent.end_line, extent.end_column), std::pair(part.end_line, part.end_column));
}

}  // namespace

PyRef CodeObject::Attribute(const char* name) const {
  return Checked(PyObject_GetAttrString(code_.get(), name));
}

std::string CodeObject::Name() const { return Shown("co_name"); }
std::string CodeObject::FileName() const { return Shown("co_filename"); }

// A path that is no valid Unicode is shown with escapes.
std::string CodeObject::Shown(const char* name) const {
  const PyRef bytes =
      Checked(PyUnicode_AsEncodedString(Attribute(name).get(), "utf-8", "backslashreplace"));
  return PyBytes_AsString(bytes.get());
}

int32_t CodeObject::Integer(const char* name) const { return IntegerOf(Attribute(name).get()); }

std::optional<CodeObject::Extent> CodeObject::BodyExtent() const {
  const PyRef positions = Checked(PyObject_CallMethod(code_.get(), "co_positions", nullptr));
  std::optional<Extent> result;
  while (PyObject* next = PyIter_Next(positions.get())) {
    const PyRef position = PyRef::Steal(next);
    if (const auto extent = ReadPosition(position.get())) Widen(*extent, &result);
  }
  if (PyErr_Occurred() != nullptr) FailFromPython();
  return result;
}

}  // namespace parakeet::frontend
