#ifndef PARAKEET_PASSES_LOWERING_LOOP_SPLITS_H_
#define PARAKEET_PASSES_LOWERING_LOOP_SPLITS_H_

#include <string>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// A `for` that carries values and stores, as two: one that carries and one that stores.
struct LoopSplit {
  std::string why_not;       // Empty where it can be split; the rest says nothing otherwise.
  ir::Block sums;            // What makes the carried values; takes and yields what the loop does.
  ir::Block stores;          // The rest; takes what the loop does, and yields nothing.
  bool stores_first = true;  // Which of the two runs first, and raises; the other needs no checks.
  bool sums_read_stores = false;  // What stores go to, before or behind them.
  bool sums_read_back = false;    // Behind some: a scan, which comes before all, would read other.
  bool stores_read_carried = false;  // They then take these values as prefixes.
};

// Assumes that no two iterations touch one element of what is stored to. What the sums read of it
// must come behind all stores to it, or before all: what an iteration stores and then adds up is
// read back rather than computed again.
LoopSplit SplitLoop(ir::Arena* arena, const ir::Binding& loop, const Roots& roots);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_SPLITS_H_
