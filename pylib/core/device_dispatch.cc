#include "pylib/core/device_dispatch.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pylib/core/cubin_cache.h"
#include "pylib/core/device_array.h"
#include "pylib/core/device_results.h"
#include "pylib/core/disk_cache.h"
#include "pylib/core/matrix_libraries.h"
#include "pylib/core/numpy_access.h"
#include "pylib/core/profile.h"
#include "pylib/core/raise.h"
#include "pylib/core/results.h"
#include "pylib/core/targets.h"
#include "pylib/core/without_gil.h"
#include "runtime/call.h"
#include "runtime/clock.h"
#include "runtime/code_life.h"
#include "runtime/device_call.h"
#include "runtime/element_runs.h"

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

int NumberFor(const Device& device) { return NumberOfDevice(device.kind(), device.number()); }

// Those that were opened, by their targets' numbers; they live as long as the process. Used with
// the GIL held.
std::vector<std::pair<int, Device*>>& KnownDevices() {
  static auto* const known = new std::vector<std::pair<int, Device*>>;
  return *known;
}

// As users name it.
std::string NameOf(DeviceKind kind, int number) {
  return kind == DeviceKind::kCuda ? "gpu:" + std::to_string(number) : "emulated_gpu";
}

uint64_t HeaderFor(Target target, int architecture) {
  return WithLibNvvm(WithArchitecture(HeaderWord(target, false), architecture),
                     target == Target::kGpu && UsesLibNvvm());
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
            InlineVector<uint64_t, 32>* results, std::vector<KeptBuffer>* kept)
      : code_(code), call_(*call), on_device_(call, device), results_(*results), kept_(kept) {
    slots_.assign(host.slots.begin(), host.slots.end());
    FindArguments(host);
    FindStreams(host);
  }

  // As PkEntry. What other libraries do later with arrays of theirs comes behind the call.
  int32_t Run() {
    const int32_t status = RunWithin();
    return LetOthersGoOn() || status != 0 ? status : 1;
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
  int32_t RunWithin() {
    if (!WaitForOthers() || !on_device_.TakeArguments(arguments_)) return 1;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      slots_[places_[i]] = reinterpret_cast<uint64_t>(arguments_[i].data);
    }
    int32_t status = code_.Run(&call_, slots_.data(), results_.data());
    if (!on_device_.Settle()) status = 1;
    // Code that has given up has written nothing.
    if (status != 0 && WhyGivenUp(code_.manifest, call_.error()) != GaveUp::kNo) return status;
    const bool is_back = on_device_.GiveBackArguments();
    if (status != 0 || !is_back) return 1;
    // All results come down, or none.
    return kept_ != nullptr ? KeepResults() : TakeResults();
  }

  // The streams of other libraries whose arrays are among the arguments. What is lent for the call
  // alone was waited for when it was taken.
  void FindStreams(const Arguments& host) {
    if (!had_device_arrays) return;
    for (const ArrayArgument& argument : host.arrays) {
      if (!IsDeviceArray(argument.original)) continue;
      const int64_t stream = StreamOf(argument.original);
      if (stream == kOurStreams) continue;
      const bool is_waited_for = LenderOf(argument.original) != nullptr || stream == kAnyStream;
      if (!is_waited_for) AddTo(&before_, stream);
      AddTo(&after_, stream);
    }
  }

  static void AddTo(std::vector<int64_t>* streams, int64_t stream) {
    if (std::find(streams->begin(), streams->end(), stream) == streams->end()) {
      streams->push_back(stream);
    }
  }

  bool WaitForOthers() {
    for (const int64_t stream : before_) {
      if (!Succeeds(on_device_.device().WaitForStream(reinterpret_cast<void*>(stream)))) {
        return false;
      }
    }
    return true;
  }

  bool LetOthersGoOn() {
    Device& device = on_device_.device();
    if (std::find(after_.begin(), after_.end(), kAnyStream) != after_.end()) {
      return Succeeds(device.Wait());
    }
    for (const int64_t stream : after_) {
      if (!Succeeds(device.MakeStreamWait(reinterpret_cast<void*>(stream)))) return false;
    }
    return true;
  }

  // False with the call's error slot set.
  bool Succeeds(int32_t code) {
    if (code == 0) return true;
    const int64_t scalar = code;
    call_.Fail(kPkSiteDevice, 0, nullptr, 1, &scalar);
    return false;
  }

  void FindArguments(const Arguments& host) {
    const Manifest& manifest = code_.manifest;
    size_t slot = 0;
    for (uint64_t leaf : code_.manifest.leaves) {
      const ArgumentWord word(leaf);
      if (!word.IsArray()) {
        slot += 1 + IsComplexType(word.type());
        continue;
      }
      const auto* sizes = reinterpret_cast<const int64_t*>(slots_.data() + slot + 1);
      const size_t at = arguments_.size();
      arguments_.push_back({reinterpret_cast<void*>(slots_[slot]), SizeOfType(word.type()),
                            word.rank(), sizes, sizes + word.rank(), manifest.written.at(at) != 0,
                            IsDeviceArray(host.arrays[at].original),
                            manifest.contents.at(at) != 0});
      places_.push_back(slot);
      slot += 1 + 2 * word.rank();
    }
  }

  struct InMemory {
    uint64_t* slots;
    const ResultNode* node;

    bool IsNumber() const { return node->is_kept; }
  };
  // The results that are in memory; what is returned twice has the same slots.
  std::vector<InMemory> ResultsInMemory() {
    std::vector<InMemory> found;
    for (const ResultNode& node : code_.manifest.results) {
      if (node.kind != ResultKind::kArray && !node.is_kept) continue;
      uint64_t* slots = results_.data() + node.slot;
      const bool is_new = std::none_of(found.begin(), found.end(),
                                       [&](const InMemory& each) { return each.slots == slots; });
      if (is_new) found.push_back({slots, &node});
    }
    return found;
  }

  // Slots of an array result: root, base, data, sizes, strides (runtime/abi.h).
  static bool IsOfArgument(const uint64_t* slots) { return int64_t(slots[0]) >= 0; }
  static void* AddressIn(uint64_t slot) { return reinterpret_cast<void*>(slot); }

  void TakeView(uint64_t* slots) {
    void* address = on_device_.HostAddress(int(slots[0]), AddressIn(slots[2]));
    slots[2] = reinterpret_cast<uint64_t>(address);
  }

  // In its place among the slots. False with the slot of errors set.
  bool TakeNumber(uint64_t* slots, int type) {
    alignas(16) char value[16];
    const bool is_here =
        Succeeds(on_device_.device().CopyDown(value, AddressIn(slots[2]), SizeOfType(type)));
    if (is_here) ScalarToSlots(type, value, slots);
    return is_here;
  }

  // A fresh buffer, and from where to where results lie in it: a filter's is as long as what it
  // filters. A result without elements lies nowhere in it: its address may be behind the end.
  struct FreshBuffer {
    uint64_t base, low, high;
    uint64_t host = 0;  // of `low`
  };

  static FreshBuffer* FindBuffer(std::vector<FreshBuffer>* buffers, uint64_t base) {
    const auto found = std::find_if(buffers->begin(), buffers->end(),
                                    [&](const FreshBuffer& each) { return each.base == base; });
    return found == buffers->end() ? nullptr : &*found;
  }

  static void AddTo(std::vector<FreshBuffer>* buffers, const InMemory& result) {
    const auto* sizes = reinterpret_cast<const int64_t*>(result.slots + 3);
    const int rank = result.node->rank;
    const runtime::ElementRuns runs(AddressIn(result.slots[2]), SizeOfType(result.node->type), rank,
                                    sizes, sizes + rank);
    const bool is_empty = runs.bytes() == 0;
    if (is_empty) result.slots[2] = result.slots[1];
    const auto low = is_empty ? result.slots[1] : reinterpret_cast<uint64_t>(runs.low());
    const uint64_t high = low + uint64_t(runs.bytes());
    FreshBuffer* buffer = FindBuffer(buffers, result.slots[1]);
    if (buffer == nullptr) return buffers->push_back({result.slots[1], low, high});
    buffer->low = std::min(buffer->low, low);
    buffer->high = std::max(buffer->high, high);
  }

  // Makes the addresses among the results the host's.
  int32_t TakeResults() {
    std::vector<InMemory> fresh;
    std::vector<FreshBuffer> buffers;
    for (const InMemory& result : ResultsInMemory()) {
      if (result.IsNumber()) {
        if (!TakeNumber(result.slots, result.node->type)) return 1;
      } else if (IsOfArgument(result.slots)) {
        TakeView(result.slots);
      } else {
        fresh.push_back(result);
        AddTo(&buffers, result);
      }
    }
    for (FreshBuffer& buffer : buffers) {
      const auto offset = int64_t(buffer.low - buffer.base);
      const auto bytes = int64_t(buffer.high - buffer.low);
      const void* host = on_device_.TakeResult(AddressIn(buffer.base), offset, bytes);
      if (host == nullptr) return 1;
      buffer.host = reinterpret_cast<uint64_t>(host);
    }
    for (const InMemory& result : fresh) {
      const FreshBuffer& buffer = *FindBuffer(&buffers, result.slots[1]);
      result.slots[1] = buffer.host;
      result.slots[2] = buffer.host + (result.slots[2] - buffer.low);
    }
    return 0;
  }

  // Leaves fresh buffers where they are, for the caller. Other threads may use them next, and the
  // arguments, so their work comes behind this one's.
  int32_t KeepResults() {
    for (const InMemory& result : ResultsInMemory()) {
      if (IsOfArgument(result.slots)) TakeView(result.slots);
    }
    if (!on_device_.Share()) return 1;
    for (const InMemory& result : ResultsInMemory()) {
      void* base = AddressIn(result.slots[1]);
      const auto is_it = [&](const KeptBuffer& each) { return each.address == base; };
      if (IsOfArgument(result.slots) || std::any_of(kept_->begin(), kept_->end(), is_it)) continue;
      kept_->push_back({base, on_device_.KeepOnDevice(base)});
    }
    return 0;
  }

  const Specialization& code_;
  runtime::Call& call_;
  runtime::DeviceCall on_device_;
  InlineVector<uint64_t, 32>& results_;
  std::vector<KeptBuffer>* kept_;  // null: results come down
  std::vector<uint64_t> slots_;
  std::vector<runtime::DeviceArgument> arguments_;
  std::vector<size_t> places_;           // the first slot of each
  std::vector<int64_t> before_, after_;  // streams: the call waits for them, they wait for the call
};

