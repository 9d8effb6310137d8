#ifndef PARAKEET_PASSES_LOWERING_LOWER_CONTRACTION_BLOCKS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_CONTRACTION_BLOCKS_H_

#include <string>
#include <vector>

#include "passes/lowering/lower_turned_tiles.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes contractions as kernels, for any element function and any
// combine. A block of threads makes a square tile of the result: what follows its rows and its
// columns over a few steps of the depth is brought into shared memory, and each thread keeps the
// sums of 4 by 4 elements. Every element is summed in index order.
class ContractionBlockLowering : public TurnedTileLowering {
 public:
  using TurnedTileLowering::TurnedTileLowering;

 protected:
  // "tiles of 64 by 64".
  static std::string TilesOfBlocks();
  // True where tiles are sooner made than elements alone; a constant where no tile fits.
  ir::Operand WorthTiles(const Tiling& tiling);
  void WriteTilesByBlocks(const Tiling& tiling, const Results& results);

 private:
  // A tile being written: the free indices around it, its first row and column, and the arrays of
  // the block, those of what is packed by side.
  struct Tile {
    Index outer;
    ir::Operand first_row;
    ir::Operand first_column;
    std::vector<const ir::Var*> rows;
    std::vector<const ir::Var*> columns;
    const ir::Var* sums;
  };

  std::vector<const ir::Var*> AllocateSide(const Side& side);
  void Bring(const Tiling& tiling, const Tile& tile, const Side& side, const ir::Operand& thread,
             const ir::Operand& depth);
  void SumSteps(const Tiling& tiling, const Tile& tile, const ir::Operand& thread,
                const ir::Operand& steps);
  void StoreSums(const Tiling& tiling, const Results& results, const Tile& tile,
                 const ir::Operand& thread);
  // The element function's bindings of some sides, with values for others.
  void WriteElement(const Tiling& tiling, std::vector<Follows> which, ir::Substitution& values);
  void SetIndex(const Tiling& tiling, const Tile& tile, const Side& side, const ir::Operand& index,
                const ir::Operand& depth, ir::Substitution& values);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_CONTRACTION_BLOCKS_H_
