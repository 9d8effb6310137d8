// Arguments that are other libraries' arrays on a device: CuPy's, PyTorch's, JAX's and others', by
// `__cuda_array_interface__` or `__dlpack__`. No call looks for them before it has met an argument
// that compiled code does not take.
#ifndef PARAKEET_PYLIB_CORE_FOREIGN_ARRAY_H_
#define PARAKEET_PYLIB_CORE_FOREIGN_ARRAY_H_

#include <cstddef>

#include "pylib/core/function.h"
#include "pylib/python.h"

namespace parakeet::pylib {

// Thrown, by the first call that meets one (throwing takes 20 us), where the argument of a number,
// or an item of it, may be such an array.
struct ForeignArgument {
  size_t parameter;
  Ref value;
};

// Whether there has been one in this process.
extern bool had_foreign_arrays;

// Whether the type of an object says that it is one, or one of its items, where it is a tuple or a
// list. Its memory may be the host's yet.
bool MayBeForeignArray(PyObject* object);

// Whether there is one among values; looked for where there has been one.
bool HasForeignArray(PyObject* const* values, size_t count);

// Calls a function with such arrays among its values, on the target of that number; kNoTarget:
// where the first of them is. They are lent to the call as device arrays (parakeet.foreign_arrays).
// As Dispatch (dispatch.h).
PyObject* DispatchForeign(FunctionState* function, int target, PyObject* const* values);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_FOREIGN_ARRAY_H_
