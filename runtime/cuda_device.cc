#include "runtime/cuda_device.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cublas.h"
#include "runtime/cuda_copies.h"
#include "runtime/cuda_driver.h"
#include "runtime/cuda_launches.h"
#include "runtime/cuda_memory.h"
#include "runtime/cuda_modules.h"
#include "runtime/device_error.h"
#include "runtime/pinned_buffers.h"

namespace parakeet::runtime {
namespace {

constexpr int32_t kBadLaunch = -1;
constexpr int32_t kInFork = -2;
constexpr int64_t kMostBlocks = INT32_MAX;
constexpr char kCannotLaunch[] = "cannot launch kernels";

// Threads of kernels take memory of their own from a heap, which has no more than this part of all
// memory. The driver takes it when the first kernel is launched that uses it, and then it stays.
constexpr size_t kHeapShare = 32;
std::atomic<int64_t> most_heap = int64_t{1} << 30;

// From which on cuBLAS makes a product sooner than our kernels do: terms in all, and terms of a
// sum.
constexpr double kLeastTermsOfCublas = 1 << 21;
constexpr int32_t kLeastDepthOfCublas = 8;

// Of a result: smaller ones come through pinned pieces as soon.
constexpr int64_t kLeastWorthPinning = int64_t{4} << 20;

// What cuBLAS recommends for a stream's work space.
constexpr size_t kCublasWorkspace = size_t{4} << 20;
constexpr size_t kCublasWorkspaceOfHopper = size_t{32} << 20;
constexpr int kHopper = 90;
constexpr int kLeastArchitecture = 70;

// What a thread has of a device: its stream, and what it uses with it.
struct CudaThread {
  CudaThread(const CudaDriver& driver, CuContext context, CuStream stream, CuEvent event,
             CuEvent of_others, size_t cublas_workspace, std::atomic<int64_t>* replays,
             CudaModules* modules)
      : stream(stream),
        event(event),
        of_others(of_others),
        freed(stream),
        launches(driver, stream, replays,
                 [modules](CuFunction function) { modules->KeepForGraph(function); }),
        copies(driver, context, stream),
        cublas(driver, stream, cublas_workspace) {}

  const CuStream stream;
  const CuEvent event;      // the end of the stream's work when it was last recorded
  const CuEvent of_others;  // the same of a stream that is not ours
  uint64_t shared = 0;      // the number of its last Share
  uint64_t seen = 0;        // up to which Share of all the stream has waited
  void* error_records = nullptr;
  int calls = 0;  // that it is in: work may be held until they end
  FreedBlocks freed;
  CudaLaunches launches;
  CudaCopies copies;
  CudaFunctions functions;
  CublasOfThread cublas;
};

class CudaDevice : public Device {
 public:
  CudaDevice(const CudaDriver& driver, int number)
      : driver_(driver), number_(number), memory_(driver), modules_(driver) {}

  // False with the reason.
  bool Open(std::string* why);

  DeviceKind kind() const override { return DeviceKind::kCuda; }
  int number() const override { return number_; }
  std::string Name() const override { return name_; }
  int Architecture() const override { return architecture_; }
  DeviceCounters Counters() const override;
  void ResetPeak() override;
  DeviceMemory Memory() override;
  void* Allocate(int64_t bytes) override;
  void Free(void* buffer) override;
  void SetLimit(int64_t bytes) override;
  int32_t CopyUp(void* device, const void* host, int64_t bytes) override;
  int32_t CopyDown(void* host, const void* device, int64_t bytes) override;
  int32_t CopyResult(void* buffer, const void* device, int64_t bytes) override;
  int32_t Launch(const PkKernel& kernel, int64_t blocks, int32_t threads, const void* captures,
                 int64_t bytes) override;
  bool Multiply(const BlasProduct& product) override;
  int32_t Wait() override;
  void* Enter() override;
  void Leave(void* before) override;
  void* ErrorRecords() override;
  int32_t Share() override;
  void* Stream() override;
  int32_t WaitForStream(void* stream) override;
  int32_t MakeStreamWait(void* stream) override;

