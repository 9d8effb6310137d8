// Numbers that have not come down yet: device arrays without axes that calls have returned. Nobody
// stores to their memory, so that an item comes down once.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_NUMBER_H_
#define PARAKEET_PYLIB_CORE_DEVICE_NUMBER_H_

#include "pylib/python.h"

namespace parakeet::pylib {

// Whether a call takes the number where it is, on the device of that target's number (key.h).
// Integers come down: they tend to be indices and counts, which host code needs.
bool IsTakenThere(PyObject* device_number, int number);

// The NumPy scalar that a device array without axes holds; kept by a number. Waits for what makes
// it. Null with an exception set.
Ref ItemOf(PyObject* device_array);

// device_item(array): the same for Python.
PyObject* DeviceItem(PyObject*, PyObject* device_array);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_NUMBER_H_
