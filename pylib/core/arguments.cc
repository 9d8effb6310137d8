#include "pylib/core/arguments.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "pylib/core/content.h"
#include "pylib/core/device_array.h"
#include "pylib/core/device_number.h"
#include "pylib/core/foreign_array.h"
#include "pylib/core/numpy_access.h"

namespace parakeet::pylib {

PyTypeObject* array_placeholder_type = nullptr;

namespace {

// Tuples deeper than this are refused: the walk is recursive.
constexpr int kDeepestArgument = 50;

bool IsNative(const DescriptorFields* descriptor) {
  return descriptor->byte_order == '=' || descriptor->byte_order == '|';
}

class Encoder {
 public:
  explicit Encoder(Arguments* arguments) : arguments_(*arguments) {}

  Encoded Argument(PyObject* value, bool is_static, int depth);
  // A leaf, with its word.
  Encoded Leaf(PyObject* value, uint64_t* word);
  // `original` is what the array was made from, or itself.
  Encoded Array(PyObject* array, PyObject* original, uint64_t* word);

 private:
  Encoded Float(PyObject* value, uint64_t* word);
  Encoded PythonScalar(PyObject* value, uint64_t* word);
  Encoded Integer(PyObject* value, uint64_t* word);
  Encoded List(PyObject* list, uint64_t* word);
  // Of arrays on a device, in a call on one.
  Encoded ListOnDevice(PyObject* list, uint64_t* word);
  Encoded Placeholder(PyObject* placeholder, uint64_t* word);
  // A device array, or a number on the call's device.
  Encoded OnDevice(PyObject* array, uint64_t* word);
  Encoded ComeDown(PyObject* number, bool is_static, int depth);
  Encoded Tuple(PyObject* tuple, bool is_static, int depth);
  Encoded Slice(PyObject* slice, bool is_static, int depth);
  Encoded Static(PyObject* value);

