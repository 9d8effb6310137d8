#include "pylib/core/device_dispatch.h"

#include <cstddef>
#include <string>
#include <vector>

#include "pylib/core/profile.h"
#include "pylib/core/raise.h"
#include "pylib/core/results.h"
#include "pylib/core/without_gil.h"
#include "runtime/call.h"
#include "runtime/clock.h"
#include "runtime/device_call.h"

namespace parakeet::pylib {
namespace {

using runtime::Device;
using runtime::DeviceKind;

// Compute capability 9.0.
constexpr int kArchitectureToShow = 90;

DeviceKind KindOf(Target target) {
  return target == Target::kGpu ? DeviceKind::kCuda : DeviceKind::kEmulated;
}

Target TargetOn(DeviceKind kind) {
  return kind == DeviceKind::kCuda ? Target::kGpu : Target::kEmulatedGpu;
}

// As users name it.
std::string NameOf(DeviceKind kind, int number) {
  return kind == DeviceKind::kCuda ? "gpu:" + std::to_string(number) : "emulated_gpu";
}

// What a failed call leaves to say, read before its memory is freed.
struct Failure {
  runtime::DeviceCounters counters;
  std::string text;  // of a failure of the device itself
};

// One call, from slots of the host to slots of the host. Used without the GIL.
class DeviceRun {
 public:
  DeviceRun(const Specialization& code, Device* device, runtime::Call* call, const Arguments& host,
            InlineVector<uint64_t, 32>* results)
      : code_(code), call_(*call), on_device_(call, device), results_(*results) {
    slots_.assign(host.slots.begin(), host.slots.end());
    FindArguments();
  }

  // As PkEntry.
  int32_t Run() {
    if (!on_device_.TakeArguments(arguments_)) return 1;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      slots_[places_[i]] = reinterpret_cast<uint64_t>(arguments_[i].data);
    }
    const int32_t status = code_.Run(&call_, slots_.data(), results_.data());
    // Code that has given up has written nothing.
    if (status != 0 && WhyGivenUp(code_.manifest, call_.error()) != GaveUp::kNo) return status;
    const bool is_back = on_device_.GiveBackArguments();
    return status == 0 && is_back && TakeResults() ? 0 : 1;
  }

  Failure Describe() {
    Failure failure{on_device_.device().Counters(), ""};
    const runtime::ErrorRecord& error = call_.error();
    if (error.site == kPkSiteDevice && !error.scalars.empty()) {
      failure.text = runtime::DeviceErrorText(int32_t(error.scalars[0]));
    }
    return failure;
  }

 private:
  void FindArguments() {
    const std::vector<uint8_t>& written = code_.manifest.written;
    size_t slot = 0;
    for (uint64_t leaf : code_.manifest.leaves) {
      const ArgumentWord word(leaf);
      if (!word.IsArray()) {
        slot += 1 + IsComplexType(word.type());
        continue;
      }
      const auto* sizes = reinterpret_cast<const int64_t*>(slots_.data() + slot + 1);
      const bool is_written = written.at(arguments_.size()) != 0;
      arguments_.push_back({reinterpret_cast<void*>(slots_[slot]), SizeOfType(word.type()),
                            word.rank(), sizes, sizes + word.rank(), is_written});
      places_.push_back(slot);
      slot += 1 + 2 * word.rank();
    }
  }

  // Makes the addresses among the results the host's.
  bool TakeResults() {
    std::vector<uint32_t> taken;  // what is returned twice has the same slots
    for (const ResultNode& node : code_.manifest.results) {
      if (node.kind != ResultKind::kArray) continue;
      bool is_known = false;
      for (uint32_t slot : taken) is_known |= slot == node.slot;
      if (is_known) continue;
      taken.push_back(node.slot);
      if (!TakeResult(results_.data() + node.slot)) return false;
    }
    return true;
  }

