#ifndef PARAKEET_PASSES_LOWERING_LOWER_TILES_H_
#define PARAKEET_PASSES_LOWERING_LOWER_TILES_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_transposes.h"

namespace parakeet::passes {

// The part of lower_to_loops that gives a GPU's block a tile of elements instead of a stretch of
// them, where elements read what their neighbours in other rows read: stencils, convolutions.
//
//   imap (%i, %j) in (%n, %m) { ... load %u[%i, %j] ... load %u[%i + 2, %j] ... }
//
// A block makes 8 by 32 elements. What its rows have in common comes from the cache of its
// processor; a stretch of a row would ask memory for every row anew.
class TileLowering : public TransposeLowering {
 public:
  using TransposeLowering::TransposeLowering;

 protected:
  // Whether an imap or foreach, whose elements lie along its index `fast`, is such a nest.
  static bool ReadsNeighbours(const ir::Binding& nest, size_t fast);
  // Whether tiles are worth it, as a bool of sizes; `order` has the indexes as they lie in memory.
  ir::Operand WorthStencilTiles(const std::vector<int>& order, const Operands& extents);
  void WriteStencilTiles(const std::vector<int>& order, const Operands& extents,
                         const std::function<void(const Operands& index)>& body);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_TILES_H_