  Arguments& arguments_;
};

Encoded Encoder::Array(PyObject* array, PyObject* original, uint64_t* word) {
  const ArrayFields* fields = FieldsOf(array);
  const int type = CanonicalType(fields->descriptor->type);
  const int rank = fields->rank;
  if (type < 0 || !IsNative(fields->descriptor) || rank > kMaxRank) return Encoded::kRefused;
  uint64_t* slots = arguments_.slots.Extend(1 + 2 * rank);
  slots[0] = reinterpret_cast<uint64_t>(fields->data);
  uint64_t unit_axes = 0;
  for (int axis = 0; axis < rank; ++axis) {
    unit_axes |= uint64_t(fields->sizes[axis] == 1) << axis;
    slots[1 + axis] = uint64_t(fields->sizes[axis]);
    slots[1 + rank + axis] = uint64_t(fields->strides[axis]);
  }
  arguments_.arrays.Append({array, original});
  ArgumentWord said =
      ArgumentWord::Array(type, rank, LayoutOf(fields), fields->flags & kFlagWritable,
                          fields->flags & kFlagAligned, unit_axes);
  const ArgumentWord with_short_axes = said.WithShortAxes(fields->sizes);
  if (arguments_.short_axes) {
    said = with_short_axes;
  } else {
    arguments_.has_short_axes |= with_short_axes.bits() != said.bits();
  }
  if (arguments_.says_lengths) {
    said = said.WithLengths(fields->sizes);
    arguments_.has_lengths |= said.SaysLengths();
  }
  *word = said.bits();
  return Encoded::kYes;
}

Encoded Encoder::Integer(PyObject* value, uint64_t* word) {
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow != 0) {
    PyErr_Format(PyExc_OverflowError, "Python int %.100R does not fit 64 bits", value);
    return Encoded::kFailed;
  }
  if (integer == -1 && PyErr_Occurred()) return Encoded::kFailed;
  arguments_.slots.Append(uint64_t(integer));
  *word = ArgumentWord::Scalar(kInt64, true).bits();
  return Encoded::kYes;
}

Encoded Encoder::Float(PyObject* value, uint64_t* word) {
  const double real = PyFloat_AsDouble(value);
  ScalarToSlots(kFloat64, &real, arguments_.slots.Extend(1));
  *word = ArgumentWord::Scalar(kFloat64, true).bits();
  return Encoded::kYes;
}

// Python's numbers, and of their subclasses those that are no NumPy scalars.
Encoded Encoder::PythonScalar(PyObject* value, uint64_t* word) {
  if (PyBool_Check(value)) {
    arguments_.slots.Append(value == Py_True);
    *word = ArgumentWord::Scalar(kBool, true).bits();
  } else if (PyLong_Check(value)) {
    return Integer(value, word);
  } else if (PyFloat_Check(value)) {
    return Float(value, word);
  } else if (PyComplex_Check(value)) {
    const double parts[] = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
    ScalarToSlots(kComplex128, parts, arguments_.slots.Extend(2));
    *word = ArgumentWord::Scalar(kComplex128, true).bits();
  } else {
    return Encoded::kRefused;
  }
  return Encoded::kYes;
}

// Whether every number in a list, at any depth, is Python's.
bool HoldsPythonNumbers(PyObject* object, int depth) {
  if (PyList_Check(object) && depth < kDeepestArgument) {
    for (Py_ssize_t i = 0; i < PyList_Size(object); ++i) {
      if (!HoldsPythonNumbers(PyList_GetItem(object, i), depth + 1)) return false;
    }
    return true;
  }
  return !IsArray(object) && !IsDeviceArray(object) && ScalarTypeOf(object) < 0;
}

// What `parakeet.device_lists.stacked` makes of a list: an array on the device for which a call
// that gives it back gives back the list, or None for what is no array.
Encoded Encoder::ListOnDevice(PyObject* list, uint64_t* word) {
  Ref module = Ref::Steal(PyImport_ImportModule("parakeet.device_lists"));
  Ref array = module ? Ref::Steal(PyObject_CallMethod(module.get(), "stacked", "O", list)) : Ref();
  if (!array) return Encoded::kFailed;
  if (!IsDeviceArray(array.get())) return Encoded::kRefused;
  const Encoded result = OnDevice(array.get(), word);
  if (result == Encoded::kYes) *word = ArgumentWord(*word).AsList(false).bits();
  arguments_.owned.push_back(std::move(array));
  return result;
}

// What np.array makes of the list.
Ref MakeArray(PyObject* list) {
  static PyObject* make_array = nullptr;
  if (make_array == nullptr) {
    Ref module = Ref::Steal(PyImport_ImportModule("numpy"));
    if (module) make_array = PyObject_GetAttrString(module.get(), "array");
    if (make_array == nullptr) return Ref();
  }
  return Ref::Steal(PyObject_CallFunctionObjArgs(make_array, list, nullptr));
}

Encoded Encoder::List(PyObject* list, uint64_t* word) {
  if (MayBeForeignArray(list)) return Encoded::kRefused;  // NumPy might copy them down
  if (arguments_.device >= 0 && FindDeviceArray(&list, 1) != nullptr) {
    return ListOnDevice(list, word);
  }
  Ref array = ArrayOfNumbers(list);
  const bool is_plain = bool(array);
  if (!is_plain) array = MakeArray(list);
  if (!array) {
    PyErr_Clear();  // ragged: the refusal says so
    return Encoded::kRefused;
  }
  const Encoded result = Array(array.get(), list, word);
  if (result != Encoded::kYes) return result;
  *word = ArgumentWord(*word).AsList(is_plain || HoldsPythonNumbers(list, 0)).bits();
  arguments_.owned.push_back(std::move(array));
  return result;
}

Encoded Encoder::Placeholder(PyObject* placeholder, uint64_t* word) {
  Ref dtype = Ref::Steal(PyObject_GetAttrString(placeholder, "dtype"));
  Ref rank = Ref::Steal(PyObject_GetAttrString(placeholder, "ndim"));
  Ref number = dtype ? Ref::Steal(PyObject_GetAttrString(dtype.get(), "num")) : Ref();
  if (!number || !rank) return Encoded::kFailed;
  const int type = CanonicalType(int(PyLong_AsLong(number.get())));
  const long ndim = PyLong_AsLong(rank.get());
  if (type < 0 || ndim < 0 || ndim > kMaxRank) return Encoded::kRefused;
  std::fill_n(arguments_.slots.Extend(1 + 2 * ndim), 1 + 2 * ndim, uint64_t{0});
  arguments_.arrays.Append({placeholder, placeholder});
  *word = ArgumentWord::Array(type, int(ndim), ArrayLayout::kC, true, true, 0).bits();
  return Encoded::kYes;
}

Encoded Encoder::OnDevice(PyObject* array, uint64_t* word) {
  const Encoded result = Array(AddressesOf(array), array, word);
  if (IsDeviceNumber(array)) *word = ArgumentWord(*word).AsNumber().bits();
  return result;
}

// A number as the NumPy scalar that it is.
Encoded Encoder::ComeDown(PyObject* number, bool is_static, int depth) {
  Ref item = ItemOf(number);
  if (!item) return Encoded::kFailed;
  const Encoded result = Argument(item.get(), is_static, depth);
  arguments_.owned.push_back(std::move(item));
  return result;
}

Encoded Encoder::Leaf(PyObject* value, uint64_t* word) {
  if (IsArray(value)) return Array(value, value, word);
  if (PyFloat_CheckExact(value)) return Float(value, word);
  if (PyLong_CheckExact(value)) return Integer(value, word);
  const int type = ScalarTypeOf(value);
  if (type >= 0) {
    uint64_t slots[2];
    const int count = ScalarToSlots(type, ScalarData(value), slots);
    std::memcpy(arguments_.slots.Extend(count), slots, count * sizeof(uint64_t));
    *word = ArgumentWord::Scalar(type, false).bits();
    return Encoded::kYes;
  }
  if (PyList_Check(value)) return List(value, word);
  if (IsDeviceArray(value)) return OnDevice(value, word);
  if (array_placeholder_type != nullptr && Py_TYPE(value) == array_placeholder_type) {
    return Placeholder(value, word);
  }
  return PythonScalar(value, word);
}

Encoded Encoder::Tuple(PyObject* tuple, bool is_static, int depth) {
  if (depth == kDeepestArgument) return Encoded::kRefused;
  const Py_ssize_t length = PyTuple_Size(tuple);
  arguments_.key.Append(ArgumentWord::Tuple(uint32_t(length)).bits());
  for (Py_ssize_t i = 0; i < length; ++i) {
    const Encoded result = Argument(PyTuple_GetItem(tuple, i), is_static, depth + 1);
    if (result != Encoded::kYes) return result;
  }
  return Encoded::kYes;
}

Encoded Encoder::Slice(PyObject* slice, bool is_static, int depth) {
  arguments_.key.Append(ArgumentWord::Slice().bits());
  for (const char* name : {"start", "stop", "step"}) {
    Ref part = Ref::Steal(PyObject_GetAttrString(slice, name));
    if (!part) return Encoded::kFailed;
    const Encoded result = Argument(part.get(), is_static, depth + 1);
    if (result != Encoded::kYes) return result;
    arguments_.owned.push_back(std::move(part));
  }
  return Encoded::kYes;
}

Encoded Encoder::Static(PyObject* value) {
  arguments_.key.Append(ArgumentWord::Static().bits());
  arguments_.key.Append(HashContent(value));
  arguments_.statics.Append(value);
  return Encoded::kYes;
}

Encoded Encoder::Argument(PyObject* value, bool is_static, int depth) {
  if (IsDeviceNumber(value) && (is_static || !IsTakenThere(value, arguments_.device))) {
    return ComeDown(value, is_static, depth);
  }
  // The most frequent first: arrays are never static, and are neither tuples nor slices.
  const bool is_array = IsArray(value) || IsDeviceArray(value);
  if (!is_array && (is_static || !PyFloat_CheckExact(value))) {
    if (PyTuple_Check(value)) return Tuple(value, is_static, depth);
    if (Py_TYPE(value) == &PySlice_Type) return Slice(value, is_static, depth);
    if (is_static && !PyList_Check(value)) {
      return MayBeForeignArray(value) ? Encoded::kRefused : Static(value);
    }
  }
  uint64_t word = 0;
  const Encoded result = Leaf(value, &word);
  if (result == Encoded::kYes) arguments_.key.Append(word);
  if (result == Encoded::kRefused && MayBeStatic(value)) return Static(value);
  return result;
}

// The addresses that an array covers, [low, high).
struct Extent {
  uint64_t low;
  uint64_t high;
};

Extent ExtentOf(const ArrayFields* array) {
  const uint64_t data = reinterpret_cast<uint64_t>(array->data);
  Extent extent = {data, data + SizeOfType(CanonicalType(array->descriptor->type))};
  for (int axis = 0; axis < array->rank; ++axis) {
    if (array->sizes[axis] == 0) return {0, 0};
    const int64_t reach = (array->sizes[axis] - 1) * array->strides[axis];
    (reach < 0 ? extent.low : extent.high) += uint64_t(reach);
  }
  return extent;
}

// Whether two indexes may name one element: each axis, from the smallest stride up, must step over
// all that the axes before it reach.
bool OverlapsItself(const ArrayFields* array) {
  if (array->flags & (kFlagC | kFlagFortran)) return false;
  int axes[kMaxRank], count = 0;
  for (int axis = 0; axis < array->rank; ++axis) {
    if (array->sizes[axis] == 0) return false;
    if (array->sizes[axis] > 1) axes[count++] = axis;
  }
  const auto step = [&](int axis) { return std::llabs(array->strides[axis]); };
  std::sort(axes, axes + count, [&](int a, int b) { return step(a) < step(b); });
  int64_t reach = SizeOfType(CanonicalType(array->descriptor->type));
  for (int k = 0; k < count; ++k) {
    if (step(axes[k]) < reach) return true;
    reach += (array->sizes[axes[k]] - 1) * step(axes[k]);
  }
  return false;
}

}  // namespace

