// CUDA devices, through the driver (cuda_driver.h): each with its primary context, which other
// libraries of the process share, and the driver's stream-ordered pool of memory.
#ifndef PARAKEET_RUNTIME_CUDA_DEVICE_H_
#define PARAKEET_RUNTIME_CUDA_DEVICE_H_

#include <string>

#include "runtime/device.h"

namespace parakeet::runtime {

// As CountDevices, OpenDevice and FindDevice (device.h).
int CountCudaDevices(std::string* why);
Device* OpenCudaDevice(int number, std::string* why);
bool FindCudaDevice(const void* address, int* number);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_DEVICE_H_
