// The jitted function as a Python object: `_core.Function`, which parakeet.jit makes.
#ifndef PARAKEET_PYLIB_CORE_FUNCTION_H_
#define PARAKEET_PYLIB_CORE_FUNCTION_H_

#include <cstdint>
#include <vector>

#include "pylib/core/compile_lock.h"
#include "pylib/core/parameters.h"
#include "pylib/core/specialization.h"
#include "pylib/key.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// What keys say since some code has asked for it. Stays set.
struct Said {
  bool short_axes = false;   // the lengths of short last axes
  bool short_sides = false;  // in headers for the host: products have short sides
  bool few_rows = false;     // likewise: rows are few and long

  uint64_t With(uint64_t header) const {
    return WithFewRows(WithShortSides(header, short_sides), few_rows);
  }
};

// What the object holds beside what Python needs.
struct FunctionState {
  PyObject* object = nullptr;  // the Function itself, which owns this
  Ref function;                // the plain Python function
  Parameters parameters;
  Ref fastmath;  // a tuple of LLVM's flag names
  bool boundscheck = true;
  bool may_cache = true;             // whether its code may be kept on disk
  int target = -1;                   // a target's number, or -1: whatever is set elsewhere
  bool owns_target_keyword = false;  // a parameter of its own is called `target` or `_backend`
  // For each parameter, what belongs into the key (InKey). Values only grow; lengths, until there
  // is code for so many that no more is made.
  std::vector<uint8_t> in_key;
  bool has_static = false;   // whether the value of some parameter does
  int lengths_made = 0;      // how much code there is that was made for certain lengths
  bool asks_lengths = true;  // whether more may be
  Said said;
  SpecializationTable table;
  Specialization* last = nullptr;  // called last; null after Clear
  CompileLock lock;
};

// Makes the type and adds it to the module as "Function"; false with an exception set.
bool AddFunctionType(PyObject* module);

bool IsFunction(PyObject* object);
// Of a Function: what it wraps (borrowed), and its state.
PyObject* WrappedFunction(PyObject* function);
FunctionState* StateOf(PyObject* function);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_FUNCTION_H_
