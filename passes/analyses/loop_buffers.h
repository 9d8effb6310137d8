#ifndef PARAKEET_PASSES_ANALYSES_LOOP_BUFFERS_H_
#define PARAKEET_PASSES_ANALYSES_LOOP_BUFFERS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// An array that each iteration of a loop makes. Where the loop carries it on, through one of the
// values that it carries after the other, buffers take turns: as many as live at once.
struct LoopBuffer {
  const ir::Binding* alloc;
  int64_t count = 1;
};

struct LoopBuffers {
  std::vector<LoopBuffer> buffers;
  // Those of one loop, inside or the outermost, that take turns.
  std::unordered_map<const ir::Binding*, std::vector<size_t>> turning;
  // For each array among the outermost loop's results the buffer that it is, and how many
  // iterations must have been for that.
  struct Result {
    size_t slot;
    size_t buffer;
    int64_t least_trips;
  };
  std::vector<Result> results;
};

// What a sequential loop between kernels makes and carries, where all of it can be made in front of
// it: each array that it carries is one that its iterations make. What stands in kernels, in `for`s
// over many threads and blocks, is theirs. Nothing where that is not so: arrays that change places,
// that branches choose, that are made in some iterations only.
std::optional<LoopBuffers> BuffersOf(const ir::Binding& loop);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_LOOP_BUFFERS_H_
