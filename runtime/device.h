// A device that kernels run on: a GPU, through the CUDA driver, or the emulated one.
//
// A device is opened once and lives as long as the process. Its functions may be called by any
// thread; work of one thread is done in order, on a stream of its own. A failure is said by a code,
// 0 for none, of which DeviceErrorText tells more. No CUDA name shows here.
#ifndef PARAKEET_RUNTIME_DEVICE_H_
#define PARAKEET_RUNTIME_DEVICE_H_

#include <cstdint>
#include <string>

#include "runtime/device_abi.h"

namespace parakeet::runtime {

struct BlasProduct;  // matrix_product.h

enum class DeviceKind : uint8_t { kEmulated, kCuda };

struct DeviceCounters {
  int64_t live_bytes = 0;
  int64_t live_buffers = 0;
  int64_t peak_bytes = 0;
  int64_t launches = 0;
  int64_t replays = 0;      // of rows of launches, which went to the driver as one graph
  int64_t assembled = 0;    // modules that the driver has made of PTX
  int64_t products = 0;     // that libraries made
  int64_t limit_bytes = 0;  // of live_bytes; 0: none
  int64_t bytes_up = 0;     // copied from the host, and to it, in all
  int64_t bytes_down = 0;
};

// What the driver says of the device; of the emulated one nothing.
struct DeviceMemory {
  int64_t free_bytes = 0;
  int64_t total_bytes = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual int number() const = 0;
  // "NVIDIA H200", "emulated".
  virtual std::string Name() const = 0;
  // 90 for compute capability 9.0; 0 of the emulated one.
  virtual int Architecture() const = 0;
  virtual DeviceCounters Counters() const = 0;
  // peak_bytes begins anew.
  virtual void ResetPeak() = 0;
  virtual DeviceMemory Memory() { return {}; }

  // Null where there is not enough, also beside the limit. 0 bytes give a valid address.
  virtual void* Allocate(int64_t bytes) = 0;
  virtual void Free(void* buffer) = 0;
  // Allocate refuses what would take more than this; 0: no limit.
  virtual void SetLimit(int64_t bytes) = 0;

  // In the order of the thread's work. The host's memory has been read, or written, by the time
  // they return.
  virtual int32_t CopyUp(void* device, const void* host, int64_t bytes) = 0;
  virtual int32_t CopyDown(void* host, const void* device, int64_t bytes) = 0;
  // The same to a buffer of the host (buffers.h), which results may come down to again.
  virtual int32_t CopyResult(void* buffer, const void* device, int64_t bytes) {
    return CopyDown(buffer, device, bytes);
  }
  // As pk_device_launch, apart from the captures' first word, which is in place.
  virtual int32_t Launch(const PkKernel& kernel, int64_t blocks, int32_t threads,
                         const void* captures, int64_t bytes) = 0;
  // Lets a library of the device make the product, in the order of the thread's work. False where
  // there is none, or a kernel is as good: nothing has been begun then.
  virtual bool Multiply(const BlasProduct& product) { return false; }
  // Waits for the work of this thread.
  virtual int32_t Wait() = 0;

  // Between the two, each of the other functions costs this thread less. Leave takes what Enter has
  // given.
  virtual void* Enter() { return nullptr; }
  virtual void Leave(void*) {}

  // Two PkErrorRecords on the device for this thread's calls, one at a time: all zero, and to be
  // left so. Null where a call is to allocate its own.
  virtual void* ErrorRecords() { return nullptr; }

  // What other threads begin later comes after this thread's work so far: called before they may
  // see memory of the device that this thread has used.
  virtual int32_t Share() { return 0; }

  // The driver's handle of this thread's stream, for others' protocols; null of the emulated
  // device. Work of this thread waits for what is on another stream by now, and the other way
  // round: what comes later on the other stream waits for this thread's work.
  virtual void* Stream() { return nullptr; }
  virtual int32_t WaitForStream(void* stream) { return 0; }
  virtual int32_t MakeStreamWait(void* stream) { return 0; }
};

// How many devices there are; 0, with the reason, where the driver or every device is missing.
int CountDevices(DeviceKind kind, std::string* why);

// Null, with the reason, where there is no such device. The emulated one has number 0.
Device* OpenDevice(DeviceKind kind, int number, std::string* why);

// Whether an address is in memory of a device of a kind, and of which: for memory of others too,
// where the kind's driver knows of it.
bool FindDevice(DeviceKind kind, const void* address, int* number);

// What a code means, with what this thread's last failure said more.
std::string DeviceErrorText(int32_t code);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_DEVICE_H_
