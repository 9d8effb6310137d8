#include "runtime/device_call.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/buffers.h"
#include "runtime/element_runs.h"
#include "runtime/matrix_libraries.h"
#include "runtime/matrix_product.h"

namespace parakeet::runtime {
namespace {

// A copy's elements have the alignment that the host's have, up to this.
constexpr uintptr_t kCopyAlignment = 16;

// Launches behind one that may have failed, before the host looks whether it has.
constexpr int64_t kMostUnsettled = 256;

// Of a grid that goes through more than the cache of a device holds.
constexpr int64_t kBlocksWorthTurning = 4096;

uintptr_t WordOf(const void* address) { return reinterpret_cast<uintptr_t>(address); }

[[noreturn]] void RefuseBuffer(const void* buffer) {
  std::fprintf(stderr, "parakeet: %p is no live device buffer of its call\n", buffer);
  std::abort();
}

}  // namespace

struct BufferReleaser {
  void operator()(void* buffer) const { Release(buffer); }
};
using HostBuffer = std::unique_ptr<void, BufferReleaser>;

// Memory of the host that arguments lie in, and where its copy is.
struct ArgumentCopy {
  char* host;
  int64_t bytes;
  bool goes_up = false;
  char* device = nullptr;
};

struct DeviceCall::State {
  struct Argument {
    ElementRuns runs;  // at its first address
    bool is_written;
    int copy;  // of `copies`, or -1: its addresses stay
  };

  // The bytes from an address on that lie in a buffer, a copy or an argument, or 0.
  struct Region {
    char* begin = nullptr;
    int64_t bytes = 0;
  };
  Region FindRegion(const void* address) const;
  Region FindArgument(const void* address) const;

  std::vector<Argument> arguments;
  // What the host works on in the place of kernels.
  struct HostCopy {
    Region region;
    HostBuffer buffer;
    char* host = nullptr;  // of the region's first byte
    bool is_written = false;
  };

  std::vector<ArgumentCopy> copies;
  std::vector<HostCopy> host_copies;
  std::map<uintptr_t, int64_t> buffers;    // live ones, copies among them
  PkErrorRecord* error_records = nullptr;  // two, on the device
  int64_t unsettled = 0;                   // launches since the first that may have failed
  bool is_downwards = false;               // the next grid of many blocks
  bool is_shared = false;                  // other threads may see memory that the call has used
  void* entered = nullptr;                 // what the device takes back at the end
};

DeviceCall::State::Region DeviceCall::State::FindRegion(const void* address) const {
  auto next = buffers.upper_bound(WordOf(address));
  if (next != buffers.begin()) {
    const auto [begin, bytes] = *--next;
    if (WordOf(address) < begin + uint64_t(bytes)) return {reinterpret_cast<char*>(begin), bytes};
  }
  return FindArgument(address);
}

// Arguments that overlap are one region.
DeviceCall::State::Region DeviceCall::State::FindArgument(const void* address) const {
  uintptr_t begin = WordOf(address), end = begin + 1;
  bool is_found = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ElementRuns& runs = arguments[i].runs;
    const uintptr_t low = WordOf(runs.low()), high = low + uint64_t(runs.bytes());
    if (arguments[i].copy >= 0 || low >= end || high <= begin) continue;
    is_found = true;
    if (low >= begin && high <= end) continue;
    begin = std::min(begin, low);
    end = std::max(end, high);
    i = size_t(-1);  // Those that were passed over may overlap now.
  }
  if (!is_found) return {};
  return {reinterpret_cast<char*>(begin), int64_t(end - begin)};
}

DeviceCall::DeviceCall(Call* call, Device* device)
    : call_(*call), device_(*device), state_(std::make_unique<State>()) {
  call_.set_device_call(this);
  state_->entered = device_.Enter();
}

DeviceCall::~DeviceCall() {
  Settle();
  call_.set_device_call(nullptr);
  for (const auto& [buffer, bytes] : state_->buffers) {
    device_.Free(reinterpret_cast<void*>(buffer));
  }
  if (state_->is_shared) device_.Share();
  device_.Leave(state_->entered);
}

void DeviceCall::FailForMemory(int64_t bytes) { call_.Fail(kPkSiteMemory, 0, nullptr, 1, &bytes); }

bool DeviceCall::Succeeds(int32_t code) {
  if (code == 0) return true;
  const int64_t scalar = code;
  call_.Fail(kPkSiteDevice, 0, nullptr, 1, &scalar);
  return false;
}

// ---------------------------------------------------------------------------------------------
// Arguments and results
// ---------------------------------------------------------------------------------------------

