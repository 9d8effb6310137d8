// How objects that are no plain data are told apart in another process: by a name under which a
// module has them.
#ifndef PARAKEET_PYLIB_CORE_NAMED_OBJECT_H_
#define PARAKEET_PYLIB_CORE_NAMED_OBJECT_H_

#include <string>

#include "pylib/python.h"

namespace parakeet::pylib {

struct NamedObject {
  std::string name;       // "numpy.add"; else that of the type
  bool is_found = false;  // whether the module has that very object under that name
};

// Leaves no exception set. Imports nothing.
NamedObject NameObject(PyObject* object);

// Whether the compiler may know the object by its identity, so that the name of its type is not
// enough: functions written in C, ufuncs, bound methods, classes that decide themselves what their
// subclasses are.
bool IsKnownByIdentity(PyObject* object);

// Whether a Python function belongs to NumPy, whose functions the compiler knows by identity.
bool IsOfLibrary(PyObject* function);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_NAMED_OBJECT_H_
