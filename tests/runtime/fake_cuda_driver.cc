#include "tests/runtime/fake_cuda_driver.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace parakeet::runtime {

struct CuContextState {
  int device;
};

struct CuStreamState {
  int device = 0;
  std::deque<std::function<void()>> waiting;
  int64_t issued = 0;
  int64_t done = 0;

  void Push(std::function<void()> work) {
    waiting.push_back(std::move(work));
    ++issued;
  }
  void RunTo(int64_t position) {
    while (done < position) {
      const std::function<void()> work = std::move(waiting.front());
      waiting.pop_front();
      ++done;
      work();
    }
  }
};

struct CuEventState {
  int device = 0;
  CuStream stream = nullptr;
  int64_t position = 0;

  void Wait() const {
    if (stream != nullptr) stream->RunTo(position);
  }
};

struct CuModuleState {
  std::string code;
  int device;
  bool is_unloaded = false;
};

struct CuLibraryState {
  CuModule module;
};

struct CuLinkerState {
  std::string code;
  std::string made;
};

struct CuFunctionState {
  const FakeKernel* kernel;
  int device;
  const CuModuleState* module;
};

struct CuGraphNodeState {
  CuGraphNode before;
};

struct CuGraphState {
  std::vector<std::pair<CuGraphNode, std::function<void()>>> nodes;
};

struct CuGraphExecState {
  std::vector<std::pair<CuGraphNode, std::function<void()>>> nodes;
};

