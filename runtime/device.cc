#include "runtime/device.h"

#include <utility>

#include "runtime/cuda_device.h"
#include "runtime/device_error.h"
#include "runtime/emulated_device.h"

namespace parakeet::runtime {
namespace {

struct LastError {
  int32_t code = 0;
  std::string text;
};

thread_local LastError last_error;

}  // namespace

int32_t NoteDeviceError(int32_t code, std::string text) {
  last_error = {code, std::move(text)};
  return code;
}

std::string DeviceErrorText(int32_t code) {
  if (code == last_error.code) return last_error.text;
  return "the device failed with code " + std::to_string(code);
}

int CountDevices(DeviceKind kind, std::string* why) {
  return kind == DeviceKind::kEmulated ? 1 : CountCudaDevices(why);
}

Device* OpenDevice(DeviceKind kind, int number, std::string* why) {
  return kind == DeviceKind::kEmulated ? OpenEmulatedDevice(number, why)
                                       : OpenCudaDevice(number, why);
}

bool FindDevice(DeviceKind kind, const void* address, int* number) {
  return kind == DeviceKind::kEmulated ? FindEmulatedDevice(address, number)
                                       : FindCudaDevice(address, number);
}

}  // namespace parakeet::runtime
