// What dispatch reads from the arguments of one call, in one pass: the key that chooses the code
// (pylib/key.h) and the slots that the code takes (runtime/abi.h).
#ifndef PARAKEET_PYLIB_CORE_ARGUMENTS_H_
#define PARAKEET_PYLIB_CORE_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "pylib/core/inline_vector.h"
#include "pylib/key.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// An array among the leaves. `original` is what the caller passed: the array itself, the list that
// it was made from, or a device array, of which `array` has the addresses (device_array.h).
struct ArrayArgument {
  PyObject* array;
  PyObject* original;
};

// References are borrowed from the caller, who keeps the arguments alive during the call, or from
// `owned`.
struct Arguments {
  InlineVector<uint64_t, 24> key;
  InlineVector<uint64_t, 48> slots;
  InlineVector<PyObject*, 8> statics;
  InlineVector<ArrayArgument, 8> arrays;
  std::vector<Ref> owned;
  bool short_axes = false;  // Whether the key says how long the last axis of an array is, if short.
  bool has_short_axes = false;  // Whether it is silent on one that is.
  bool says_lengths = false;  // Whether it says the lengths of short axes of what is appended now.
  bool has_lengths = false;   // Whether it says one.
  int device = -1;  // The target's number, with the device (key.h), where the call is on one.
};

enum class Encoded : uint8_t {
  kYes,
  kFailed,   // a Python exception is set
  kRefused,  // nothing that compiled code takes; no exception is set
};

// Appends the value of one parameter; `in_key` are its bits.
Encoded EncodeArgument(PyObject* value, uint8_t in_key, Arguments* arguments);

// A new array of a list's numbers, where all are Python's floats, or all its integers of 64 bits;
// none without an exception for any other list, and where NumPy fails.
Ref ArrayOfNumbers(PyObject* list);

// As above for an outside array or list: a leaf, whose word is returned in `word`, is not
// appended to the key and says no lengths.
Encoded EncodeCapture(PyObject* value, uint64_t* word, Arguments* arguments);

// Stands for an array in Function.compile, where there is no array yet: the class of
// parakeet.array_type, whose objects have `dtype` and `ndim`. Null until that module is imported.
extern PyTypeObject* array_placeholder_type;

// Whether some array that `written` marks (it has one entry an array) shares memory with another,
// or with itself under two indexes. By address ranges: interleaved views count as sharing.
bool HasOverlap(const ArrayArgument* arrays, const std::vector<uint8_t>& written);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_ARGUMENTS_H_
