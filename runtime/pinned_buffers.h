// Host buffers that a CUDA device reads and writes by itself, without pinned pieces between.
//
// To pin a mapping costs as much as several copies save, so it is done to mappings of the pool
// (buffer_block.h) that results have come down to some times: they do again, as long as the pool
// has them. A mapping that goes back to the system is no longer pinned, and neither is any behind a
// fork: a child would get a copy of every pinned page, and on older systems the parent's pages
// would no longer be those that the device writes to.
#ifndef PARAKEET_RUNTIME_PINNED_BUFFERS_H_
#define PARAKEET_RUNTIME_PINNED_BUFFERS_H_

#include <cstdint>

#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

// Results come down to the buffer, which `Allocate` of buffers.h gave: it is pinned where that has
// happened often enough and the limit allows. With a context current, which stays.
void NoteResultBuffer(const CudaDriver& driver, void* buffer);

// Bytes of the host, pinned for as long as this lives, or not.
class PinnedUse {
 public:
  PinnedUse(const void* host, int64_t bytes);
  ~PinnedUse();
  PinnedUse(const PinnedUse&) = delete;
  PinnedUse& operator=(const PinnedUse&) = delete;

  bool is_pinned() const { return mapping_ != nullptr; }

 private:
  struct PinnedMapping* mapping_;
};

// No more bytes than this are pinned, beside the pieces; those that are stay so. 0: none. The
// default is half of what the pool keeps (DefaultPoolCap), up to 4 GiB.
void SetMostPinned(int64_t bytes);
int64_t MostPinned();
int64_t CountPinned();

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_PINNED_BUFFERS_H_
