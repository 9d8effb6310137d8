// Exceptions that need words: each is built by parakeet.errors, where text is easier to write than
// here. These functions always leave an exception set.
#ifndef PARAKEET_PYLIB_CORE_RAISE_H_
#define PARAKEET_PYLIB_CORE_RAISE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "pylib/manifest.h"
#include "pylib/python.h"
#include "runtime/error_slot.h"

namespace parakeet::pylib {

// The check that failed, as the exception of its site, with a traceback that ends in the user's
// file, function and line.
void RaiseRunError(const Manifest& manifest, const runtime::ErrorRecord& error);

// NumPy's ValueError where an array would have 2**63 bytes or more, which is `bytes` below 0; true
// then.
bool RaiseIfTooBig(int64_t bytes);

// parakeet.errors.DeviceError: a device that cannot be used, or that has failed.
void RaiseDeviceError(const std::string& message);

// Argument number `index` of a Python function cannot be taken.
void RaiseRefusal(PyObject* function, size_t index, PyObject* value);

// The TypeError that Python raises for a call whose arguments do not fit the parameters.
void RaiseBindingError(PyObject* function, PyObject* const* arguments, size_t positional,
                       PyObject* names, uint64_t skipped = 0);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_RAISE_H_
