// CUDA devices, through the driver (cuda_driver.h): each with its primary context, which other
// libraries of the process share, and the driver's stream-ordered pool of memory.
#ifndef PARAKEET_RUNTIME_CUDA_DEVICE_H_
#define PARAKEET_RUNTIME_CUDA_DEVICE_H_

#include <cstdint>
#include <string>

#include "runtime/device.h"

namespace parakeet::runtime {

// As CountDevices, OpenDevice and FindDevice (device.h).
int CountCudaDevices(std::string* why);
Device* OpenCudaDevice(int number, std::string* why);
bool FindCudaDevice(const void* address, int* number);

// Of a device's memory, for what single threads of kernels allocate: no more than this, for devices
// that are opened later.
void SetKernelHeap(int64_t bytes);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_DEVICE_H_
