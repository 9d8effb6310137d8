// The CUDA driver, libcuda.so.1, opened at its first need: the few types and functions of it that
// we use, declared here, so that nothing of CUDA is needed to build or to run without a GPU.
#ifndef PARAKEET_RUNTIME_CUDA_DRIVER_H_
#define PARAKEET_RUNTIME_CUDA_DRIVER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace parakeet::runtime {

using CuResult = int;  // 0: done
using CuDevice = int;
using CuAddress = unsigned long long;
using CuContext = struct CuContextState*;
using CuStream = struct CuStreamState*;
using CuEvent = struct CuEventState*;
using CuModule = struct CuModuleState*;
using CuLibrary = struct CuLibraryState*;
using CuFunction = struct CuFunctionState*;
using CuLinker = struct CuLinkerState*;
using CuMemoryPool = struct CuMemoryPoolState*;
using CuGraph = struct CuGraphState*;
using CuGraphNode = struct CuGraphNodeState*;
using CuGraphExec = struct CuGraphExecState*;

// A launch as a node of a graph: as the driver's structure of that name, its first version.
struct CuKernelNode {
  CuFunction function;
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  void** parameters;
  void** extra;
};

// How a kernel is launched: as the driver's structures CUlaunchConfig and CUlaunchAttribute.
struct CuLaunchAttribute {
  int id;
  alignas(8) union {
    int number;
    char bytes[64];
  } value;
};

struct CuLaunch {
  unsigned grid_x, grid_y, grid_z;
  unsigned block_x, block_y, block_z;
  unsigned shared_bytes;
  CuStream stream;
  const CuLaunchAttribute* attributes;
  unsigned attribute_count;
};

// What of a node another one waits for: as the driver's structure CUgraphEdgeData.
struct CuGraphEdge {
  unsigned char from_port, to_port, type, reserved[5];
};

// A kernel that may begin while the one before it runs, and waits for it by itself: an attribute of
// a launch, and an edge.
inline constexpr CuLaunchAttribute kCuOverlapping = {6, {1}};
inline constexpr CuGraphEdge kCuOverlappingEdge = {1, 0, 1, {}};

inline constexpr CuResult kCuOutOfMemory = 2;
inline constexpr CuResult kCuNoDevice = 100;
inline constexpr CuResult kCuPtxTooNew = 222;
inline constexpr CuResult kCuNotFound = 500;

inline constexpr int kCuCapabilityMajor = 75;  // attributes of a device
inline constexpr int kCuCapabilityMinor = 76;
inline constexpr int kCuHasMemoryPools = 115;
inline constexpr int kCuHeapOfKernels = 2;           // a limit of a context
inline constexpr int kCuNumberOfDevice = 9;          // an attribute of an address
inline constexpr int kCuReleaseThreshold = 4;        // an attribute of a pool
inline constexpr int kCuMostDynamicShared = 8;       // an attribute of a function
inline constexpr unsigned kCuIndependentStream = 1;  // flags
inline constexpr unsigned kCuEventWithoutTime = 2;
inline constexpr int kCuErrorLog = 5;  // options of loading
inline constexpr int kCuErrorLogBytes = 6;
inline constexpr int kCuPtx = 1;  // what a linker is given

struct CudaDriver {
#define PARAKEET_CUDA_FUNCTION(member, symbol, arguments) CuResult(*member) arguments;
#define PARAKEET_CUDA_LATER_FUNCTION PARAKEET_CUDA_FUNCTION
#include "runtime/cuda_functions.def"
#undef PARAKEET_CUDA_LATER_FUNCTION
#undef PARAKEET_CUDA_FUNCTION

  // "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS)".
  std::string TextOf(CuResult error) const;
};

// The driver, initialised; null, with the reason in a line, where there is none, it is too old, or
// it finds no device. The answer stays the same as long as the process lives.
const CudaDriver* OpenCudaDriver(std::string* why);

// Whether this process was forked from one that had opened the driver, which works in that one
// alone: no function of it may be called here, and no lock of a device taken, which a thread may
// have held that is not here. OpenCudaDriver gives null then, with the reason.
inline std::atomic<bool> is_fork_of_cuda = false;
inline bool IsForkOfCuda() { return is_fork_of_cuda.load(std::memory_order_relaxed); }
inline constexpr char kWhyNotInFork[] =
    "CUDA does not work in a process that was forked after its parent had used it; start processes "
    "by \"spawn\"";

// The functions of another driver to use, before any use of one: for tests.
void SetCudaDriver(const CudaDriver& driver);

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_DRIVER_H_
