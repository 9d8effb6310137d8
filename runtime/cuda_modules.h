// The modules of a CUDA device: kernels' code, loaded once. The driver takes PTX and assembles it,
// which takes most of the time of loading. What it makes it keeps on disk itself, for later
// processes, unless it may not; then, or where one asks for it, its linker makes a cubin, which the
// store has (cubin_store.h). Such code is slower: it calls functions, as for divisions, by the
// rules for code that is linked. On an H200 three float64 divisions an element took 0.189 ms for
// 0.173, a root of a quotient 0.101 for 0.088; what divides nothing takes as long.
#ifndef PARAKEET_RUNTIME_CUDA_MODULES_H_
#define PARAKEET_RUNTIME_CUDA_MODULES_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/code_life.h"
#include "runtime/cuda_driver.h"
#include "runtime/device_abi.h"

namespace parakeet::runtime {

// Called by any thread, with the device's context current.
//
// A module goes some time after the images have gone that its code was in (code_life.h), but stays
// where somebody launched it who did not say, or where it is in a graph, which might be launched or
// taken apart later.
class CudaModules {
 public:
  explicit CudaModules(const CudaDriver& driver) : driver_(driver) {}

  // Before any use: the device's architecture, which with the driver's version decides what PTX
  // becomes.
  void Open(int architecture);

  // The kernel's function, ready for its shared memory. Kernels with equal code share a module,
  // wherever the code is. 0, or an error that is noted.
  int32_t Find(const PkKernel& kernel, CuFunction* function);

  // Keeps the module of a function that is in a graph.
  void KeepForGraph(CuFunction function);

  // How often the driver has assembled PTX.
  int64_t CountAssembled() const { return assembled_.load(std::memory_order_relaxed); }

 private:
  using Content = std::pair<uint64_t, int64_t>;  // hash and bytes of code

  struct Module {
    CuModule module = nullptr;
    std::vector<CodeLife> users;
    bool stays = false;

    bool IsLeft() const;
  };

  static void NoteUser(Module* module);
  void UnloadWhatIsLeft();
  void Forget(CuModule module);

  int32_t Load(const PkKernel& kernel, CuModule* module);
  bool LoadKept(const std::string& code, CuModule* module);
  std::string Assemble(const std::string& ptx);
  int32_t ReserveShared(const PkKernel& kernel, CuFunction function);

  const CudaDriver& driver_;
  std::string made_for_;  // what keys of the store begin with
  std::atomic<int64_t> assembled_{0};
  std::mutex mutex_;
  std::map<Content, Module> modules_;
  uint64_t unloads_seen_ = 0;  // of images, when it was last looked for modules that are left
  std::map<std::pair<CuModule, std::string>, CuFunction> functions_;
  std::unordered_map<CuFunction, int64_t> shared_bytes_;  // where more than any may have
};

// What one thread remembers of them, so that a launch takes no lock and reads no code.
class CudaFunctions {
 public:
  int32_t Find(CudaModules& modules, const PkKernel& kernel, CuFunction* function);

 private:
  struct Known {
    uint64_t unloads;  // of images when it was noted (image.h)
    PkKernel kernel;   // as it was then: where it is in no image, nobody says that it has gone
    CuFunction function;
  };
  std::unordered_map<const PkKernel*, Known> known_;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_MODULES_H_