bool DeviceCall::MakeCopy(ArgumentCopy* copy) {
  const uintptr_t offset = WordOf(copy->host) % kCopyAlignment;
  auto* base = static_cast<char*>(AllocateBuffer(copy->bytes + int64_t(offset)));
  if (base == nullptr) return false;
  copy->device = base + offset;
  return !copy->goes_up || Succeeds(device_.CopyUp(copy->device, copy->host, copy->bytes));
}

bool DeviceCall::TakeArguments(std::span<DeviceArgument> arguments) {
  State& state = *state_;
  std::vector<size_t> order;
  state.arguments.reserve(arguments.size());
  for (const DeviceArgument& argument : arguments) {
    const ElementRuns runs(argument.data, argument.element_bytes, argument.rank, argument.sizes,
                           argument.strides);
    const bool is_used = argument.is_written || argument.has_contents;
    if (!argument.is_on_device && is_used && runs.bytes() > 0) {
      order.push_back(state.arguments.size());
    }
    state.arguments.push_back({runs, argument.is_written, -1});
    state.is_shared = state.is_shared || argument.is_on_device;
  }
  // Memory that is in two arguments is copied once.
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return state.arguments[a].runs.low() < state.arguments[b].runs.low();
  });
  for (const size_t i : order) {
    const ElementRuns& runs = state.arguments[i].runs;
    ArgumentCopy* last = state.copies.empty() ? nullptr : &state.copies.back();
    if (last != nullptr && runs.low() < last->host + last->bytes) {
      last->bytes = std::max(last->bytes, runs.low() + runs.bytes() - last->host);
    } else {
      state.copies.push_back({runs.low(), runs.bytes()});
    }
    state.copies.back().goes_up |= arguments[i].has_contents;
    state.arguments[i].copy = int(state.copies.size()) - 1;
  }
  for (ArgumentCopy& copy : state.copies) {
    if (!MakeCopy(&copy)) return false;
  }
  for (const size_t i : order) {
    const ArgumentCopy& copy = state.copies[state.arguments[i].copy];
    arguments[i].data = copy.device + (static_cast<char*>(arguments[i].data) - copy.host);
  }
  return true;
}

void* DeviceCall::HostAddress(int argument, void* device) const {
  const int number = state_->arguments[argument].copy;
  if (number < 0) return device;
  const ArgumentCopy& copy = state_->copies[number];
  return copy.host + (static_cast<char*>(device) - copy.device);
}

bool DeviceCall::GiveBack(const ArgumentCopy& copy, const ElementRuns& runs) {
  const char* device = copy.device + (runs.low() - copy.host);
  if (runs.is_dense()) return Succeeds(device_.CopyDown(runs.low(), device, runs.bytes()));
  const HostBuffer all(Allocate(uint64_t(runs.bytes())));
  if (all == nullptr) return FailForMemory(runs.bytes()), false;
  if (!Succeeds(device_.CopyDown(all.get(), device, runs.bytes()))) return false;
  runs.Copy(runs.low(), static_cast<const char*>(all.get()));
  return true;
}

bool DeviceCall::GiveBackArguments() {
  bool all_well = true;
  for (const State::Argument& argument : state_->arguments) {
    if (argument.copy < 0 || !argument.is_written) continue;
    const ArgumentCopy& copy = state_->copies[argument.copy];
    // Null where TakeArguments has failed.
    if (copy.device == nullptr || (call_.has_failed() && !copy.goes_up)) continue;
    if (!GiveBack(copy, argument.runs)) all_well = false;
  }
  return all_well;
}

void* DeviceCall::TakeResult(void* base, int64_t offset, int64_t bytes) {
  if (!state_->buffers.contains(WordOf(base))) RefuseBuffer(base);
  void* host = call_.AllocateBuffer(bytes);
  const char* device = static_cast<char*>(base) + offset;
  if (host == nullptr || !Succeeds(device_.CopyResult(host, device, bytes))) return nullptr;
  FreeBuffer(base);
  return host;
}

// ---------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------

void* DeviceCall::AllocateBuffer(int64_t bytes) {
  void* buffer = bytes < 0 ? nullptr : device_.Allocate(bytes);
  if (buffer == nullptr) {
    if (Settle()) FailForMemory(bytes);
    return nullptr;
  }
  state_->buffers.emplace(WordOf(buffer), bytes);
  if (call_.profile() != nullptr) call_.profile()->Allocate(bytes);
  return buffer;
}

bool DeviceCall::Share() {
  state_->is_shared = false;
  return Succeeds(device_.Share());
}

int64_t DeviceCall::KeepOnDevice(void* base) {
  const auto found = state_->buffers.find(WordOf(base));
  if (found == state_->buffers.end()) RefuseBuffer(base);
  const int64_t bytes = found->second;
  state_->buffers.erase(found);
  return bytes;
}