  // Takes back what a thread had that has ended.
  void PutBack(CudaThread* thread);

 private:
  class Scope;

  // What stands before `error` in messages: "CUDA device 0 cannot launch kernel k".
  int32_t Note(CuResult error, const char* what) const;
  CuResult OpenContext();
  CuResult FindThread(CudaThread** thread);
  // What the thread begins next comes after what others have shared.
  CuResult CatchUp(CudaThread* thread);
  CuResult MakeThread(CudaThread** thread);
  // Gives the driver what threads that have ended have kept; false where that is nothing.
  bool GiveBackOfEnded();
  // Later work of `waiting` comes after what `thread` has begun.
  CuResult LetWait(CuStream waiting, const CudaThread& thread);
  int32_t CheckLaunch(const PkKernel& kernel, int64_t blocks, int32_t threads, int64_t bytes) const;

  const CudaDriver& driver_;
  const int number_;
  CuContext context_ = nullptr;
  std::string name_;
  int architecture_ = 0;
  bool has_pools_ = false;
  CudaMemory memory_;
  CudaModules modules_;
  std::atomic<int64_t> launches_{0}, replays_{0}, bytes_up_{0}, bytes_down_{0};
  std::atomic<uint64_t> shares_{0};  // how often a thread has shared its work
  std::atomic<int64_t> products_{0};

  std::mutex mutex_;  // of the lists, the threads' numbers, and from an event's record to its wait
  std::vector<std::unique_ptr<CudaThread>> threads_;
  std::vector<CudaThread*> free_threads_;
};

// What this thread has of each device; another thread gets it afterwards.
struct OfThisThread {
  std::vector<std::pair<CudaDevice*, CudaThread*>> of_devices;

