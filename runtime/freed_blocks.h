// Memory of a CUDA device that was freed in the order of a stream, and waits for the stream's next
// allocation of its size: a time loop then asks the driver for nothing, and meets the same
// addresses again.
#ifndef PARAKEET_RUNTIME_FREED_BLOCKS_H_
#define PARAKEET_RUNTIME_FREED_BLOCKS_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/cuda_driver.h"

namespace parakeet::runtime {

class FreedBlocks {
 public:
  struct Block {
    CuAddress address;
    size_t bytes;
  };

  explicit FreedBlocks(CuStream stream) : stream_(stream) {}

  CuStream stream() const { return stream_; }

  // The one of that size that was freed last.
  std::optional<CuAddress> Take(size_t bytes);

  // False where some is too much then.
  bool Keep(Block block);

  // For the driver: large blocks, and those that were freed first.
  std::vector<Block> TakeTooMuch();
  std::vector<Block> TakeAll();

 private:
  const CuStream stream_;
  std::vector<Block> blocks_;  // in the order in which they were freed
  size_t bytes_ = 0;
};

}  // namespace parakeet::runtime

#endif  // PARAKEET_RUNTIME_FREED_BLOCKS_H_
