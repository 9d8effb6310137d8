// One call on a device: what it holds there, and how arguments come up and results down.
//
//   Call call(1);
//   DeviceCall on_device(&call, device);
//   if (on_device.TakeArguments(arguments)) { status = entry(&call, ...); }
//   on_device.GiveBackArguments();
//   ... TakeResult for each fresh buffer among the results ...
//   // the end of `on_device` frees what is left on the device
#ifndef PARAKEET_RUNTIME_DEVICE_CALL_H_
#define PARAKEET_RUNTIME_DEVICE_CALL_H_

#include <memory>
#include <span>

#include "runtime/call.h"
#include "runtime/device.h"

namespace parakeet::runtime {

struct ArgumentCopy;
class ElementRuns;

// An array argument, as its slots say it (abi.h).
struct DeviceArgument {
  void* data;
  int64_t element_bytes;
  int32_t rank;
  const int64_t* sizes;    // in elements
  const int64_t* strides;  // in bytes
  bool is_written;
  // `data` is an address of the device already: nothing is copied, up or down.
  bool is_on_device = false;
  // Whether it matters what the elements are before the call. Where it does not, and they are
  // written, the call replaces them all, unless it fails.
  bool has_contents = true;
};

class DeviceCall {
 public:
  // Both outlive it. pk_device_* functions of the call find it through the call.
  DeviceCall(Call* call, Device* device);
  ~DeviceCall();
  DeviceCall(const DeviceCall&) = delete;
  DeviceCall& operator=(const DeviceCall&) = delete;

  Device& device() { return device_; }

  // Copies the memory that the arguments' elements lie in to the device, and makes `data` of each
  // its device address. Those whose memory overlaps, where one of them is written, share a copy.
  // What is neither written nor of use before the call keeps its address.
  // False with the call's error slot set.
  bool TakeArguments(std::span<DeviceArgument> arguments);

  // The host's address for a device address in the copy of the argument of that number; the same
  // address for an argument that was on the device.
  void* HostAddress(int argument, void* device) const;

  // Waits for the call's kernels where one may have failed. False with the slot set, to what the
  // first that did has recorded. To be asked when the entry has run, however that went.
  bool Settle();

  // Copies what was written back, also behind a failure: what the function has stored stays stored.
  // Then what did not go up does not come down.
  // Of elements that do not lie side by side, only they are written. False with the slot set.
  bool GiveBackArguments();

  // A host buffer of the call (call.h) with `bytes` of a device buffer that pk_device_alloc gave,
  // from `offset` on. The device's is freed. Null with the slot set.
  void* TakeResult(void* base, int64_t offset, int64_t bytes);

  // What others begin later comes after the call's work so far, behind which there is none that
  // they may see. False with the slot set. Without it, the call's end does that where an argument
  // was on the device.
  bool Share();

  // Takes a device buffer that pk_device_alloc gave off the call's list: it is the caller's, to be
  // freed by the device, behind Share. Its bytes.
  int64_t KeepOnDevice(void* base);

  // What the pk_device_* functions do.
  void* AllocateBuffer(int64_t bytes);
  void FreeBuffer(void* buffer);
  int32_t Read(void* host, const void* device, int64_t bytes);
  int32_t Write(void* device, const void* host, int64_t bytes);
  int32_t Launch(const PkKernel& kernel, int64_t blocks, int32_t threads, void* captures,
                 int64_t bytes);
  void* CopyToHost(void* device, bool is_written);
  int32_t EndCopies();
  int64_t CallLibrary(const void* routine, const char* signature, const uint64_t* operands);
  int64_t Multiply(PkElement element, const int64_t* operands);

 private:
  struct State;  // device_call.cc

  void FailForMemory(int64_t bytes);
  bool Succeeds(int32_t code);
  bool MakeCopy(ArgumentCopy* copy);
  bool GiveBack(const ArgumentCopy& copy, const ElementRuns& runs);
  bool TakeRecords(bool may_fail, void** words);
  PkBlockOrder TakeOrder(int64_t blocks);
  int32_t LaunchWithCopy(const PkKernel& kernel, int64_t blocks, int32_t threads, void* captures,
                         int64_t bytes);
  void* ErrorRecordsOnDevice();

  Call& call_;
  Device& device_;
  std::unique_ptr<State> state_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_DEVICE_CALL_H_
