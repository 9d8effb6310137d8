#include "pylib/core/describe.h"

#include <string>

#include "pylib/key.h"

namespace parakeet::pylib {
namespace {

std::string NumpyName(int type) {
  switch (type) {
    case kBool: return "bool";
    case kInt8: return "int8";
    case kUint8: return "uint8";
    case kInt16: return "int16";
    case kUint16: return "uint16";
    case kInt32: return "int32";
    case kUint32: return "uint32";
    case kInt64: return "int64";
    case kUint64: return "uint64";
    case kFloat16: return "float16";
    case kFloat32: return "float32";
    case kFloat64: return "float64";
    case kComplex64: return "complex64";
    default: return "complex128";
  }
}

std::string PythonName(int type) {
  switch (type) {
    case kBool: return "bool";
    case kInt64: return "int";
    case kFloat64: return "float";
    default: return "complex";
  }
}

std::string DescribeArray(ArgumentWord word) {
  if (word.is_number()) return NumpyName(word.type());
  std::string text = word.python() ? PythonName(word.type()) : NumpyName(word.type());
  text += '[';
  for (int axis = 0; axis < word.rank(); ++axis) {
    if (axis > 0) text += ", ";
    const int of_short = word.ShortLengthOf(axis);
    const int64_t length = of_short != 0 ? of_short : word.LengthOf(axis);
    text += length != 0 ? std::to_string(length) : word.IsUnitAxis(axis) ? "1" : ":";
  }
  text += ']';
  if (word.is_list()) text = "list " + text;
  if (word.layout() == ArrayLayout::kFortran) text += 'F';
  if (word.layout() == ArrayLayout::kStrided) text += 'S';
  if (word.layout() == ArrayLayout::kFortranStrides) text += "FS";
  if (!word.writable()) text += 'r';
  if (!word.aligned()) text += 'u';
  return text;
}

std::string ReprOf(PyObject* object) {
  Ref repr = Ref::Steal(PyObject_Repr(object));
  const char* text = repr ? PyUnicode_AsUTF8AndSize(repr.get(), nullptr) : nullptr;
  if (text != nullptr) return text;
  PyErr_Clear();
  return "?";
}

PyObject* AsStr(const std::string& text) {
  return PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), "replace");
}

class Describer {
 public:
  Describer(const std::vector<uint64_t>& key, const std::vector<Ref>& statics)
      : key_(key), statics_(statics) {}

  std::vector<std::string> Each() {
    std::vector<std::string> texts;
    while (at_ < key_.size()) texts.push_back(Argument());
    return texts;
  }

 private:
  std::string Argument() {
    const ArgumentWord word(key_[at_++]);
    switch (word.kind()) {
      case ArgumentKind::kArray: return DescribeArray(word);
      case ArgumentKind::kScalar:
        return word.python() ? PythonName(word.type()) : NumpyName(word.type());
      case ArgumentKind::kStatic: ++at_; return "=" + ReprOf(statics_[static_++].get());
      case ArgumentKind::kTuple: return Children("(", word.length());
      case ArgumentKind::kSlice: return Children("slice(", 3);
    }
    return "";
  }
  std::string Children(std::string text, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + Argument();
    return text + ")";
  }

  const std::vector<uint64_t>& key_;
  const std::vector<Ref>& statics_;
  size_t at_ = 1;  // behind the header
  size_t static_ = 0;
};

}  // namespace

PyObject* Describe(const std::vector<uint64_t>& key, const std::vector<Ref>& statics) {
  std::string text;
  for (const std::string& each : Describer(key, statics).Each())
    text += (text.empty() ? "" : ", ") + each;
  return AsStr("(" + text + ")");
}

PyObject* DescribeEach(const std::vector<uint64_t>& key, const std::vector<Ref>& statics) {
  Ref list = Ref::Steal(PyList_New(0));
  for (const std::string& each : Describer(key, statics).Each()) {
    const Ref text = Ref::Steal(AsStr(each));
    if (!list || !text || PyList_Append(list.get(), text.get()) != 0) return nullptr;
  }
  return list.release();
}

}  // namespace parakeet::pylib
