// The emulated device: kernels run on the host, a block at a time on each of its threads, with
// checks that a GPU does not give (pk_thread_check).
#ifndef PARAKEET_RUNTIME_EMULATED_DEVICE_H_
#define PARAKEET_RUNTIME_EMULATED_DEVICE_H_

#include <string>

#include "runtime/device.h"

namespace parakeet::runtime {

// The one emulated device, number 0; null, with the reason, for another number.
Device* OpenEmulatedDevice(int number, std::string* why);

// As FindDevice (device.h).
bool FindEmulatedDevice(const void* address, int* number);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_EMULATED_DEVICE_H_
