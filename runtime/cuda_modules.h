// The modules of a CUDA device: kernels' code, loaded once (cuda_assembler.h).
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
#include "runtime/cuda_assembler.h"
#include "runtime/cuda_driver.h"
#include "runtime/device_abi.h"

namespace parakeet::runtime {

// Called by any thread, with the device's context current.
//
// Code goes some time after the images have gone that it was in (code_life.h), but stays
// where somebody launched it who did not say, or where it is in a graph, which might be launched or
// taken apart later.
class CudaModules {
 public:
  explicit CudaModules(const CudaDriver& driver) : driver_(driver), assembler_(driver) {}

  // Before any use.
  void Open(int architecture) { assembler_.Open(architecture); }

  // The kernel's function, ready for its shared memory. Kernels with equal code share modules,
  // wherever the code is. 0, or an error that is noted.
  int32_t Find(const PkKernel& kernel, CuFunction* function);

  // Keeps the module of a function that is in a graph.
  void KeepForGraph(CuFunction function);

  // How often the driver has assembled PTX.
  int64_t CountAssembled() const { return assembler_.CountAssembled(); }

 private:
  using Content = std::pair<uint64_t, int64_t>;  // hash and bytes of code

  // What became of a kernel's code: a module of each text.
  struct Loaded {
    std::vector<CuCode> codes;
    std::vector<CodeLife> users;
    bool stays = false;

    bool IsLeft() const;
  };

  static void NoteUser(Loaded* loaded);
  void UnloadWhatIsLeft();
  void Forget(CuModule module);
  CuResult FindIn(const Loaded& loaded, const char* name, CuFunction* function);
  int32_t ReserveShared(const PkKernel& kernel, CuFunction function);

  const CudaDriver& driver_;
  CudaAssembler assembler_;
  std::mutex mutex_;
  std::map<Content, Loaded> loaded_;
  uint64_t unloads_seen_ = 0;  // of images, when it was last looked for code that is left
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