  ~OfThisThread() {
    for (const auto& [device, thread] : of_devices) device->PutBack(thread);
  }
};
thread_local OfThisThread of_this_thread;

// Makes the device's context the thread's for as long as it lives, then the one that was, which may
// be another library's.
class CudaDevice::Scope {
 public:
  // What the thread's launches have held begins first, unless it is to stay.
  explicit Scope(CudaDevice& device, bool flushes = true) : device_(device) {
    if (IsForkOfCuda()) {
      error_ = NoteDeviceError(kInFork, kWhyNotInFork);
    } else if (const CuResult error = Enter(); error != 0) {
      error_ = device_.Note(error, "cannot be used");
    } else if (flushes) {
      error_ = device_.Note(thread_->launches.Flush(), kCannotLaunch);
    }
  }
  ~Scope() {
    if (is_entered_) device_.driver_.CtxSetCurrent(before_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  // What was noted, or 0: the thread is there.
  int32_t error() const { return error_; }
  CudaThread* operator->() const { return thread_; }
  CudaThread& thread() const { return *thread_; }

 private:
  CuResult Enter() {
    device_.driver_.CtxGetCurrent(&before_);
    is_entered_ = before_ != device_.context_;
    if (is_entered_) {
      if (const CuResult error = device_.driver_.CtxSetCurrent(device_.context_)) return error;
    }
    if (const CuResult error = device_.FindThread(&thread_)) return error;
    return device_.CatchUp(thread_);
  }

  CudaDevice& device_;
  CuContext before_ = nullptr;
  bool is_entered_ = false;
  int32_t error_ = 0;
  CudaThread* thread_ = nullptr;
};

CuAddress AddressOf(const void* device) { return CuAddress(reinterpret_cast<uintptr_t>(device)); }

int32_t CudaDevice::Note(CuResult error, const char* what) const {
  if (error == 0) return 0;
  return NoteDeviceError(
      error, "CUDA device " + std::to_string(number_) + " " + what + ": " + driver_.TextOf(error));
}

// The driver's calls that change the context take longer than the one that asks for it, which is
// all that a Scope does in here.
void* CudaDevice::Enter() {
  CuContext before = context_;
  if (IsForkOfCuda()) return before;
  driver_.CtxGetCurrent(&before);
  if (before != context_) driver_.CtxSetCurrent(context_);
  CudaThread* thread = nullptr;
  if (FindThread(&thread) == 0) ++thread->calls;
  return before;
}

// What fails here fails whoever waits for the stream next, too.
void CudaDevice::Leave(void* before) {
  if (IsForkOfCuda()) return;
  CudaThread* thread = nullptr;
  if (FindThread(&thread) == 0 && --thread->calls == 0) {
    Note(thread->launches.Flush(), kCannotLaunch);
  }
  if (before != context_) driver_.CtxSetCurrent(static_cast<CuContext>(before));
}

// ---------------------------------------------------------------------------------------------
// Opening
// ---------------------------------------------------------------------------------------------

bool CudaDevice::Open(std::string* why) {
  why->clear();
  CuContext before = nullptr;
  driver_.CtxGetCurrent(&before);
  const CuResult error = OpenContext();
  driver_.CtxSetCurrent(before);
  if (error != 0) {
    *why = "CUDA device " + std::to_string(number_) + " cannot be opened: " + driver_.TextOf(error);
  } else if (!has_pools_) {
    *why = "CUDA device " + std::to_string(number_) + " has no pools of memory";
  } else if (architecture_ < kLeastArchitecture) {
    *why = "CUDA device " + std::to_string(number_) + " is of compute capability " +
           std::to_string(architecture_ / 10) + "." + std::to_string(architecture_ % 10) +
           "; expected 7.0 or more";
  }
  return why->empty();
}

CuResult CudaDevice::OpenContext() {
  CuDevice device = 0;
  char name[256] = {};
  int major = 0, minor = 0, pools = 0;
  if (const CuResult error = driver_.DeviceGet(&device, number_)) return error;
  driver_.DeviceGetName(name, sizeof name - 1, device);
  driver_.DeviceGetAttribute(&major, kCuCapabilityMajor, device);
  driver_.DeviceGetAttribute(&minor, kCuCapabilityMinor, device);
  driver_.DeviceGetAttribute(&pools, kCuHasMemoryPools, device);
  name_ = name;
  architecture_ = 10 * major + minor;
  modules_.Open(architecture_);
  has_pools_ = pools != 0;
  if (const CuResult error = driver_.DevicePrimaryCtxRetain(&context_, device)) return error;
  if (const CuResult error = driver_.CtxSetCurrent(context_)) return error;
  size_t free_bytes = 0, total_bytes = 0;
  if (const CuResult error = driver_.MemGetInfo(&free_bytes, &total_bytes)) return error;
  // Refused where another library's kernels have run: theirs stays.
  driver_.CtxSetLimit(kCuHeapOfKernels,
                      std::min(total_bytes / kHeapShare, size_t(most_heap.load())));
  return has_pools_ ? memory_.Open(device) : 0;
}

// ---------------------------------------------------------------------------------------------
// Threads and streams
// ---------------------------------------------------------------------------------------------

CuResult CudaDevice::FindThread(CudaThread** thread) {
  auto& of_devices = of_this_thread.of_devices;
  for (const auto& [device, found] : of_devices) {
    if (device == this) return *thread = found, 0;
  }
  if (const CuResult error = MakeThread(thread)) return error;
  of_devices.emplace_back(this, *thread);
  return 0;
}

// One that another thread has left, or a new one, which begins behind the work of the others.
CuResult CudaDevice::MakeThread(CudaThread** thread) {
  const std::lock_guard lock(mutex_);
  if (!free_threads_.empty()) {
    *thread = free_threads_.back();
    free_threads_.pop_back();
    return 0;
  }
  CuStream stream = nullptr;
  CuEvent event = nullptr, of_others = nullptr;
  if (const CuResult error = driver_.StreamCreate(&stream, kCuIndependentStream)) return error;
  if (const CuResult error = driver_.EventCreate(&event, kCuEventWithoutTime)) return error;
  if (const CuResult error = driver_.EventCreate(&of_others, kCuEventWithoutTime)) return error;
  for (const auto& other : threads_) {
    if (const CuResult error = LetWait(stream, *other)) return error;
  }
  const size_t workspace = architecture_ < kHopper ? kCublasWorkspace : kCublasWorkspaceOfHopper;
  threads_.push_back(std::make_unique<CudaThread>(driver_, context_, stream, event, of_others,
                                                  workspace, &replays_, &modules_));
  *thread = threads_.back().get();
  (*thread)->seen = shares_.load(std::memory_order_relaxed);
  return 0;
}

void CudaDevice::PutBack(CudaThread* thread) {
  if (IsForkOfCuda()) return;
  const std::lock_guard lock(mutex_);
  free_threads_.push_back(thread);
}

CuResult CudaDevice::LetWait(CuStream waiting, const CudaThread& thread) {
  if (const CuResult error = driver_.EventRecord(thread.event, thread.stream)) return error;
  return driver_.StreamWaitEvent(waiting, thread.event, 0);
}

// Others wait when they begin something: a thread that has nothing to do costs nothing.
int32_t CudaDevice::Share() {
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  const std::lock_guard lock(mutex_);
  if (threads_.size() == 1) return 0;  // A second one begins behind all work of this one.
  CudaThread& thread = scope.thread();
  const CuResult error = driver_.EventRecord(thread.event, thread.stream);
  if (error != 0) return Note(error, "cannot order its streams");
  const uint64_t before = shares_.load(std::memory_order_relaxed);
  thread.shared = before + 1;
  if (thread.seen == before) thread.seen = before + 1;
  shares_.store(before + 1, std::memory_order_release);
  return 0;
}

CuResult CudaDevice::CatchUp(CudaThread* thread) {
  if (thread->seen == shares_.load(std::memory_order_acquire)) return 0;
  const std::lock_guard lock(mutex_);
  for (const auto& other : threads_) {
    if (other.get() == thread || other->shared <= thread->seen) continue;
    if (const CuResult error = driver_.StreamWaitEvent(thread->stream, other->event, 0)) {
      return error;
    }
  }
  thread->seen = shares_.load(std::memory_order_relaxed);
  return 0;
}

void* CudaDevice::Stream() {
  const Scope scope(*this);
  return scope.error() == 0 ? scope->stream : nullptr;
}

int32_t CudaDevice::WaitForStream(void* stream) {
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  CuResult error = driver_.EventRecord(scope->of_others, static_cast<CuStream>(stream));
  if (error == 0) error = driver_.StreamWaitEvent(scope->stream, scope->of_others, 0);
  return Note(error, "cannot wait for another stream");
}

int32_t CudaDevice::MakeStreamWait(void* stream) {
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  const std::lock_guard lock(mutex_);
  return Note(LetWait(static_cast<CuStream>(stream), scope.thread()),
              "cannot make another stream wait");
}

int32_t CudaDevice::Wait() {
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  return Note(driver_.StreamSynchronize(scope->stream), "fails");
}

// ---------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------

DeviceCounters CudaDevice::Counters() const {
  if (IsForkOfCuda()) return {};
  DeviceCounters counters = memory_.Counters();
  counters.launches = launches_.load(std::memory_order_relaxed);
  counters.replays = replays_.load(std::memory_order_relaxed);
  counters.assembled = modules_.CountAssembled();
  counters.bytes_up = bytes_up_.load(std::memory_order_relaxed);
  counters.bytes_down = bytes_down_.load(std::memory_order_relaxed);
  counters.products = products_.load(std::memory_order_relaxed);
  return counters;
}

void CudaDevice::ResetPeak() {
  if (!IsForkOfCuda()) memory_.ResetPeak();
}

void CudaDevice::SetLimit(int64_t bytes) {
  if (!IsForkOfCuda()) memory_.SetLimit(bytes);
}

DeviceMemory CudaDevice::Memory() {
  const Scope scope(*this);
  size_t free_bytes = 0, total_bytes = 0;
  if (scope.error() != 0 || driver_.MemGetInfo(&free_bytes, &total_bytes) != 0) return {};
  return {int64_t(free_bytes), int64_t(total_bytes)};
}

bool CudaDevice::GiveBackOfEnded() {
  const std::lock_guard lock(mutex_);
  bool gives = false;
  for (CudaThread* thread : free_threads_) gives |= memory_.GiveBack(thread->freed);
  return gives;
}

void* CudaDevice::Allocate(int64_t bytes) {
  void* buffer = nullptr;
  {
    const Scope scope(*this, /*flushes=*/false);
    if (scope.error() == 0) buffer = memory_.Reuse(bytes, scope->freed);
    if (buffer != nullptr) return buffer;
  }
  const Scope scope(*this);
  if (scope.error() != 0) return nullptr;
  buffer = memory_.Allocate(bytes, scope->freed);
  if (buffer != nullptr || !GiveBackOfEnded()) return buffer;
  return memory_.Allocate(bytes, scope->freed);
}

void CudaDevice::Free(void* buffer) {
  if (buffer == nullptr) return;
  const Scope scope(*this, /*flushes=*/false);
  if (scope.error() != 0 || memory_.Free(buffer, scope->freed)) return;
  Note(scope->launches.Flush(), kCannotLaunch);
  memory_.GiveBackTooMuch(scope->freed);
}

std::string CopyText(int64_t bytes, const char* way) {
  return "cannot copy " + std::to_string(bytes) + " bytes " + way + " the host";
}

int32_t CudaDevice::CopyUp(void* device, const void* host, int64_t bytes) {
  if (bytes <= 0) return 0;
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  bytes_up_.fetch_add(bytes, std::memory_order_relaxed);
  const CuResult error = scope->copies.Up(AddressOf(device), static_cast<const char*>(host), bytes);
  return error == 0 ? 0 : Note(error, CopyText(bytes, "from").c_str());
}

int32_t CudaDevice::CopyDown(void* host, const void* device, int64_t bytes) {
  if (bytes <= 0) return 0;
  const Scope scope(*this);
  if (scope.error() != 0) return scope.error();
  bytes_down_.fetch_add(bytes, std::memory_order_relaxed);
  const CuResult error = scope->copies.Down(static_cast<char*>(host), AddressOf(device), bytes);
  return error == 0 ? 0 : Note(error, CopyText(bytes, "to").c_str());
}

int32_t CudaDevice::CopyResult(void* buffer, const void* device, int64_t bytes) {
  if (bytes >= kLeastWorthPinning) {
    const Scope scope(*this);
    if (scope.error() != 0) return scope.error();
    NoteResultBuffer(driver_, buffer);
  }
  return CopyDown(buffer, device, bytes);
}

// Beside the account of what calls take, like the stream.
void* CudaDevice::ErrorRecords() {
  const Scope scope(*this);
  if (scope.error() != 0) return nullptr;
  if (scope->error_records != nullptr) return scope->error_records;
  const PkErrorRecord zero[2] = {};
  CuAddress address = 0;
  if (driver_.MemAllocAsync(&address, sizeof zero, scope->stream) != 0) return nullptr;
  const auto* bytes = reinterpret_cast<const char*>(zero);
  if (scope->copies.Up(address, bytes, sizeof zero) != 0) {
    driver_.MemFreeAsync(address, scope->stream);
    return nullptr;
  }
  return scope->error_records = reinterpret_cast<void*>(uintptr_t(address));
}

// ---------------------------------------------------------------------------------------------
// Kernels
// ---------------------------------------------------------------------------------------------

int32_t CudaDevice::CheckLaunch(const PkKernel& kernel, int64_t blocks, int32_t threads,
                                int64_t bytes) const {
  const auto refuse = [&](const char* why) {
    return NoteDeviceError(kBadLaunch, std::string("kernel ") + kernel.name + why);
  };
  if (kernel.kind != kPkKernelCuda) return refuse(" is not for a CUDA device");
  if (blocks > kMostBlocks) return refuse(" is launched with too many blocks");
  const bool has_threads = threads >= 1 && threads <= kPkMostThreads;
  const bool has_captures = bytes >= kPkRuntimeBytes && bytes <= kPkMostCaptureBytes;
  if (has_threads && has_captures) return 0;
  return refuse(" is launched with too many threads or captures");
}

int32_t CudaDevice::Launch(const PkKernel& kernel, int64_t blocks, int32_t threads,
                           const void* captures, int64_t bytes) {
  if (const int32_t error = CheckLaunch(kernel, blocks, threads, bytes)) return error;
  const Scope scope(*this, /*flushes=*/false);
  if (scope.error() != 0) return scope.error();
  CuFunction function = nullptr;
  if (const int32_t error = scope->functions.Find(modules_, kernel, &function)) return error;
  launches_.fetch_add(1, std::memory_order_relaxed);
  const CudaGrid grid = {function,          unsigned(blocks),
                         unsigned(threads), unsigned(kernel.shared_bytes),
                         unsigned(bytes),   architecture_ >= kPkLeastOverlapping};
  const CuResult error = scope->launches.Add(grid, captures, scope->calls > 0);
  if (error == 0) return 0;
  return Note(error, (std::string("cannot launch kernel ") + kernel.name).c_str());
}

bool CudaDevice::Multiply(const BlasProduct& product) {
  if (product.Terms() < kLeastTermsOfCublas || product.depth < kLeastDepthOfCublas) return false;
  const Scope scope(*this);
  if (scope.error() != 0 || !scope->cublas.Multiply(product)) return false;
  products_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

// ---------------------------------------------------------------------------------------------
// All devices
// ---------------------------------------------------------------------------------------------

// The devices that were opened, by number; they stay.
struct OpenedDevices {
  std::mutex mutex;
  std::vector<CudaDevice*> devices;
};

}  // namespace

void SetKernelHeap(int64_t bytes) { most_heap.store(bytes); }

int CountCudaDevices(std::string* why) {
  const CudaDriver* driver = OpenCudaDriver(why);
  if (driver == nullptr) return 0;
  int count = 0;
  const CuResult error = driver->DeviceGetCount(&count);
  if (error != 0) *why = "the CUDA driver cannot count its devices: " + driver->TextOf(error);
  if (error == 0 && count == 0) *why = "the CUDA driver finds no device";
  return error == 0 ? count : 0;
}

bool FindCudaDevice(const void* address, int* number) {
  std::string ignored;
  const CudaDriver* driver = OpenCudaDriver(&ignored);
  return driver != nullptr &&
         driver->PointerGetAttribute(number, kCuNumberOfDevice, AddressOf(address)) == 0 &&
         *number >= 0;
}

Device* OpenCudaDevice(int number, std::string* why) {
  const int count = CountCudaDevices(why);
  if (count == 0) return nullptr;
  if (number < 0 || number >= count) {
    *why = "there is no CUDA device " + std::to_string(number) + ": there " +
           (count == 1 ? "is 1" : "are " + std::to_string(count)) + ", numbered from 0";
    return nullptr;
  }
  static auto* const opened = new OpenedDevices;
  const std::lock_guard lock(opened->mutex);
  opened->devices.resize(size_t(count));
  CudaDevice*& found = opened->devices[size_t(number)];
  if (found != nullptr) return found;
  std::string ignored;
  auto device = std::make_unique<CudaDevice>(*OpenCudaDriver(&ignored), number);
  if (!device->Open(why)) return nullptr;
  return found = device.release();
}

}  // namespace parakeet::runtime
