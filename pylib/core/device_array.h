// Arrays whose elements are on a device: `_core.DeviceArray`, completed by parakeet.device_array.
//
// What it holds is a NumPy array whose data is an address of the device. NumPy only ever does sums
// on that address: shapes, strides and views are its own business, and elements nobody's on the
// host. Memory is owned by the base at the end of its chain of views.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_
#define PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_

#include <cstddef>

#include "pylib/python.h"
#include "runtime/device.h"

namespace parakeet::pylib {

// Makes the type and adds it to the module as "DeviceArray"; false with an exception set.
bool AddDeviceArrayType(PyObject* module);

// Set once, by the above.
extern PyTypeObject* device_array_type;
// Whether there has been one in this process: before, no call looks for them.
extern bool had_device_arrays;

inline bool IsDeviceArray(PyObject* object) { return Py_TYPE(object) == device_array_type; }

// Of a DeviceArray: the NumPy array (borrowed), and its target's number (key.h).
PyObject* AddressesOf(PyObject* device_array);
int NumberOf(PyObject* device_array);

// A new reference, or null with an exception set.
PyObject* MakeDeviceArray(PyObject* addresses, int number);

// An object that frees a buffer of the device with its last reference. Null with an exception set,
// and the buffer freed.
PyObject* OwnOnDevice(runtime::Device* device, void* buffer);

// The first among values, in tuples too; borrowed, null where there is none.
PyObject* FindDeviceArray(PyObject* const* values, size_t count);

// --- methods of the module ---

// device_allocate(number, bytes): an object that owns the memory, and its address.
PyObject* DeviceAllocate(PyObject*, PyObject* args);
// device_copy(number, to_device, device_address, host_address, bytes)
PyObject* DeviceCopy(PyObject*, PyObject* args);

// device_stream(number): the driver's handle of this thread's stream; 0 of the emulated device.
PyObject* DeviceStream(PyObject*, PyObject* number);
// device_order(number, is_ours_first, stream): what comes later on the other stream waits for this
// thread's work; else this thread's waits for what is on the other by now.
PyObject* DeviceOrder(PyObject*, PyObject* args);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_