Encoded EncodeArgument(PyObject* value, uint8_t in_key, Arguments* arguments) {
  arguments->says_lengths = (in_key & kLengthsInKey) != 0;
  const bool is_static = (in_key & kValueInKey) != 0;
  if (!IsArray(value)) return Encoder(arguments).Argument(value, is_static, 0);
  // The short way of what is most frequent; an array is never static.
  uint64_t word = 0;
  const Encoded result = Encoder(arguments).Array(value, value, &word);
  if (result == Encoded::kYes) arguments->key.Append(word);
  return result;
}

Ref ArrayOfNumbers(PyObject* list) {
  const Py_ssize_t count = PyList_Size(list);
  if (count <= 0) return Ref();
  PyTypeObject* of_all = Py_TYPE(PyList_GetItem(list, 0));
  const bool is_float = of_all == &PyFloat_Type;
  if (!is_float && of_all != &PyLong_Type) return Ref();
  PyObject* descriptor = numpy.descriptors[is_float ? kFloat64 : kInt64];
  Py_INCREF(descriptor);
  Ref array = Ref::Steal(
      numpy.new_from_descr(numpy.array_type, descriptor, 1, &count, nullptr, nullptr, 0, nullptr));
  uint64_t* place = array ? reinterpret_cast<uint64_t*>(FieldsOf(array.get())->data) : nullptr;
  int overflow = array ? 0 : 1;
  for (Py_ssize_t i = 0; overflow == 0 && i < count; ++i) {
    PyObject* item = PyList_GetItem(list, i);
    if (Py_TYPE(item) != of_all) return Ref();
    if (is_float) {
      std::memcpy(place + i, ScalarData(item), sizeof(double));
    } else {
      place[i] = uint64_t(PyLong_AsLongLongAndOverflow(item, &overflow));
    }
  }
  PyErr_Clear();
  return overflow == 0 ? array : Ref();
}

Encoded EncodeCapture(PyObject* value, uint64_t* word, Arguments* arguments) {
  if (IsDeviceArray(value)) return Encoded::kRefused;  // the code may be the host's
  const bool of_arguments = std::exchange(arguments->short_axes, false);
  const bool has_short_axes = arguments->has_short_axes;
  arguments->says_lengths = false;
  const Encoded result = Encoder(arguments).Leaf(value, word);
  arguments->short_axes = of_arguments;
  arguments->has_short_axes = has_short_axes;
  return result;
}

bool HasOverlap(const ArrayArgument* arrays, const std::vector<uint8_t>& written) {
  const size_t count = written.size();
  for (size_t i = 0; i < count; ++i) {
    if (!written[i]) continue;
    const ArrayFields* array = FieldsOf(arrays[i].array);
    if (OverlapsItself(array)) return true;
    const Extent extent = ExtentOf(array);
    for (size_t j = 0; j < count; ++j) {
      if (j == i) continue;
      const Extent other = ExtentOf(FieldsOf(arrays[j].array));
      if (extent.low < other.high && other.low < extent.high) return true;
    }
  }
  return false;
}

}  // namespace parakeet::pylib
