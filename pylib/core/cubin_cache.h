// Kernels on disk as a CUDA driver has assembled them, in the folder of the disk cache and by its
// rules (cache_folder.h). An entry is found by the hash of its key (runtime/cubin_store.h) and
// holds the key as a whole, which is compared; what is damaged goes, and is assembled again.
#ifndef PARAKEET_PYLIB_CORE_CUBIN_CACHE_H_
#define PARAKEET_PYLIB_CORE_CUBIN_CACHE_H_

#include <memory>

#include "pylib/core/cache_folder.h"

namespace parakeet::pylib {

// Gives the runtime its store.
void StartCubinCache();

// When code is kept here (parakeet.config.gpu_cubins): the driver's linker makes it, which is
// slower code than the driver's own, so that mostly the driver is left to keep that.
enum class CubinUse { kNever, kWhereDriverKeepsNone, kAlways };
void SetCubinUse(CubinUse use);

// While it lives, what this thread launches first is looked for in `folder` and kept there; where
// that is null, and outside of any such scope, nowhere.
class CubinFolder {
 public:
  explicit CubinFolder(std::shared_ptr<CacheFolder> folder);
  ~CubinFolder();
  CubinFolder(const CubinFolder&) = delete;
  CubinFolder& operator=(const CubinFolder&) = delete;

 private:
  const std::shared_ptr<CacheFolder> folder_;
  CacheFolder* const before_;
};

}  // namespace parakeet::pylib

#endif  // PARAKEET_PYLIB_CORE_CUBIN_CACHE_H_
