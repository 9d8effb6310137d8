#include "runtime/cuda_driver.h"

#include <dlfcn.h>
#include <pthread.h>

#include <optional>

namespace parakeet::runtime {
namespace {

constexpr const char* kLibrary = "libcuda.so.1";

// The first whose assembler takes the PTX that we write, 7.8.
constexpr int kLeastVersion = 11080;

std::optional<CudaDriver> replacement;

// Whether a child of fork could do anything with the driver: it could before it was opened.
std::atomic<bool> is_in_use = false;

void NoteFork() { is_fork_of_cuda = is_fork_of_cuda || is_in_use; }

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool FindFunctions(CudaDriver* driver, std::string* why) {
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why = std::string("there is no CUDA driver: ") + dlerror();
    return false;
  }
#define PARAKEET_CUDA_FUNCTION(member, symbol, arguments)                              \
  driver->member = reinterpret_cast<decltype(driver->member)>(dlsym(library, symbol)); \
  if (driver->member == nullptr) {                                                     \
    *why = "the CUDA driver is too old: it has no " symbol;                            \
    return false;                                                                      \
  }
#define PARAKEET_CUDA_LATER_FUNCTION(member, symbol, arguments) \
  driver->member = reinterpret_cast<decltype(driver->member)>(dlsym(library, symbol));
#include "runtime/cuda_functions.def"
#undef PARAKEET_CUDA_LATER_FUNCTION
#undef PARAKEET_CUDA_FUNCTION
  return true;
}

bool Initialise(const CudaDriver& driver, std::string* why) {
  int version = 0;
  if (driver.DriverGetVersion(&version) == 0 && version < kLeastVersion) {
    *why = "the CUDA driver is too old: it is for CUDA " + VersionText(version) + "; expected " +
           VersionText(kLeastVersion) + " or later";
    return false;
  }
  const CuResult result = driver.Init(0);
  if (result == kCuNoDevice) {
    *why = "the CUDA driver finds no device";
  } else if (result != 0) {
    *why = "the CUDA driver does not start: " + driver.TextOf(result);
  }
  return result == 0;
}

struct OpenedDriver {
  CudaDriver driver = {};
  bool is_ready = false;
  std::string why;

  OpenedDriver() {
    pthread_atfork(nullptr, nullptr, NoteFork);
    if (replacement) driver = *replacement;
    is_in_use = true;
    is_ready = (replacement || FindFunctions(&driver, &why)) && Initialise(driver, &why);
    is_in_use = is_ready;
  }
};

}  // namespace

std::string CudaDriver::TextOf(CuResult error) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (GetErrorName(error, &name) != 0 || GetErrorString(error, &text) != 0) {
    return "error " + std::to_string(error);
  }
  return std::string(text) + " (" + name + ")";
}

const CudaDriver* OpenCudaDriver(std::string* why) {
  if (IsForkOfCuda()) {
    *why = kWhyNotInFork;
    return nullptr;
  }
  // Never closed: other threads may be in it while the process ends.
  static const auto* const opened = new OpenedDriver;
  if (opened->is_ready) return &opened->driver;
  *why = opened->why;
  return nullptr;
}

void SetCudaDriver(const CudaDriver& driver) { replacement = driver; }

}  // namespace parakeet::runtime