namespace {

constexpr CuResult kInvalidValue = 1;
constexpr CuResult kInvalidContext = 201;
constexpr CuResult kInvalidCode = 218;
constexpr CuResult kInvalidHandle = 400;

std::recursive_mutex mutex;
thread_local CuContext current = nullptr;
struct Allocation {
  size_t bytes;
  int device;
};
std::map<CuAddress, Allocation> live;

void* HostOf(CuAddress address) { return reinterpret_cast<void*>(uintptr_t(address)); }

// Set where the driver is initialised: a call in a child of that process ends it.
pid_t process = 0;

void CheckProcess() {
  if (process != 0 && getpid() != process) _exit(77);
}

// A call, one at a time, that needs a context.
template <typename Work>
CuResult InContext(Work work) {
  CheckProcess();
  const std::lock_guard lock(mutex);
  return current == nullptr ? kInvalidContext : work();
}

// The same on a stream, which is the current context's, as a driver demands it.
template <typename Work>
CuResult OnStream(CuStream stream, Work work) {
  return InContext([&]() -> CuResult {
    return stream != nullptr && stream->device == current->device ? work() : kInvalidHandle;
  });
}

CuResult Allocate(CuAddress* address, size_t bytes, CuStream stream) {
  return OnStream(stream, [&]() -> CuResult {
    if (bytes == 0) return kInvalidValue;
    Fake().allocations += 1;
    if (int64_t(bytes) > Fake().memory_bytes) return kCuOutOfMemory;
    *address = CuAddress(reinterpret_cast<uintptr_t>(std::malloc(bytes)));
    live[*address] = {bytes, current->device};
    Fake().live_bytes += int64_t(bytes);
    return 0;
  });
}

CuResult Free(CuAddress address, CuStream stream) {
  return OnStream(stream, [&]() -> CuResult {
    const auto found = live.find(address);
    if (found == live.end() || found->second.device != current->device) return kInvalidValue;
    Fake().live_bytes -= int64_t(found->second.bytes);
    live.erase(found);
    stream->Push([address] { std::free(HostOf(address)); });
    return 0;
  });
}

CuResult Copy(void* to, const void* from, size_t bytes, CuStream stream) {
  return OnStream(stream, [&]() -> CuResult {
    stream->Push([=] { std::memcpy(to, from, bytes); });
    return 0;
  });
}

CuResult TakeFailure() {
  const CuResult failure = Fake().failure;
  Fake().failure = 0;
  return failure;
}

CuResult Load(CuModule* module, const void* image, unsigned count, int*, void** values) {
  Fake().on_load();
  return InContext([&]() -> CuResult {
    const auto* code = static_cast<const char*>(image);
    Fake().loads += 1;
    Fake().loaded_code = code;
    if (std::strstr(code, "bad") != nullptr) {
      if (count > 0) {
        std::strcpy(static_cast<char*>(values[0]), "line 1: bad\nline 2: worse\n");
      }
      return kInvalidCode;
    }
    if (std::strncmp(code, "new", 3) == 0) return kCuPtxTooNew;
    *module = new CuModuleState{code, current->device};
    return 0;
  });
}

CuResult Unload(CuModule module) {
  return InContext([&]() -> CuResult {
    if (module->device != current->device || module->is_unloaded) return kInvalidHandle;
    Fake().unloads += 1;
    return module->is_unloaded = true, 0;
  });
}

void FillLibraries(CudaDriver* driver) {
  driver->LibraryLoadData = [](CuLibrary* library, const void* code, int* options, void** values,
                               unsigned count, int*, void**, unsigned) {
    CuModule module = nullptr;
    if (const CuResult result = Load(&module, code, count, options, values)) return result;
    Fake().libraries += 1;
    return *library = new CuLibraryState{module}, 0;
  };
  driver->LibraryGetModule = [](CuModule* module, CuLibrary library) {
    return *module = library->module, 0;
  };
  driver->LibraryUnload = [](CuLibrary library) { return Unload(library->module); };
}

CuResult AddToLinker(CuLinker linker, int kind, void* data, size_t bytes, const char*, unsigned,
                     int*, void**) {
  return InContext([&]() -> CuResult {
    const auto* text = static_cast<const char*>(data);
    if (kind != kCuPtx || bytes != std::strlen(text) + 1) return kInvalidValue;
    if (std::strncmp(text, "bad", 3) == 0) return kInvalidCode;
    linker->code += text;
    return 0;
  });
}

void FillLinker(CudaDriver* driver) {
  driver->LinkCreate = [](unsigned, int*, void**, CuLinker* linker) {
    return InContext([&] { return *linker = new CuLinkerState, 0; });
  };
  driver->LinkAddData = AddToLinker;
  driver->LinkComplete = [](CuLinker linker, void** cubin, size_t* bytes) {
    return InContext([&] {
      Fake().links += 1;
      linker->made =
          "\x7f"
          "ELF of " +
          linker->code;
      *cubin = linker->made.data();
      return *bytes = linker->made.size() + 1, 0;
    });
  };
  driver->LinkDestroy = [](CuLinker linker) {
    linker->made.assign(linker->made.size(), '?');  // It was the linker's.
    return delete linker, 0;
  };
}

CuResult FindFunction(CuFunction* function, CuModule module, const char* name) {
  return InContext([&]() -> CuResult {
    if (module->device != current->device) return kInvalidHandle;
    const auto found = Fake().kernels.find(name);
    const bool names_kernels = module->code.find(".entry") != std::string::npos;
    const bool has = !names_kernels || module->code.find(name) != std::string::npos;
    if (!has || found == Fake().kernels.end()) return kCuNotFound;
    *function = new CuFunctionState{&found->second, module->device, module};
    return 0;
  });
}

// The kernel with what it takes now.
std::function<void()> WorkOf(CuFunction function, unsigned blocks, unsigned threads, void** extra) {
  const auto* begin = static_cast<const char*>(extra[1]);
  const std::vector<char> captures(begin, begin + *static_cast<const size_t*>(extra[3]));
  return [=] { (*function->kernel)(blocks, threads, captures.data()); };
}

CuResult Launch(const CuLaunch* launch, CuFunction function, void**, void** extra) {
  return OnStream(launch->stream, [&]() -> CuResult {
    if (function->device != current->device || function->module->is_unloaded) return kInvalidHandle;
    Fake().launches += 1;
    for (unsigned k = 0; k < launch->attribute_count; ++k) {
      if (std::memcmp(&launch->attributes[k], &kCuOverlapping, 8 + sizeof(int)) != 0)
        return kInvalidValue;
      Fake().overlapping += 1;
    }
    launch->stream->Push(WorkOf(function, launch->grid_x, launch->block_x, extra));
    return 0;
  });
}

// Of one row alone: each node behind the one before.
CuResult AddNode(CuGraphNode* node, CuGraph graph, const CuGraphNode* before, size_t count,
                 const CuKernelNode* kernel) {
  const CuGraphNode last = graph->nodes.empty() ? nullptr : graph->nodes.back().first;
  if (count > 0 && *before != last) return kInvalidValue;
  if (kernel->function->device != current->device || kernel->function->module->is_unloaded)
    return kInvalidHandle;
  *node = new CuGraphNodeState{count > 0 ? last : nullptr};
  graph->nodes.emplace_back(
      *node, WorkOf(kernel->function, kernel->grid_x, kernel->block_x, kernel->extra));
  return 0;
}

// The edge to the last node from the one before it, of a kernel that waits by itself.
CuResult AddEdge(CuGraph graph, const CuGraphNode* from, const CuGraphNode* to,
                 const CuGraphEdge* edge, size_t count) {
  const size_t nodes = graph->nodes.size();
  const bool is_last = count == 1 && nodes > 1 && graph->nodes[nodes - 1].first == *to &&
                       graph->nodes[nodes - 2].first == *from;
  if (!is_last || std::memcmp(edge, &kCuOverlappingEdge, sizeof *edge) != 0) return kInvalidValue;
  (*to)->before = *from;
  Fake().overlapping_edges += 1;
  return 0;
}

CuResult SetNode(CuGraphExec executable, CuGraphNode node, const CuKernelNode* kernel) {
  for (auto& [its_node, work] : executable->nodes) {
    if (its_node != node) continue;
    Fake().node_changes += 1;
    work = WorkOf(kernel->function, kernel->grid_x, kernel->block_x, kernel->extra);
    return 0;
  }
  return kInvalidValue;
}

void FillGraphs(CudaDriver* driver) {
  driver->GraphCreate = [](CuGraph* graph, unsigned) {
    return InContext([&] { return *graph = new CuGraphState, Fake().graph_failure; });
  };
  driver->GraphDestroy = [](CuGraph graph) { return delete graph, 0; };
  driver->GraphAddKernelNode = AddNode;
  driver->GraphAddDependencies = AddEdge;
  driver->GraphInstantiate = [](CuGraphExec* executable, CuGraph graph, unsigned long long) {
    for (size_t k = 1; k < graph->nodes.size(); ++k) {
      if (graph->nodes[k].first->before != graph->nodes[k - 1].first) return kInvalidValue;
    }
    Fake().graphs += 1;
    return *executable = new CuGraphExecState{graph->nodes}, 0;
  };
  driver->GraphSetKernelNode = SetNode;
  driver->GraphLaunch = [](CuGraphExec executable, CuStream stream) {
    return OnStream(stream, [&]() -> CuResult {
      Fake().graph_launches += 1;
      for (const auto& [node, work] : executable->nodes) stream->Push(work);
      return 0;
    });
  };
  driver->GraphExecDestroy = [](CuGraphExec executable) { return delete executable, 0; };
}

void FillDevices(CudaDriver* driver) {
  driver->Init = [](unsigned) { return process = getpid(), 0; };
  driver->DriverGetVersion = [](int* version) { return *version = 13000, 0; };
  driver->GetErrorName = [](CuResult, const char** text) { return *text = "FAKE_ERROR", 0; };
  driver->GetErrorString = [](CuResult, const char** text) { return *text = "it is said so", 0; };
  driver->DeviceGetCount = [](int* count) { return CheckProcess(), *count = Fake().devices, 0; };
  driver->DeviceGet = [](CuDevice* device, int number) { return *device = number, 0; };
  driver->DeviceGetName = [](char* name, int, CuDevice) { return std::strcpy(name, "Fake"), 0; };
  driver->DeviceGetAttribute = [](int* value, int attribute, CuDevice) {
    *value = attribute == kCuHasMemoryPools ? 1 : 0;
    if (attribute == kCuCapabilityMajor) *value = Fake().capability;
    return 0;
  };
  driver->DeviceGetDefaultMemPool = [](CuMemoryPool*, CuDevice) { return 0; };
  driver->DevicePrimaryCtxRetain = [](CuContext* context, CuDevice device) {
    return *context = new CuContextState{device}, 0;
  };
  driver->CtxGetCurrent = [](CuContext* context) { return CheckProcess(), *context = current, 0; };
  driver->CtxSetCurrent = [](CuContext context) {
    CheckProcess();
    Fake().context_changes += context != nullptr;
    return current = context, 0;
  };
  driver->CtxSynchronize = [] { return InContext([] { return Fake().synchronizations += 1, 0; }); };
  driver->CtxSetLimit = [](int limit, size_t value) {
    if (limit == kCuHeapOfKernels) Fake().heap_bytes = int64_t(value);
    return 0;
  };
}

void FillStreams(CudaDriver* driver) {
  driver->StreamCreate = [](CuStream* stream, unsigned) {
    return InContext([&] {
      Fake().streams += 1;
      return *stream = new CuStreamState{current->device, {}}, 0;
    });
  };
  driver->StreamSynchronize = [](CuStream stream) {
    return OnStream(stream, [&] {
      Fake().waits += 1;
      return stream->RunTo(stream->issued), TakeFailure();
    });
  };
  driver->StreamWaitEvent = [](CuStream stream, CuEvent event, unsigned) {
    return OnStream(stream, [&] {
      Fake().stream_waits += 1;
      stream->Push([at = *event] { at.Wait(); });
      return 0;
    });
  };
  driver->EventCreate = [](CuEvent* event, unsigned) {
    return InContext([&] { return *event = new CuEventState{current->device}, 0; });
  };
  driver->EventRecord = [](CuEvent event, CuStream stream) {
    return OnStream(stream, [&]() -> CuResult {
      if (event->device != stream->device) return kInvalidHandle;
      return *event = {stream->device, stream, stream->issued}, 0;
    });
  };
  driver->EventSynchronize = [](CuEvent event) {
    return InContext([&] {
      Fake().waits += 1;
      return event->Wait(), TakeFailure();
    });
  };
}

void FillMemory(CudaDriver* driver) {
  driver->MemGetInfo = [](size_t* free_bytes, size_t* total_bytes) {
    return *free_bytes = 1000, *total_bytes = 3000, 0;
  };
  driver->PointerGetAttribute = [](void* value, int attribute, CuAddress address) {
    const std::lock_guard lock(mutex);
    const auto found = live.find(address);
    if (attribute != kCuNumberOfDevice || found == live.end()) return kInvalidValue;
    return *static_cast<int*>(value) = found->second.device, 0;
  };
  driver->MemPoolSetAttribute = [](CuMemoryPool, int attribute, void* value) {
    if (attribute == kCuReleaseThreshold) {
      Fake().release_threshold = *static_cast<const uint64_t*>(value);
    }
    return 0;
  };
  driver->MemPoolTrimTo = [](CuMemoryPool, size_t) { return Fake().trims += 1, 0; };
  driver->MemAllocAsync = Allocate;
  driver->MemFreeAsync = Free;
  driver->MemHostAlloc = [](void** memory, size_t bytes, unsigned) {
    return InContext([&]() -> CuResult {
      if (int64_t(bytes) > Fake().pinned_bytes) return kCuOutOfMemory;
      Fake().pinned_bytes -= int64_t(bytes);
      return *memory = std::malloc(bytes), 0;
    });
  };
  driver->MemHostRegister = [](void* memory, size_t bytes, unsigned) {
    return InContext([&] { return Fake().registered.emplace(memory, bytes).second ? 0 : 712; });
  };
  driver->MemHostUnregister = [](void* memory) {
    return InContext([&] { return Fake().registered.erase(memory) == 1 ? 0 : 713; });
  };
  driver->MemcpyHtoDAsync = [](CuAddress to, const void* from, size_t bytes, CuStream stream) {
    return Copy(HostOf(to), from, bytes, stream);
  };
  driver->MemcpyDtoHAsync = [](void* to, CuAddress from, size_t bytes, CuStream stream) {
    return Copy(to, HostOf(from), bytes, stream);
  };
}

}  // namespace

FakeCuda& Fake() {
  static auto* const fake = new FakeCuda;
  return *fake;
}

CudaDriver FakeCudaDriver() {
  CudaDriver driver = {};
  FillDevices(&driver);
  FillStreams(&driver);
  FillMemory(&driver);
  FillGraphs(&driver);
  FillLinker(&driver);
  FillLibraries(&driver);
  driver.ModuleLoadDataEx = Load;
  driver.ModuleUnload = Unload;
  driver.ModuleGetFunction = FindFunction;
  driver.FuncSetAttribute = [](CuFunction, int attribute, int value) {
    if (attribute == kCuMostDynamicShared) Fake().most_shared_bytes = value;
    return 0;
  };
  driver.LaunchKernel = Launch;
  return driver;
}

}  // namespace parakeet::runtime
