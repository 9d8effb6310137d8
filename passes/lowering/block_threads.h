#ifndef PARAKEET_PASSES_LOWERING_BLOCK_THREADS_H_
#define PARAKEET_PASSES_LOWERING_BLOCK_THREADS_H_

#include <cstdint>

namespace parakeet::passes {

// Threads of a block of a GPU's, where nothing asks for another number: several fit a processor.
inline constexpr int64_t kBlockThreads = 256;

// Fewer blocks do not fill a GPU: two for each of its processors.
inline constexpr int64_t kFewBlocks = 264;

// The thread of a block that waits for a row of other blocks: of the second warp, since the first
// is the one that publishes.
inline constexpr int64_t kWaitsForRow = 32;

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_BLOCK_THREADS_H_
