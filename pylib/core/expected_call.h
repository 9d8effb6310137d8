// What a call must be like to run a specialization, as a list that arguments are compared with in
// place: the calls that repeat write no key and hash nothing.
#ifndef PARAKEET_PYLIB_CORE_EXPECTED_CALL_H_
#define PARAKEET_PYLIB_CORE_EXPECTED_CALL_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/core/content.h"
#include "pylib/core/numpy_access.h"
#include "pylib/key.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// Slots and arrays of a call, borrowed as in Arguments. Only what ExpectedCall has written is set:
// nothing is cleared.
class DirectArguments {
 public:
  static constexpr size_t kSlots = 64;
  static constexpr size_t kArrays = 16;

  DirectArguments() = default;
  ~DirectArguments() { Release(); }
  DirectArguments(const DirectArguments&) = delete;
  DirectArguments& operator=(const DirectArguments&) = delete;

  // Keeps an array alive that was made of a list, or an outside one: another thread may bind its
  // name anew while the code runs. Of one call at most kArrays.
  void Own(Ref array) { owned_[owned_count_++] = array.release(); }
  // Lets go of them, for another try.
  void Release() {
    while (owned_count_ > 0) Py_DECREF(owned_[--owned_count_]);
  }

  uint64_t slots[kSlots];
  ArrayArgument arrays[kArrays];

 private:
  PyObject* owned_[kArrays];
  size_t owned_count_ = 0;
};

// What the key of a specialization says of each argument, and its manifest of outside arrays.
// Takes no call before Read.
class ExpectedCall {
 public:
  // Of a key and its statics, which outlive this. Where some argument is a slice, or an object that
  // may change what it stands for without anybody knowing, no call is taken. `captured`: the leaf
  // words of what is read outside.
  void Read(const std::vector<uint64_t>& key, const std::vector<Ref>& statics,
            std::span<const uint64_t> captured);

  // Whether Take would take numbers alone.
  bool has_numbers_alone() const { return is_direct_ && has_numbers_alone_; }
  // Take, where the above holds and no parameter is static.
  bool TakeNumbers(uint64_t header, PyObject* const* values, uint64_t* slots) const {
    if (header_ != header) return false;
    for (const Argument& expected : arguments_) {
      if (!TakeNumber(expected, *values++, slots)) return false;
      slots += expected.slots;
    }
    return true;
  }

  size_t array_count() const { return array_count_; }
  // Whether some array may have two indexes for one element.
  bool has_strided() const { return has_strided_; }

  // Whether a call with that header, of one value a parameter, would have the very key. False also
  // where that is left open. `in_key` has the bits of each parameter (InKey); `short_axes` is as in
  // Arguments.
  bool Take(uint64_t header, const uint8_t* in_key, bool short_axes, PyObject* const* values,
            DirectArguments* call) const;
  // Whether an outside array is still what its word says. Behind Take, in order from 0; a call that
  // has been refused one is not to be run.
  bool TakeCapture(size_t number, PyObject* value, DirectArguments* call) const;

 private:
  enum class Kind : uint8_t {
    kArray,
    kFloat,
    kInteger,
    kBool,
    kNumpyScalar,
    kList,
    kTuple,
    kConstant,
    kFunction
  };

  // Of a tuple, what it holds follows.
  struct Argument {
    Kind kind;
    bool checks_strides;  // array: neither in C order nor in Fortran's
    uint8_t rank;         // array, list
    uint8_t slots;        // how many it takes
    uint8_t type;         // array, list, number: NumPy's type number
    int flag_mask;        // array, list: which of NumPy's flags the word tells
    int flags;            // array, list: those
    uint64_t word;        // array, list, number
    uint64_t bare;        // array, list: the word without lengths
    uint64_t unit_axes;   // array, list: as in the word
    const void* object;   // array, list: the descriptor; number: the class; constant, function:
                          // itself
    size_t count;         // tuple: its length; function: its place in functions_
  };

  // What Take reads and writes as it goes along the arguments.
  struct Walk {
    const Argument* expected;
    uint64_t* slots;
    ArrayArgument* array;
    DirectArguments* call;
    bool short_axes;
  };

  struct Captured {
    Argument argument;
    size_t slot;   // its first
    size_t array;  // its place among the arrays
  };

  static Argument LeafOf(ArgumentWord word);
  static Kind KindOfNumber(ArgumentWord word);
  bool ReadLeaf(ArgumentWord word);
  bool ReadCaptured(ArgumentWord word);
  bool ReadStatic(PyObject* object);
  bool TakeNext(Walk* walk, uint8_t said, PyObject* value) const;
  bool TakeTuple(Walk* walk, uint8_t said, PyObject* value) const;
  static bool TakeList(const Argument& expected, Walk* walk, bool says_lengths, PyObject* value);
  static bool TakeArray(const Argument& expected, bool short_axes, bool says_lengths,
                        PyObject* value, uint64_t* slots);
  static bool TakeNumber(const Argument& expected, PyObject* value, uint64_t* slots);
  static bool TakeOtherNumber(const Argument& expected, PyObject* value, uint64_t* slots);

  std::vector<Argument> arguments_;
  std::vector<Captured> captured_;
  std::vector<FunctionParts> functions_;
  size_t slot_count_ = 0;  // of the arguments and what is captured
  uint64_t header_ = 0;
  size_t array_count_ = 0;
  bool has_strided_ = false;
  bool has_numbers_alone_ = true;
  bool is_direct_ = false;
};

inline bool ExpectedCall::TakeNumber(const Argument& expected, PyObject* value, uint64_t* slots) {
  if (Py_TYPE(value) != expected.object) return false;
  if (expected.kind == Kind::kFloat) {
    std::memcpy(slots, ScalarData(value), sizeof(double));
    return true;
  }
  return TakeOtherNumber(expected, value, slots);
}

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_EXPECTED_CALL_H_
