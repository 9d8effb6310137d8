// The life of a call, once its arguments are bound to parameters.
#ifndef PARAKEET_PYLIB_CORE_DISPATCH_H_
#define PARAKEET_PYLIB_CORE_DISPATCH_H_

#include <atomic>
#include <cstdint>

#include "pylib/core/function.h"
#include "pylib/key.h"
#include "pylib/python.h"
#include "runtime/error_slot.h"

namespace parakeet::pylib {

// Calls a function on the host with one value a parameter (borrowed). Returns a new reference, or
// null with an exception set. Throws std::bad_alloc, and ForeignArgument (foreign_array.h), as all
// of these do.
PyObject* Dispatch(FunctionState* function, Target target, PyObject* const* values);

// The same where some of the values are device arrays.
PyObject* DispatchOnHost(FunctionState* function, Target target, PyObject* const* values);

// The same on the device that a target's number names (key.h).
PyObject* DispatchOnDevice(FunctionState* function, int number, PyObject* const* values);

// Compiles for such a call where that is still to do, and runs nothing. Null with an exception set.
Specialization* Prepare(FunctionState* function, int number, PyObject* const* values);

// The text of Dump (compile.h) for such a call.
PyObject* DumpFor(FunctionState* function, int number, PyObject* const* values, const char* what,
                  const char* stage);

// What is left of a call (number_calls.h) that has failed with `error`: it runs once more where its
// code has given up. As Dispatch.
PyObject* EndFailedCall(FunctionState* function, const Specialization& code, Target target,
                        PyObject* const* values, const runtime::ErrorRecord& error);

// Counts the calls in this process whose key was written: those that were not like one before. With
// the GIL held.
extern int64_t keyed_calls;

// Whether calls are timed: two clock reads each.
extern std::atomic<bool> is_timing;
void SetTiming(bool is_on);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DISPATCH_H_
