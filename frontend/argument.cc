#include "frontend/argument.h"

#include <utility>

namespace parakeet::frontend {
namespace {

std::string ArrayKey(const Argument& argument) {
  std::string key(ir::Name(argument.dtype));
  if (argument.python) key = "py " + key;
  for (size_t axis = 0; axis < argument.unit_axes.size(); ++axis) {
    const int length = axis < argument.short_axes.size() ? argument.short_axes[axis] : 0;
    key += length != 0                ? "[" + std::to_string(length) + "]"
           : argument.unit_axes[axis] ? "[1]"
                                      : "[n]";
  }
  switch (argument.layout) {
    case ir::Layout::kC: key += 'C'; break;
    case ir::Layout::kFortran: key += 'F'; break;
    case ir::Layout::kStrided: key += argument.strides_grow ? "FS" : "S"; break;
  }
  if (!argument.writable) key += 'r';
  if (!argument.aligned) key += 'u';
  if (argument.is_list) key += 'l';
  return key;
}

std::string ChildrenKey(const Argument& argument, const std::string& open) {
  std::string key = open;
  for (const Argument& child : argument.children) {
    if (key.size() > open.size()) key += ", ";
    key += KeyOf(child);
  }
  return key + ")";
}

}  // namespace

Argument Argument::Static(PyRef object, std::string key) {
  Argument argument;
  argument.object = std::move(object);
  argument.static_key = std::move(key);
  return argument;
}

Argument Argument::Scalar(ir::DType dtype, bool python) {
  Argument argument;
  argument.kind = Kind::kScalar;
  argument.dtype = dtype;
  argument.python = python;
  return argument;
}

Argument Argument::Array(ir::DType dtype, std::vector<bool> unit_axes, ir::Layout layout) {
  Argument argument;
  argument.kind = Kind::kArray;
  argument.dtype = dtype;
  argument.unit_axes = std::move(unit_axes);
  argument.layout = layout;
  return argument;
}

Argument Argument::Tuple(std::vector<Argument> children) {
  Argument argument;
  argument.kind = Kind::kTuple;
  argument.children = std::move(children);
  return argument;
}

Argument Argument::Slice(std::vector<Argument> children) {
  Argument argument = Tuple(std::move(children));
  argument.kind = Kind::kSlice;
  return argument;
}

std::string KeyOf(const Argument& argument) {
  switch (argument.kind) {
    case Argument::Kind::kStatic: return "=" + argument.static_key;
    case Argument::Kind::kScalar:
      return (argument.python ? "py " : "") + std::string(ir::Name(argument.dtype));
    case Argument::Kind::kArray: return ArrayKey(argument);
    case Argument::Kind::kTuple: return ChildrenKey(argument, "(");
    case Argument::Kind::kSlice: return ChildrenKey(argument, "slice(");
  }
  return "";
}

}  // namespace parakeet::frontend