struct Observed {
  int32_t status = 0;
  int64_t ns = 0;
  Failure failure;
};

// Others run meanwhile, also while the call's memory is freed.
Observed RunWithoutGil(const Specialization& code, Device* device, runtime::Call* call,
                       const Arguments& host, InlineVector<uint64_t, 32>* results,
                       std::vector<KeptBuffer>* kept) {
  const WithoutGil others_run;
  Observed observed;
  const int64_t start = runtime::NowNanoseconds();
  {
    DeviceRun run(code, device, call, host, results, kept);
    observed.status = run.Run();
    if (observed.status != 0) observed.failure = run.Describe();
  }
  observed.ns = runtime::NowNanoseconds() - start;
  return observed;
}

void RaiseFailure(const Manifest& manifest, Device& device, const runtime::ErrorRecord& error,
                  const Failure& failure) {
  const std::string name = NameOf(device.kind(), device.number());
  if (error.site == kPkSiteDevice) return RaiseDeviceError(name + ": " + failure.text);
  if (error.site != kPkSiteMemory) return RaiseRunError(manifest, error);
  const int64_t wanted = error.scalars.empty() ? 0 : error.scalars[0];
  RaiseDeviceMemory(&device, wanted, failure.counters.live_bytes);
}

// Whether all device arrays of a call are on its device; false with an exception set.
bool AreThere(const Arguments& call, const Device& device, bool* stays) {
  *stays = false;
  for (const ArrayArgument& argument : call.arrays) {
    if (!IsDeviceArray(argument.original) || IsDeviceNumber(argument.original)) continue;
    *stays = true;
    const int number = NumberOf(argument.original);
    if (number == NumberFor(device)) continue;
    const std::string there = NameOf(KindOf(TargetOfNumber(number)), DeviceOfNumber(number));
    const std::string here = NameOf(device.kind(), device.number());
    PyErr_Format(PyExc_ValueError,
                 "an array that is on %s is an argument of a call on %s; copy it there with "
                 "parakeet.asarray(x, device=\"%s\")",
                 there.c_str(), here.c_str(), here.c_str());
    return false;
  }
  return true;
}

}  // namespace

