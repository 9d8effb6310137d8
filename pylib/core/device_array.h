// Arrays whose elements are on a device: `_core.DeviceArray`, completed by parakeet.device_array.
//
// What it holds is a NumPy array whose data is an address of the device. NumPy only ever does sums
// on that address: shapes, strides and views are its own business, and elements nobody's on the
// host. Memory is owned by the base at the end of its chain of views.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_
#define PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_

#include <cstddef>
#include <cstdint>

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

// Which stream of the driver's another library works on that owns an array's memory: its handle, or
// one of these.
inline constexpr int64_t kOurStreams = -1;  // the memory is ours
inline constexpr int64_t kAnyStream = 0;    // another library's, which does not say its stream

// Of a DeviceArray: the NumPy array (borrowed), its target's number (key.h), the stream of the
// memory's owner, and the object of another library (borrowed) that the array stands for in a call,
// or null.
PyObject* AddressesOf(PyObject* device_array);
int NumberOf(PyObject* device_array);
int64_t StreamOf(PyObject* device_array);
PyObject* LenderOf(PyObject* device_array);

// Whether it is a number that a call has returned (device_number.h); the NumPy scalar (borrowed)
// that it has come down as, or null; and what keeps that of a number.
bool IsDeviceNumber(PyObject* object);
PyObject* KeptItem(PyObject* device_array);
void KeepItem(PyObject* device_array, PyObject* item);

// A new reference, or null with an exception set.
PyObject* MakeDeviceArray(PyObject* addresses, int number, int64_t stream = kOurStreams,
                          PyObject* lender = nullptr);

// The same for a number: an array without axes that is read-only.
PyObject* MakeDeviceNumber(PyObject* addresses, int number);

// An object that frees a buffer of the device with its last reference, and is counted for the line
// that Python is at (device_lines.h). Null with an exception set, and the buffer freed.
PyObject* OwnOnDevice(runtime::Device* device, void* buffer, int64_t bytes);

// The first among values, in tuples and lists too, that is no number; borrowed, null where there is
// none.
PyObject* FindDeviceArray(PyObject* const* values, size_t count);

// --- methods of the module ---

// device_allocate(number, bytes): an object that owns the memory, and its address.
PyObject* DeviceAllocate(PyObject*, PyObject* args);
// array_at(owner, address, shape, typestr, strides, is_read_only): a NumPy array over memory of a
// device, which keeps the owner alive. `typestr` is as in NumPy's interface, `strides` None for C
// order. TypeError for elements that jitted functions do not take.
PyObject* ArrayAt(PyObject*, PyObject* args);
// device_copy(number, to_device, device_address, host_address, bytes)
PyObject* DeviceCopy(PyObject*, PyObject* args);

// device_stream(number): the driver's handle of this thread's stream; 0 of the emulated device.
PyObject* DeviceStream(PyObject*, PyObject* number);
// device_during(number, function): what the function returns, called while the device is the
// driver's current one of this thread.
PyObject* DeviceDuring(PyObject*, PyObject* args);
// device_wait(number): until this thread's work is done.
PyObject* DeviceWait(PyObject*, PyObject* number);
// device_of_address(address): the number of the target whose memory it is in, or None.
PyObject* DeviceOfAddress(PyObject*, PyObject* address);
// device_order(number, is_ours_first, stream): what comes later on the other stream waits for this
// thread's work; else this thread's waits for what is on the other by now.
PyObject* DeviceOrder(PyObject*, PyObject* args);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_ARRAY_H_
