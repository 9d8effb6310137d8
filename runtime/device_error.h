// What DeviceErrorText (device.h) tells: for devices, not for their users.
#ifndef PARAKEET_RUNTIME_DEVICE_ERROR_H_
#define PARAKEET_RUNTIME_DEVICE_ERROR_H_

#include <cstdint>
#include <string>

namespace parakeet::runtime {

// Notes what this thread's failure means, and returns its code, which is not 0.
int32_t NoteDeviceError(int32_t code, std::string text);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_DEVICE_ERROR_H_