  // Slots of an array result: root, base, data, sizes, strides (runtime/abi.h).
  bool TakeResult(uint64_t* slots) {
    const auto root = int64_t(slots[0]);
    if (root >= 0) {
      void* address = on_device_.HostAddress(int(root), reinterpret_cast<void*>(slots[2]));
      slots[2] = reinterpret_cast<uint64_t>(address);
      return true;
    }
    void* base = on_device_.TakeResult(reinterpret_cast<void*>(slots[1]));
    if (base == nullptr) return false;
    slots[2] = reinterpret_cast<uint64_t>(base) + (slots[2] - slots[1]);
    slots[1] = reinterpret_cast<uint64_t>(base);
    return true;
  }

  const Specialization& code_;
  runtime::Call& call_;
  runtime::DeviceCall on_device_;
  InlineVector<uint64_t, 32>& results_;
  std::vector<uint64_t> slots_;
  std::vector<runtime::DeviceArgument> arguments_;
  std::vector<size_t> places_;  // the first slot of each
};

struct Observed {
  int32_t status = 0;
  int64_t ns = 0;
  Failure failure;
};

// Others run meanwhile, also while the call's memory is freed.
Observed RunWithoutGil(const Specialization& code, Device* device, runtime::Call* call,
                       const Arguments& host, InlineVector<uint64_t, 32>* results) {
  const WithoutGil others_run;
  Observed observed;
  const int64_t start = runtime::NowNanoseconds();
  {
    DeviceRun run(code, device, call, host, results);
    observed.status = run.Run();
    if (observed.status != 0) observed.failure = run.Describe();
  }
  observed.ns = runtime::NowNanoseconds() - start;
  return observed;
}

void RaiseFailure(const Manifest& manifest, const Device& device, const runtime::ErrorRecord& error,
                  const Failure& failure) {
  const std::string name = NameOf(device.kind(), device.number());
  if (error.site == kPkSiteDevice) return RaiseDeviceError(name + ": " + failure.text);
  if (error.site != kPkSiteMemory) return RaiseRunError(manifest, error);
  const long long wanted = error.scalars.empty() ? 0 : error.scalars[0];
  PyErr_Format(PyExc_MemoryError,
               "cannot allocate %lld bytes for a call on %s, where %lld bytes are in use", wanted,
               name.c_str(), (long long)failure.counters.live_bytes);
}

}  // namespace

Device* OpenDeviceOf(int number) {
  const DeviceKind kind = KindOf(TargetOfNumber(number));
  std::string why;
  Device* device = nullptr;
  {
    const WithoutGil others_run;  // the first look for a driver takes a while
    device = runtime::OpenDevice(kind, DeviceOfNumber(number), &why);
  }
  if (device == nullptr) {
    RaiseDeviceError("cannot use " + NameOf(kind, DeviceOfNumber(number)) + ": " + why);
  }
  return device;
}

uint64_t HeaderOn(const Device& device) {
  return WithArchitecture(HeaderWord(TargetOn(device.kind()), false), device.Architecture());
}

uint64_t HeaderToShow(int number) {
  const Target target = TargetOfNumber(number);
  std::string why;
  const Device* device = runtime::OpenDevice(KindOf(target), DeviceOfNumber(number), &why);
  if (device != nullptr) return HeaderOn(*device);
  return WithArchitecture(HeaderWord(target, false), kArchitectureToShow);
}

PyObject* RunOnDevice(const FunctionState& function, Specialization* code, Device* device,
                      const Arguments& call, bool is_timed, GaveUp* gave_up) {
  const Running running(code);
  InlineVector<uint64_t, 32> results;
  results.Extend(code->manifest.result_slots);
  runtime::Call on_host(1);
  const Observed observed = RunWithoutGil(*code, device, &on_host, call, &results);
  if (is_timed) {
    code->run_ns += observed.ns;
    ++code->timed_calls;
  }
  *gave_up = observed.status == 0 ? GaveUp::kNo : WhyGivenUp(code->manifest, on_host.error());
  if (*gave_up != GaveUp::kNo) return nullptr;
  // Regions are of profiled code, which there is for the host alone.
  RecordCall(function, code, runtime::Profile(0), observed.ns, observed.status != 0);
  if (observed.status != 0) {
    RaiseFailure(code->manifest, *device, on_host.error(), observed.failure);
    return nullptr;
  }
  return BuildResult(code->manifest, call.arrays.data(), &on_host, results.data());
}

}  // namespace parakeet::pylib