int NumberOfDevice(DeviceKind kind, int number) { return int(TargetOn(kind)) | number << 8; }

void RaiseDeviceMemory(Device* device, int64_t bytes, int64_t bytes_in_use) {
  if (RaiseIfTooBig(bytes)) return;
  const int64_t limit = device->Counters().limit_bytes;
  const runtime::DeviceMemory memory = device->Memory();
  std::string most;
  if (limit > 0) {
    most = ", of a limit of " + std::to_string(limit);
  } else if (memory.total_bytes > 0) {
    most = ", and " + std::to_string(memory.free_bytes) + " of the device's " +
           std::to_string(memory.total_bytes) + " are free";
  }
  PyErr_Format(PyExc_MemoryError, "cannot allocate %lld bytes on %s, where %lld bytes are in use%s",
               (long long)bytes, NameOf(device->kind(), device->number()).c_str(),
               (long long)bytes_in_use, most.c_str());
}

void ForgetDevices() { KnownDevices().clear(); }

Device* OpenDeviceOf(int number) {
  for (const auto& [its_number, device] : KnownDevices()) {
    if (its_number == number) return device;
  }
  const DeviceKind kind = KindOf(TargetOfNumber(number));
  std::string why;
  Device* device = nullptr;
  {
    const WithoutGil others_run;  // the first look for a driver takes a while
    device = runtime::OpenDevice(kind, DeviceOfNumber(number), &why);
  }
  if (device == nullptr) {
    RaiseDeviceError("cannot use " + NameOf(kind, DeviceOfNumber(number)) + ": " + why);
    return nullptr;
  }
  if (kind == DeviceKind::kCuda && !OfferCublas()) return nullptr;
  KnownDevices().push_back({number, device});
  return device;
}

