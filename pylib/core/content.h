// When two Python objects are the same to a compiler: what static arguments and outside names are
// compared by.
//
//   numbers, strings, bytes    by type and value, floats bit by bit
//   tuples                     element by element
//   Python functions           by code object, globals, and the content of closure and defaults; so
//                              a fresh lambda at each call is the same one
//   jitted functions           as what they wrap
//   dtypes                     by their own equality
//   everything else            by identity
//
// An array or list in the closure of a function that is an argument is read anew for each call, so
// there only its leaf word counts (pylib/key.h).
#ifndef PARAKEET_PYLIB_CORE_CONTENT_H_
#define PARAKEET_PYLIB_CORE_CONTENT_H_

#include <cstdint>
#include <vector>

#include "pylib/python.h"

namespace parakeet::pylib {

// Prepares the types below; false with an exception set.
bool LoadContent();

// Equal for objects of the same content. Leaves no exception set.
uint64_t HashContent(PyObject* object);
bool HasSameContent(PyObject* a, PyObject* b);

// Whether an outside name that was `b` may be `a` without the code being another. As above, but a
// function is another one unless it has neither closure nor defaults: code reads those, at each
// call, from the function that it was compiled with. Of an array or list the leaf word counts.
bool MayReplace(PyObject* a, PyObject* b);

// Objects that NumPy makes anew, such as np.finfo(...): its version says what they hold.
bool IsMadeByNumpy(PyObject* object);

// Whether an argument that is no leaf may be static: None, a string, a dtype, a function, a type,
// or another object that the compiler may know; not a container or array of some other library.
bool MayBeStatic(PyObject* object);

// Whether identity means equal content, now and later, as long as somebody holds the object: it
// cannot change, or is told by identity alone. Not of functions.
bool IsConstant(PyObject* object);

// What the content of a Python function depends on, as it was, to be held by identity against what
// it is.
class FunctionParts {
 public:
  // False for what is no function, and for one whose content may change without a part being
  // another object: an array in its closure, defaults of keywords.
  bool Read(PyObject* function);
  bool AreTheSame() const;

 private:
  struct Function {
    PyObject* function;  // held by the one whose closure it is in, or by the caller
    Ref code;
    Ref defaults;
  };
  struct Cell {
    Ref cell;
    Ref value;
  };

  bool ReadFunction(PyObject* function);
  bool ReadCell(PyObject* cell);

  std::vector<Function> functions_;
  std::vector<Cell> cells_;
};

// Of the objects that follow in closures and tuples.
bool IsPythonFunction(PyObject* object);
bool IsCode(PyObject* object);
bool IsDType(PyObject* object);
// The leaf word of an outside array or list, 0 where it has none.
uint64_t LeafWordOf(PyObject* object);

// The plain function that a jitted one wraps, else the object itself. Borrowed.
PyObject* Unwrap(PyObject* object);

// What a closure cell holds, borrowed; null when it is empty.
PyObject* CellContents(PyObject* cell);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_CONTENT_H_
