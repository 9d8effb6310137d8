#ifndef PARAKEET_FRONTEND_REGISTRY_H_
#define PARAKEET_FRONTEND_REGISTRY_H_

#include <optional>
#include <string>

#include "frontend/py_ref.h"
#include "frontend/value.h"

// The Python side's table of what outside objects mean (parakeet.library.registry).
namespace parakeet::frontend {

// The user's function that is compiled in the place of `object` (parakeet.overloading), where the
// function `home` reads it; a null `home` is none of them. A null reference for none.
PyRef LookUpOverload(PyObject* object, PyObject* home);

// The same for an array method.
PyRef LookUpMethodOverload(const std::string& name, PyObject* home);

// What a NumPy function, an operator or primitive of ours, a builtin or a function of `math` stands
// for: a Primitive, an Operator, an Intrinsic or a library function. nullopt where the registry
// does not know the object. Called with the GIL held.
std::optional<Value> LookUpObject(PyObject* object);

// The library function that is called with the index of `np.mgrid[...]` and its like.
std::optional<Value> LookUpSubscript(PyObject* object);

// The library function behind an array method, if it has one.
std::optional<Value> LookUpMethod(const std::string& name);

// The library function behind a method of element-wise functions (`np.add.reduce`), if any.
std::optional<Value> LookUpUfuncMethod(const std::string& name);

// The library function that computes an element-wise function which is no primitive.
Value ComposedUfunc(const std::string& name);

// The library function, primitive or operator that NumPy calls `name`: "matmul". A bug where there
// is none.
Value LibraryFunction(const std::string& name);

// True for a Python function of this package, which users' overloads do not reach.
bool IsOurFunction(PyObject* function);

// True for a Python function of the library (parakeet.library).
bool IsLibraryFunction(PyObject* function);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_REGISTRY_H_
