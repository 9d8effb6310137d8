#include "pylib/compiler/decode_key.h"

#include <string>
#include <utility>

#include "ir/diagnostics.h"
#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

using frontend::Argument;
using frontend::PyRef;

// Tells static arguments apart within one compilation and in what people read.
std::string StaticKey(PyObject* object) {
  const PyRef repr = PyRef::Steal(PyObject_Repr(object));
  const char* text = repr ? PyUnicode_AsUTF8AndSize(repr.get(), nullptr) : nullptr;
  if (text != nullptr) return text;
  PyErr_Clear();
  return "object at " + std::to_string(reinterpret_cast<uintptr_t>(object));
}

ir::DType DTypeOf(ArgumentWord word) {
  const std::optional<ir::DType> dtype = ir::DTypeFromNumpy(word.type());
  if (!dtype) ir::FailBug("a key has the type number " + std::to_string(word.type()));
  return *dtype;
}

class Decoder {
 public:
  explicit Decoder(const PkCompileRequest& request) : request_(request) {}

  DecodedKey Run() {
    while (at_ < request_.key_size) decoded_.arguments.push_back(Next());
    return std::move(decoded_);
  }

 private:
  Argument Next() {
    if (at_ >= request_.key_size) ir::FailBug("a key ends within an argument");
    const ArgumentWord word(request_.key[at_++]);
    switch (word.kind()) {
      case ArgumentKind::kArray:
        decoded_.leaves.push_back(word.bits());
        return word.is_number() ? Argument::Scalar(DTypeOf(word), false) : Array(word);
      case ArgumentKind::kScalar:
        decoded_.leaves.push_back(word.bits());
        return Argument::Scalar(DTypeOf(word), word.python());
      case ArgumentKind::kStatic: return Static();
      case ArgumentKind::kTuple: return Argument::Tuple(Children(word.length()));
      case ArgumentKind::kSlice: return Argument::Slice(Children(3));
    }
    ir::FailBug("a key has a word of no kind");
  }

  Argument Static() {
    ++at_;  // the hash
    PyObject* object = PyTuple_GetItem(request_.statics, static_++);
    if (object == nullptr) ir::FailBug("a key has more static words than objects");
    return Argument::Static(PyRef::Borrow(object), StaticKey(object));
  }

  static Argument Array(ArgumentWord word) {
    std::vector<bool> unit_axes;
    for (int axis = 0; axis < word.rank(); ++axis) unit_axes.push_back(word.IsUnitAxis(axis));
    Argument argument = Argument::Array(DTypeOf(word), std::move(unit_axes));
    switch (word.layout()) {
      case ArrayLayout::kC: argument.layout = ir::Layout::kC; break;
      case ArrayLayout::kFortran: argument.layout = ir::Layout::kFortran; break;
      case ArrayLayout::kStrided: argument.layout = ir::Layout::kStrided; break;
      case ArrayLayout::kFortranStrides:
        argument.layout = ir::Layout::kStrided;
        argument.strides_grow = true;
        break;
    }
    for (int axis = 0; axis < word.rank(); ++axis)
      argument.short_axes.push_back(word.ShortLengthOf(axis));
    argument.writable = word.writable();
    argument.aligned = word.aligned();
    argument.is_list = word.is_list();
    argument.python = word.python();
    return argument;
  }

  std::vector<Argument> Children(uint32_t count) {
    std::vector<Argument> children;
    for (uint32_t i = 0; i < count; ++i) children.push_back(Next());
    return children;
  }

  const PkCompileRequest& request_;
  int64_t at_ = 1;  // behind the header
  Py_ssize_t static_ = 0;
  DecodedKey decoded_;
};

}  // namespace

DecodedKey DecodeKey(const PkCompileRequest& request) { return Decoder(request).Run(); }

uint64_t LeafWordOf(const Argument& argument) {
  const int type = ir::NumpyTypeNumber(argument.dtype);
  if (argument.kind == Argument::Kind::kScalar) {
    return ArgumentWord::Scalar(type, argument.python).bits();
  }
  if (argument.kind != Argument::Kind::kArray) ir::FailBug("an argument is no leaf");
  uint64_t unit_axes = 0;
  for (size_t axis = 0; axis < argument.unit_axes.size(); ++axis) {
    unit_axes |= uint64_t(argument.unit_axes[axis]) << axis;
  }
  ArrayLayout layout = argument.strides_grow ? ArrayLayout::kFortranStrides : ArrayLayout::kStrided;
  if (argument.layout == ir::Layout::kC) layout = ArrayLayout::kC;
  if (argument.layout == ir::Layout::kFortran) layout = ArrayLayout::kFortran;
  const ArgumentWord word = ArgumentWord::Array(type, int(argument.unit_axes.size()), layout,
                                                argument.writable, argument.aligned, unit_axes);
  return argument.is_list ? word.AsList(argument.python).bits() : word.bits();
}

}  // namespace parakeet::pylib
