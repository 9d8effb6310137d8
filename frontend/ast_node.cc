#include "frontend/ast_node.h"

#include <algorithm>

#include "frontend/python_errors.h"
#include "ir/diagnostics.h"

namespace parakeet::frontend {
namespace {

[[noreturn]] void FailMalformed(const AstNode& node, const char* field) {
  PyErr_Clear();
  ir::FailUser("TypeError",
               "malformed syntax tree: unexpected `" + std::string(field) + "` in " + node.Kind(),
               {});
}

// Far beyond any real line or column, so that shifting one cannot overflow.
constexpr long kLargestPlace = 1'000'000'000;

// False, with nothing set, where the field is no integer or is out of range for a place.
bool TryInteger(PyObject* object, int32_t* result) {
  if (!PyLong_Check(object)) return false;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(object, &overflow);
  if (overflow != 0 || value < -kLargestPlace || value > kLargestPlace) return false;
  *result = static_cast<int32_t>(value);
  return true;
}

}  // namespace

std::string AstNode::Kind() const {
  const PyRef name = Checked(PyType_GetName(Py_TYPE(object_.get())));
  return TextOf(name.get());
}

AstNode AstNode::Field(const char* name) const {
  PyObject* value = PyObject_GetAttrString(object_.get(), name);
  if (value == nullptr) FailMalformed(*this, name);
  return AstNode(PyRef::Steal(value));
}

std::vector<AstNode> AstNode::List(const char* name) const {
  const AstNode list = Field(name);
  if (!PyList_Check(list.object())) FailMalformed(*this, name);
  std::vector<AstNode> items;
  for (Py_ssize_t i = 0; i < PyList_Size(list.object()); ++i) {
    items.emplace_back(PyRef::Borrow(PyList_GetItem(list.object(), i)));
  }
  return items;
}

std::string AstNode::Text(const char* name) const {
  const AstNode text = Field(name);
  std::string result;
  if (!TryTextOf(text.object(), &result)) FailMalformed(*this, name);
  return result;
}

int32_t AstNode::Integer(const char* name) const {
  int32_t result = 0;
  if (!TryInteger(Field(name).object(), &result)) FailMalformed(*this, name);
  return result;
}

ir::Span AstNode::SpanIn(int32_t file, int32_t line_shift) const {
  const PyRef first = PyRef::Steal(PyObject_GetAttrString(object_.get(), "lineno"));
  if (!first) {
    PyErr_Clear();
    return {};
  }
  ir::Span span;
  span.file = file;
  span.line = Integer("lineno") + line_shift;
  span.column = std::max(0, Integer("col_offset"));
  // Nodes made by hand may leave the end out.
  if (Field("end_lineno").IsNone() || Field("end_col_offset").IsNone()) {
    span.end_line = span.line;
    span.end_column = span.column + 1;
    return span;
  }
  span.end_line = Integer("end_lineno") + line_shift;
  span.end_column = std::max(0, Integer("end_col_offset"));
  return span;
}

}  // namespace parakeet::frontend
