// Python objects as bytes that mean the same in every process, by which the disk cache knows again
// what a compilation has read. Equal bytes, of sequences of objects added in the same order, mean
// that the compiler would have made the same code of them.
//
//   numbers, strings, bytes    type and value, floats bit by bit
//   tuples, slices             part by part
//   Python functions           the code, in every part that shapes its tree or the columns of its
//                              source, without its file and line
//   jitted functions           as what they wrap
//   arrays and lists           the leaf word (pylib/key.h): their values are read at each call
//   dtypes                     their text
//   what a module has by name  that name
//   everything else            the name of the type: the compiler reads its attributes, and each
//                              of these is a record of its own
//
// Objects that have an identity are numbered in the order in which they are first met, and that
// number stands for them from then on, since the compiler compares them by identity too.
#ifndef PARAKEET_PYLIB_CORE_FINGERPRINT_H_
#define PARAKEET_PYLIB_CORE_FINGERPRINT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "pylib/python.h"

namespace parakeet::pylib {

// Used with the GIL held; leaves no exception set. What is added must outlive the fingerprint.
class Fingerprint {
 public:
  // A function by its code alone: what it reads is recorded by itself.
  void Add(PyObject* object) { AddObject(object, false, 0); }
  // With closure and defaults, and those of functions in them.
  void AddDeep(PyObject* object) { AddObject(object, true, 0); }
  void AddWord(uint64_t word);
  void AddText(std::string_view text);

  // Whether all that was added is known by more than its type's name where that could matter.
  bool is_certain() const { return is_certain_; }
  // What was added since the last time. The numbers of objects go on.
  std::string Take();

 private:
  void AddObject(PyObject* object, bool deep, int depth);
  bool AddNumber(PyObject* object);
  bool AddPlain(PyObject* object, bool deep, int depth);
  void AddIdentical(PyObject* object, bool deep, int depth);
  void AddFunction(PyObject* function, bool deep, int depth);
  void AddCode(PyObject* code, int64_t first_line, int depth);
  void AddConstant(PyObject* constant, int64_t first_line, int depth);
  void AddNamed(PyObject* object);
  void AddItems(PyObject* tuple, bool deep, int depth);
  void AddPart(PyObject* object, const char* name, bool deep, int depth);
  bool AddString(PyObject* text);
  void AddRepr(PyObject* object);
  void AddTag(char tag) { bytes_.push_back(tag); }

  std::string bytes_;
  std::unordered_map<PyObject*, uint32_t> numbers_;
  bool is_certain_ = true;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_FINGERPRINT_H_
