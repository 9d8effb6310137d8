#ifndef PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_

#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/low_tiles.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes contractions as a register-tiled nest (after Goto and van
// de Geijn, "Anatomy of high-performance matrix multiplication", 2008), for any element function
// and any combine.
//
// Two free indices are tiled: rows and columns. What follows either is packed once, in panels as
// wide as a tile, unless so little is read again that it is read where it lies. Threads take
// rectangles of tiles; in each, the depth is cut into blocks whose panel stays in cache while the
// rows pass by. Rows and columns that one rectangle alone reads it packs itself, a block at a time;
// one thread packs those of all its rectangles to one place, and takes larger rectangles. Every
// element is summed in index order, so its bits depend neither on the tile nor on the threads.
// Short sides have other tiles (low_tiles.h).
class ContractionLowering : public LowTiles {
 public:
  using LowTiles::LowTiles;

 protected:
  // How the contraction is tiled; nothing where no pair of indices can be.
  std::optional<Tiling> FindTiling(const ir::Binding& b);
  // True of a product that is sooner made element by element than packed.
  ir::Operand IsSmall(const Tiling& tiling);
  // Writes the contraction into `results`.
  void WriteTiled(Tiling tiling, const Results& results);

 private:
  // What one thread takes at a time: rows and columns of tiles, and the blocks of the depth.
  struct Rectangle {
    Range rows;
    Range columns;
    ir::Operand rows_each;  // The most that any rectangle has.
    ir::Operand columns_each;
    ir::Operand blocks;
    const ir::Var* slots;
  };

  // The tiles of a side, cut into so many parts of at most so many.
  struct Parts {
    ir::Operand count;
    ir::Operand each;
  };

  bool StaysOrdered(const Tiling& tiling, bool has_init) const;
  void ChooseWhereToRead(Tiling& tiling);
  ir::Operand AreReadByFew(const Tiling& tiling);
  // How rectangles cut the result, or one matrix of a batch.
  struct Grid {
    Parts high;
    Parts wide;
  };
  Grid Cut(const Tiling& tiling);
  // The tiles of one of them.
  Range PartOf(const Side& side, const Parts& parts, const ir::Operand& index);
  // The rectangle of that number, of so many in each batch, and the batch that it is of.
  ir::Operand TakeUnit(const Tiling& tiling, const Grid& grid, const ir::Operand& each,
                       const ir::Operand& unit, Rectangle& rectangle);
  ir::Operand SomeUnits(const Tiling& tiling, const ir::Operand& units);
  const ir::Var* AllocateSlots(const Tiling& tiling, const Rectangle& rectangle);
  void WriteRectangle(const Tiling& tiling, const Results& results, const Place& batch,
                      const Rectangle& rectangle);
  void WriteBlock(const Tiling& tiling, const Results& results, const Place& block,
                  const Rectangle& rectangle);
  // Those rows of one column of tiles.
  using TileWriter = void (ContractionLowering::*)(const Tiling&, const Results&, const Place&);
  void WriteColumn(const Tiling& tiling, const Results& results, const Place& block,
                   const Rectangle& rectangle, const Range& rows, const ir::Operand& column,
                   TileWriter write_tile);

  // Whether each rectangle packs what it reads of the side; of those there are `own` along it, and
  // `others` across.
  ir::Operand ArePackedByBlocks(const Tiling& tiling, const Side& side, const ir::Operand& own,
                                const ir::Operand& others, const ir::Operand& blocks);
  ir::Operand AreReused(const Tiling& tiling, const Side& side);
  // Whether one thread takes everything.
  ir::Operand IsSerial(const Tiling& tiling);
  // A product of a matrix by itself transposed, and its like, is symmetric: it is made on and above
  // the diagonal, and copied to below it.
  ir::Operand IsMirrored(const Tiling& tiling);
  // Behind which of `rows` no tile of that column has an element on or above the diagonal.
  ir::Operand EndOfRows(const Tiling& tiling, const Range& rows, const ir::Operand& column_tile);
  void Mirror(const Tiling& tiling, const Results& results, const ir::Attributes& kind);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