void DeviceCall::FreeBuffer(void* buffer) {
  if (buffer == nullptr) return;
  if (state_->buffers.erase(WordOf(buffer)) == 0) RefuseBuffer(buffer);
  device_.Free(buffer);
}

int32_t DeviceCall::Read(void* host, const void* device, int64_t bytes) {
  return Settle() && Succeeds(device_.CopyDown(host, device, bytes)) ? 0 : 1;
}

int32_t DeviceCall::Write(void* device, const void* host, int64_t bytes) {
  return Settle() && Succeeds(device_.CopyUp(device, host, bytes)) ? 0 : 1;
}

// ---------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------

// Null with the slot set.
void* DeviceCall::ErrorRecordsOnDevice() {
  void* records = device_.ErrorRecords();
  if (records != nullptr) return records;
  const PkErrorRecord zero[2] = {};
  records = AllocateBuffer(sizeof zero);
  return records != nullptr && Succeeds(device_.CopyUp(records, zero, sizeof zero)) ? records
                                                                                    : nullptr;
}

// The captures' words of a launch. False with the slot set.
bool DeviceCall::TakeRecords(bool may_fail, void** words) {
  words[0] = words[1] = nullptr;
  PkErrorRecord*& records = state_->error_records;
  int64_t& unsettled = state_->unsettled;
  if (unsettled >= kMostUnsettled && !Settle()) return false;
  if (!may_fail && unsettled == 0) return true;
  if (records == nullptr) records = static_cast<PkErrorRecord*>(ErrorRecordsOnDevice());
  if (records == nullptr) return false;
  words[0] = records + unsettled % 2;
  if (unsettled > 0) words[1] = records + (unsettled + 1) % 2;
  ++unsettled;
  return true;
}

bool DeviceCall::Settle() {
  if (std::exchange(state_->unsettled, 0) == 0) return true;
  PkErrorRecord records[2] = {};
  PkErrorRecord* const on_device = state_->error_records;
  if (!Succeeds(device_.CopyDown(records, on_device, sizeof records))) return false;
  bool is_well = true;
  for (const PkErrorRecord& record : records) {
    is_well &= record.state == kPkRecordEmpty;
    if ((record.state & kPkRecordHolds) == 0) continue;
    call_.Fail(record.site, record.place_count, record.place, record.scalar_count, record.scalars);
  }
  const PkErrorRecord zero[2] = {};
  if (!is_well) Succeeds(device_.CopyUp(on_device, zero, sizeof zero));
  return is_well;
}

// Grids take turns in upwards and downwards: what one has touched last, which is still in the
// device's cache, the next then touches first.
PkBlockOrder DeviceCall::TakeOrder(int64_t blocks) {
  const bool is_long = blocks >= kBlocksWorthTurning;
  const bool is_downwards = is_long && state_->is_downwards;
  state_->is_downwards ^= is_long;
  return is_downwards ? PkBlockOrder{int32_t(blocks - 1), -1} : PkBlockOrder{0, 1};
}

int32_t DeviceCall::Launch(const PkKernel& kernel, int64_t blocks, int32_t threads, void* captures,
                           int64_t bytes) {
  if (call_.has_failed()) return 1;
  if (blocks <= 0) return 0;
  void* words[2];
  if (!TakeRecords((kernel.flags & kPkKernelMayFail) != 0, words)) return 1;
  static_assert(sizeof words == kPkRuntimeBytes);
  std::memcpy(captures, words, sizeof words);
  if ((kernel.flags & kPkKernelAnyOrder) != 0) {
    const PkBlockOrder order = TakeOrder(blocks);
    std::memcpy(static_cast<char*>(captures) + sizeof words, &order, sizeof order);
  }
  if ((kernel.flags & kPkKernelCapturesElsewhere) != 0)
    return LaunchWithCopy(kernel, blocks, threads, captures, bytes);
  return Succeeds(device_.Launch(kernel, blocks, threads, captures, bytes)) ? 0 : 1;
}

// The device frees the copy in its turn, behind the kernel.
int32_t DeviceCall::LaunchWithCopy(const PkKernel& kernel, int64_t blocks, int32_t threads,
                                   void* captures, int64_t bytes) {
  const bool has_order = (kernel.flags & kPkKernelAnyOrder) != 0;
  const int64_t own = kPkRuntimeBytes + (has_order ? int64_t(sizeof(PkBlockOrder)) : 0);
  void* copy = AllocateBuffer(bytes);
  if (copy == nullptr) return 1;
  std::memcpy(static_cast<char*>(captures) + own, &copy, sizeof copy);
  const bool is_well =
      Succeeds(device_.CopyUp(copy, captures, bytes)) &&
      Succeeds(device_.Launch(kernel, blocks, threads, captures, own + int64_t(sizeof copy)));
  FreeBuffer(copy);
  return is_well ? 0 : 1;
}

