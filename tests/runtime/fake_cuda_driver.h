// A CUDA driver without a device: memory is the host's, kernels are functions of the test. Work of
// a stream is done as late as a real device may do it, when somebody waits for it.
#ifndef PARAKEET_TESTS_RUNTIME_FAKE_CUDA_DRIVER_H_
#define PARAKEET_TESTS_RUNTIME_FAKE_CUDA_DRIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

using FakeKernel = std::function<void(unsigned blocks, unsigned threads, const void* captures)>;

// What the test sets, and what it may look at afterwards.
struct FakeCuda {
  int devices = 2;
  int capability = 9;                         // of those that are opened next, before the point
  std::map<std::string, FakeKernel> kernels;  // by name; code with "bad" in it is refused; of
      // code with ".entry" in it a module has those it names
  int64_t memory_bytes = int64_t{1} << 40;  // MemAllocAsync gives no more than this at once
  int64_t pinned_bytes = int64_t{1} << 40;  // and MemHostAlloc no more than this in all
  CuResult failure = 0;                     // of each stream's next wait

  int64_t live_bytes = 0;
  std::map<void*, size_t> registered;  // pinned memory of the host that is its owner's
  int64_t heap_bytes = 0;              // for kernels, of the device that was asked last
  int loads = 0;
  int libraries = 0;  // of them
  int unloads = 0;
  int links = 0;
  int synchronizations = 0;  // of a context
  int streams = 0;
  int waits = 0;            // of the host
  int stream_waits = 0;     // of a stream for another's event
  int context_changes = 0;  // beside those to none
  int allocations = 0;
  int trims = 0;
  int launches = 0;  // one by one
  int graphs = 0;    // that were made
  int graph_launches = 0;
  int node_changes = 0;
  int overlapping = 0;         // launches that were told to, and
  int overlapping_edges = 0;   // the same in graphs
  CuResult graph_failure = 0;  // of making graphs
  uint64_t release_threshold = 0;
  int most_shared_bytes = 0;
  std::string loaded_code;
  std::function<void()> on_load = [] {};  // at the beginning of each load
};

FakeCuda& Fake();
CudaDriver FakeCudaDriver();

}  // namespace parakeet::runtime

#endif  // PARAKEET_TESTS_RUNTIME_FAKE_CUDA_DRIVER_H_