uint64_t HeaderOn(const Device& device) {
  return HeaderFor(TargetOn(device.kind()), device.Architecture());
}

uint64_t HeaderToShow(int number) {
  const Target target = TargetOfNumber(number);
  std::string why;
  const Device* device = runtime::OpenDevice(KindOf(target), DeviceOfNumber(number), &why);
  if (device != nullptr) return HeaderOn(*device);
  return HeaderFor(target, kArchitectureToShow);
}

PyObject* RunOnDevice(const FunctionState& function, Specialization* code, Device* device,
                      const Arguments& call, bool is_timed, GaveUp* gave_up) {
  const Running running(code);
  InlineVector<uint64_t, 32> results;
  results.Extend(code->manifest.result_slots);
  runtime::Call on_host(1);
  std::vector<KeptBuffer> kept;
  bool stays = false;
  if (!AreThere(call, *device, &stays)) return nullptr;
  const CubinFolder kernels_are_in(FolderOf(function));
  const runtime::CodeOfThread of(code->image != nullptr ? code->image->life()
                                                        : runtime::CodeLife());
  const Observed observed =
      RunWithoutGil(*code, device, &on_host, call, &results, stays ? &kept : nullptr);
  if (is_timed) {
    code->run_ns += observed.ns;
    ++code->timed_calls;
  }
  *gave_up = observed.status == 0 ? GaveUp::kNo : WhyGivenUp(code->manifest, on_host.error());
  if (*gave_up != GaveUp::kNo) return nullptr;
  // Regions are of profiled code, which there is for the host alone.
  if (is_profiling.load(std::memory_order_relaxed)) {
    RecordCall(function, code, runtime::Profile(0), observed.ns, observed.status != 0);
  }
  if (observed.status != 0) {
    for (const KeptBuffer& buffer : kept) device->Free(buffer.address);
    RaiseFailure(code->manifest, *device, on_host.error(), observed.failure);
    return nullptr;
  }
  if (stays) {
    return BuildDeviceResult(code->manifest, call.arrays.data(), results.data(), device,
                             NumberFor(*device), kept);
  }
  return BuildResult(code->manifest, call.arrays.data(), &on_host, results.data());
}

}  // namespace parakeet::pylib
