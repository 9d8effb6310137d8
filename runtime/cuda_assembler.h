// Kernels' code as modules of a CUDA device. The driver takes PTX and assembles it, which takes
// most of the time of loading: tens of milliseconds a kernel. It works in several threads at a time
// where code is loaded as a library, and for its linker; loading a module, it does one after
// another.
//
// What it makes it keeps on disk itself, for later processes, unless it may not; then, or where one
// asks for it, its linker makes a cubin, which the store has (cubin_store.h). Such code is slower:
// it calls functions, as for divisions, by the rules for code that is linked. On an H200 three
// float64 divisions an element took 0.189 ms for 0.173, a root of a quotient 0.101 for 0.088; what
// divides nothing takes as long.
#ifndef PARAKEET_RUNTIME_CUDA_ASSEMBLER_H_
#define PARAKEET_RUNTIME_CUDA_ASSEMBLER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

// Loaded code: a module of the current context, and the library that has it, where one does.
struct CuCode {
  CuModule module = nullptr;
  CuLibrary library = nullptr;
};

// Machine code, rather than PTX.
bool IsCubin(std::string_view code);

// Called by any thread, with the device's context current.
class CudaAssembler {
 public:
  explicit CudaAssembler(const CudaDriver& driver) : driver_(driver) {}

  // Before any use: the device's architecture, which with the driver's version decides what PTX
  // becomes.
  void Open(int architecture);

  // Loads PTX texts, or cubins, by as many threads as calls have. 0, or the error of the first that
  // is refused, which is noted, as of the kernel of that name, and nothing is loaded.
  int32_t Load(const std::vector<std::string>& texts, const char* kernel,
               std::vector<CuCode>* loaded);
  void Unload(const CuCode& code) const;

  // How often the driver has assembled PTX.
  int64_t CountAssembled() const { return assembled_.load(std::memory_order_relaxed); }

 private:
  struct Making;

  void Make(Making* making, bool is_kept);
  CuResult LoadAs(const std::string& code, CuCode* loaded, std::string* log) const;
  bool LoadCubin(const std::string& cubin, CuCode* loaded) const;
  std::string Assemble(const std::string& ptx);
  int32_t NoteRefusal(const Making& making, const char* kernel) const;

  const CudaDriver& driver_;
  std::string made_for_;  // what keys of the store begin with
  std::atomic<int64_t> assembled_{0};
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_CUDA_ASSEMBLER_H_
