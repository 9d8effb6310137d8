#include "pylib/core/expected_call.h"

#include <utility>

namespace parakeet::pylib {
namespace {

const PyTypeObject* PythonClassOf(int type) {
  switch (type) {
    case kBool: return &PyBool_Type;
    case kInt64: return &PyLong_Type;
    case kFloat64: return &PyFloat_Type;
    case kComplex128: return &PyComplex_Type;
    default: return nullptr;
  }
}

}  // namespace

void ExpectedCall::Read(const std::vector<uint64_t>& key, const std::vector<Ref>& statics,
                        std::span<const uint64_t> captured) {
  header_ = key[0];
  size_t constants = 0;
  for (size_t at = 1; at < key.size(); ++at) {
    const ArgumentWord word(key[at]);
    if (word.kind() == ArgumentKind::kStatic) {
      if (!ReadStatic(statics[constants++].get())) return;
      ++at;  // the hash of its content
    } else if (word.kind() == ArgumentKind::kTuple) {
      Argument tuple = {};
      tuple.kind = Kind::kTuple;
      tuple.count = word.length();
      arguments_.push_back(tuple);
      has_numbers_alone_ = false;
    } else if (!ReadLeaf(word)) {
      return;
    }
  }
  for (uint64_t word : captured) {
    if (!ReadCaptured(ArgumentWord(word))) return;
  }
  is_direct_ = slot_count_ <= DirectArguments::kSlots && array_count_ <= DirectArguments::kArrays;
}

bool ExpectedCall::ReadStatic(PyObject* object) {
  Argument made = {};
  made.kind = Kind::kConstant;
  made.object = object;
  has_numbers_alone_ = false;
  FunctionParts parts;
  const bool is_function = parts.Read(object);
  if (is_function) {
    made.kind = Kind::kFunction;
    made.count = functions_.size();
    functions_.push_back(std::move(parts));
  }
  arguments_.push_back(made);
  return is_function || IsConstant(object);
}

bool ExpectedCall::ReadLeaf(ArgumentWord word) {
  if (!word.IsLeaf()) return false;
  const Argument leaf = LeafOf(word);
  arguments_.push_back(leaf);
  slot_count_ += leaf.slots;
  array_count_ += word.IsArray();
  has_numbers_alone_ = has_numbers_alone_ && !word.IsArray();
  has_strided_ |= leaf.checks_strides;
  return leaf.object != nullptr;
}

bool ExpectedCall::ReadCaptured(ArgumentWord word) {
  if (!word.IsArray() || word.is_list()) return false;
  const Argument leaf = LeafOf(word);
  captured_.push_back({leaf, slot_count_, array_count_});
  slot_count_ += leaf.slots;
  array_count_ += 1;
  has_strided_ |= leaf.checks_strides;
  return true;
}

ExpectedCall::Argument ExpectedCall::LeafOf(ArgumentWord word) {
  Argument leaf = {};
  leaf.word = word.bits();
  leaf.type = uint8_t(word.type());
  if (!word.IsArray()) {
    leaf.kind = KindOfNumber(word);
    leaf.slots = 1 + IsComplexType(word.type());
    leaf.object = word.python() ? PythonClassOf(word.type()) : numpy.scalar_types[word.type()];
    return leaf;
  }
  const bool is_c = word.layout() == ArrayLayout::kC;
  const bool is_fortran = word.layout() == ArrayLayout::kFortran;
  leaf.kind = word.is_list() ? Kind::kList : Kind::kArray;
  leaf.checks_strides = !is_c && !is_fortran;
  leaf.rank = uint8_t(word.rank());
  leaf.slots = uint8_t(1 + 2 * word.rank());
  leaf.flag_mask = kFlagC | kFlagWritable | kFlagAligned | (is_c ? 0 : kFlagFortran);
  leaf.flags = (is_c ? kFlagC : 0) | (is_fortran ? kFlagFortran : 0) |
               (word.writable() ? kFlagWritable : 0) | (word.aligned() ? kFlagAligned : 0);
  leaf.bare = word.WithoutLengths().bits();
  for (int axis = 0; axis < word.rank(); ++axis) {
    leaf.unit_axes |= uint64_t(word.IsUnitAxis(axis)) << axis;
  }
  leaf.object = numpy.descriptors[word.type()];
  return leaf;
}

ExpectedCall::Kind ExpectedCall::KindOfNumber(ArgumentWord word) {
  // Python's complex numbers lie in their objects as NumPy's do.
  if (!word.python() || IsComplexType(word.type())) return Kind::kNumpyScalar;
  switch (word.type()) {
    case kBool: return Kind::kBool;
    case kFloat64: return Kind::kFloat;
    default: return Kind::kInteger;
  }
}

// The fields that Encoder::Array reads (arguments.cc), each held against the word.
inline bool ExpectedCall::TakeArray(const Argument& expected, bool short_axes, bool says_lengths,
                                    PyObject* value, uint64_t* slots) {
  if (!IsArray(value)) return false;
  const ArrayFields* array = FieldsOf(value);
  // Each type has one descriptor that nearly all arrays share; another may say another byte order.
  if (array->descriptor != expected.object || array->rank != expected.rank) return false;
  if ((array->flags & expected.flag_mask) != expected.flags) return false;
  if (expected.checks_strides && LayoutOf(array) != ArgumentWord(expected.word).layout()) {
    return false;
  }
  const int rank = expected.rank;
  slots[0] = reinterpret_cast<uint64_t>(array->data);
  uint64_t unit_axes = 0;
  for (int axis = 0; axis < rank; ++axis) {
    const int64_t size = array->sizes[axis];
    unit_axes |= uint64_t(size == 1) << axis;
    slots[1 + axis] = uint64_t(size);
    slots[1 + rank + axis] = uint64_t(array->strides[axis]);
  }
  if (unit_axes != expected.unit_axes) return false;
  if ((!short_axes && !says_lengths) || rank == 0) return expected.bare == expected.word;
  ArgumentWord said(expected.bare);
  if (short_axes) said = said.WithShortAxes(array->sizes);
  if (says_lengths) said = said.WithLengths(array->sizes);
  return said.bits() == expected.word;
}

// One whose class is the expected one, and not float.
bool ExpectedCall::TakeOtherNumber(const Argument& expected, PyObject* value, uint64_t* slots) {
  switch (expected.kind) {
    case Kind::kBool: slots[0] = value == Py_True; return true;
    case Kind::kInteger: {
      int overflow = 0;
      const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
      slots[0] = uint64_t(integer);
      return overflow == 0;
    }
    default: ScalarToSlots(expected.type, ScalarData(value), slots); return true;
  }
}

// Of numbers alone, in one level; any other is left to its key.
bool ExpectedCall::TakeList(const Argument& expected, Walk* walk, bool says_lengths,
                            PyObject* value) {
  if (!PyList_CheckExact(value)) return false;
  Ref array = ArrayOfNumbers(value);
  if (!array) return false;
  if (!TakeArray(expected, walk->short_axes, says_lengths, array.get(), walk->slots)) return false;
  *walk->array++ = {array.get(), value};
  walk->call->Own(std::move(array));
  return true;
}

bool ExpectedCall::TakeTuple(Walk* walk, uint8_t said, PyObject* value) const {
  const size_t count = walk->expected[-1].count;
  if (!PyTuple_Check(value) || size_t(PyTuple_Size(value)) != count) return false;
  for (size_t i = 0; i < count; ++i) {
    if (!TakeNext(walk, said, PyTuple_GetItem(value, Py_ssize_t(i)))) return false;
  }
  return true;
}

inline bool ExpectedCall::TakeNext(Walk* walk, uint8_t said, PyObject* value) const {
  const Argument& expected = *walk->expected++;
  const bool says_lengths = (said & kLengthsInKey) != 0;
  switch (expected.kind) {
    case Kind::kArray:
      if (!TakeArray(expected, walk->short_axes, says_lengths, value, walk->slots)) return false;
      *walk->array++ = {value, value};
      break;
    case Kind::kList:
      if (!TakeList(expected, walk, says_lengths, value)) return false;
      break;
    case Kind::kTuple: return TakeTuple(walk, said, value);
    case Kind::kConstant: return value == expected.object;
    case Kind::kFunction:
      return value == expected.object && functions_[expected.count].AreTheSame();
    default:
      // Another call may have found that numbers here belong into the key.
      if ((said & kValueInKey) != 0 || !TakeNumber(expected, value, walk->slots)) return false;
  }
  walk->slots += expected.slots;
  return true;
}

bool ExpectedCall::Take(uint64_t header, const uint8_t* in_key, bool short_axes,
                        PyObject* const* values, DirectArguments* call) const {
  if (!is_direct_ || header_ != header) return false;
  Walk walk = {arguments_.data(), call->slots, call->arrays, call, short_axes};
  const Argument* end = walk.expected + arguments_.size();
  while (walk.expected != end) {
    if (!TakeNext(&walk, *in_key++, *values++)) return false;
  }
  return true;
}

bool ExpectedCall::TakeCapture(size_t number, PyObject* value, DirectArguments* call) const {
  const Captured& expected = captured_[number];
  if (!TakeArray(expected.argument, false, false, value, call->slots + expected.slot)) return false;
  call->arrays[expected.array] = {value, value};
  call->Own(Ref::Borrow(value));
  return true;
}

}  // namespace parakeet::pylib