// ---------------------------------------------------------------------------------------------
// Work of the host
// ---------------------------------------------------------------------------------------------

// A copy's elements have the alignment that the device's have. An address of no region is one of
// an array without elements.
void* DeviceCall::CopyToHost(void* device, bool is_written) {
  if (!Settle()) return nullptr;
  auto* address = static_cast<char*>(device);
  const State::Region region = state_->FindRegion(address);
  if (region.bytes == 0) return device;
  auto& copies = state_->host_copies;
  auto copy = std::find_if(copies.begin(), copies.end(), [&](const State::HostCopy& each) {
    return each.region.begin == region.begin;
  });
  if (copy == copies.end()) {
    const uint64_t offset = WordOf(region.begin) % kCopyAlignment;
    HostBuffer buffer(Allocate(uint64_t(region.bytes) + offset));
    if (buffer == nullptr) return FailForMemory(region.bytes), nullptr;
    char* host = static_cast<char*>(buffer.get()) + offset;
    if (!Succeeds(device_.CopyDown(host, region.begin, region.bytes))) return nullptr;
    copies.push_back({region, std::move(buffer), host});
    copy = copies.end() - 1;
  }
  copy->is_written |= is_written;
  return copy->host + (address - region.begin);
}

int32_t DeviceCall::EndCopies() {
  bool is_well = true;
  for (const State::HostCopy& copy : std::exchange(state_->host_copies, {})) {
    if (!copy.is_written) continue;
    is_well &= Succeeds(device_.CopyUp(copy.region.begin, copy.host, copy.region.bytes));
  }
  return is_well ? 0 : 1;
}

int64_t DeviceCall::CallLibrary(const void* routine, const char* signature,
                                const uint64_t* operands) {
  std::vector<uint64_t> words;
  if (!Settle()) return -1;
  for (const char* letter = signature + 1; *letter != 0; ++letter) {
    const bool is_array = *letter != 'n' && *letter != 'u';
    auto* device = is_array ? reinterpret_cast<char*>(*operands) : nullptr;
    words.push_back(is_array ? WordOf(CopyToHost(device, true)) : *operands);
    ++operands;
    if (is_array) words.push_back(*operands++);
  }
  int64_t status = -1;
  if (!call_.has_failed()) status = pk_library_call(&call_, routine, signature, words.data());
  EndCopies();
  return call_.has_failed() ? -1 : status;
}

int64_t DeviceCall::Multiply(PkElement element, const int64_t* operands) {
  if (!MayUseMatrixLibraries() || !Settle()) return 1;
  const std::optional<BlasProduct> product = ReadProduct(element, operands);
  return product && device_.Multiply(*product) ? 0 : 1;
}

}  // namespace parakeet::runtime

namespace {

parakeet::runtime::DeviceCall& OnDevice(PkCall* call) {
  auto* found = static_cast<parakeet::runtime::Call*>(call)->device_call();
  assert(found != nullptr && "a call that has a device");
  return *found;
}

}  // namespace

extern "C" {

void* pk_device_alloc(PkCall* call, int64_t bytes) { return OnDevice(call).AllocateBuffer(bytes); }

void pk_device_free(PkCall* call, void* buffer) { OnDevice(call).FreeBuffer(buffer); }

int32_t pk_device_read(PkCall* call, void* host, const void* device, int64_t bytes) {
  return OnDevice(call).Read(host, device, bytes);
}

int32_t pk_device_write(PkCall* call, void* device, const void* host, int64_t bytes) {
  return OnDevice(call).Write(device, host, bytes);
}

int32_t pk_device_launch(PkCall* call, const PkKernel* kernel, int64_t blocks, int32_t threads,
                         void* captures, int64_t bytes) {
  return OnDevice(call).Launch(*kernel, blocks, threads, captures, bytes);
}

void* pk_device_copy_to_host(PkCall* call, void* device, int32_t is_written) {
  return OnDevice(call).CopyToHost(device, is_written != 0);
}

int32_t pk_device_end_copies(PkCall* call) { return OnDevice(call).EndCopies(); }

int64_t pk_device_library_call(PkCall* call, const void* routine, const char* signature,
                               const uint64_t* operands) {
  return OnDevice(call).CallLibrary(routine, signature, operands);
}

int64_t pk_device_matmul(PkCall* call, int32_t element, const int64_t* operands) {
  return OnDevice(call).Multiply(PkElement(element), operands);
}

}  // extern "C"
