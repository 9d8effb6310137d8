// Calls whose kernels run on a device: opening it, moving arguments there and results back.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_DISPATCH_H_
#define PARAKEET_PYLIB_CORE_DEVICE_DISPATCH_H_

#include <cstdint>

#include "pylib/core/arguments.h"
#include "pylib/core/function.h"
#include "pylib/core/give_up.h"
#include "pylib/python.h"
#include "runtime/device.h"

namespace parakeet::pylib {

// The device of a target's number (key.h), which is one with a device. Null with a
// parakeet.errors.DeviceError set, which says why it cannot be used.
runtime::Device* OpenDeviceOf(int number);

// In a child of fork: which devices it can use is to be asked again.
void ForgetDevices();

// The number of the target whose kernels run on a device.
int NumberOfDevice(runtime::DeviceKind kind, int number);

// The MemoryError of memory that a device has not, where so much of it was in use.
void RaiseDeviceMemory(runtime::Device* device, int64_t bytes, int64_t bytes_in_use);

// The header of the keys of calls on a device.
uint64_t HeaderOn(const runtime::Device& device);

// The same for texts about such calls, which need no device: where it is missing, the header is for
// an architecture that later ones run too.
uint64_t HeaderToShow(int number);

// Runs code on a device, without the GIL, and builds what the call returns: null with an exception
// set, or without one where the code has given up. What the function stored to its arguments before
// a failure stays stored. Where an argument is a device array, arrays among the results are too.
PyObject* RunOnDevice(const FunctionState& function, Specialization* code, runtime::Device* device,
                      const Arguments& call, bool is_timed, GaveUp* gave_up);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_DISPATCH_H_
