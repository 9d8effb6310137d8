// What a call returns that leaves its arrays on the device.
#ifndef PARAKEET_PYLIB_CORE_DEVICE_RESULTS_H_
#define PARAKEET_PYLIB_CORE_DEVICE_RESULTS_H_

#include <cstdint>
#include <vector>

#include "pylib/core/arguments.h"
#include "pylib/manifest.h"
#include "pylib/python.h"
#include "runtime/device.h"

namespace parakeet::pylib {

// A buffer that the call leaves on the device.
struct KeptBuffer {
  void* address;
  int64_t bytes;
};

// A new reference, or null with an exception set. Fresh buffers, at addresses of the device and
// each among `kept`, are device arrays, and so are views of arguments that are; views of others are
// NumPy's, at addresses of the host. NumPy scalars are numbers on the device (device_number.h).
// Every buffer of `kept` is taken over.
PyObject* BuildDeviceResult(const Manifest& manifest, const ArrayArgument* arguments,
                            const uint64_t* slots, runtime::Device* device, int number,
                            const std::vector<KeptBuffer>& kept);

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_DEVICE_RESULTS_H_
