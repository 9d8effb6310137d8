// By line of Python, the memory of devices that the arrays hold which it has made: counted where
// somebody asks for it, which takes some 0.2 us for each.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_LINES_H_
#define PARAKEET_PYLIB_CORE_DEVICE_LINES_H_

#include <cstdint>

#include "pylib/python.h"
#include "runtime/device.h"

namespace parakeet::pylib {

struct DeviceLine;

// Counts a buffer for where Python is now: the innermost frame that runs no code of this package.
// Null, with nothing counted, where no frame runs or lines are not asked for.
DeviceLine* CountBuffer(const runtime::Device* device, int64_t bytes);
void UncountBuffer(DeviceLine* line, int64_t bytes);

// --- methods of the module ---

// count_device_lines(is_on): whether buffers that are allocated from now on are counted.
PyObject* CountDeviceLines(PyObject*, PyObject* is_on);
// device_lines(number): a list of (code, offset of its instruction, bytes, buffers).
PyObject* DeviceLines(PyObject*, PyObject* number);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_LINES_H_
