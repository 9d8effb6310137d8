#ifndef PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_
#define PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_

#include <optional>
#include <vector>

#include "passes/lowering/contraction_sides.h"

namespace parakeet::passes {

// How a tile of a contraction's result is written, whose sums stay in registers over a block of the
// depth. Between blocks, and before what follows the sums, they stand in slots of a whole tile.
class ContractionTiles : public ContractionSides {
 public:
  using ContractionSides::ContractionSides;

 protected:
  // One tile: the free indices around it, its place in each side, the depth that it sums, and where
  // its sums stand in between.
  struct Place {
    Index outer;
    ir::Operand batch;
    ir::Operand row_tile = {};
    ir::Operand column_tile = {};
    ir::Operand lo = {};
    ir::Operand hi = {};
    const ir::Var* slots = nullptr;
    ir::Operand slot = {};
    // The steps of the depth that are packed first.
    ir::Operand rows_from = Int(0);
    ir::Operand columns_from = Int(0);
  };

  using Results = std::vector<const ir::Var*>;

  // A tile is some rows of a few registers each: 24 sums, three vectors of columns and one number
  // of a row a step fit the 32 registers of AVX-512, 12 sums the 16 of AVX. There, two registers a
  // row are a third faster than three (100 and 75 GF/s of float32 from the first cache of a Zen 3).
  int VectorsOfTile() const { return vector_bytes() == 64 ? 3 : 2; }
  int RowsOfTile() const { return vector_bytes() == 64 ? 8 : 6; }

  // Sums a tile on from its slot, or from the start where the depth begins. Where it ends, and
  // nothing follows, sums go to the result; else to the slot.
  void WriteTile(const Tiling& tiling, const Results& results, const Place& at);
  // A tile all columns of which there are, and one of fewer.
  void WriteWholeTile(const Tiling& tiling, const Results& results, const Place& at);
  void WriteRestOfTile(const Tiling& tiling, const Results& results, const Place& at);
  ir::Operand IsWholeTile(const Tiling& tiling, const ir::Operand& column_tile);
  // True where one code is for tiles of one vector, and another for those of two, whole or not: a
  // mask on the second costs nothing where the processor has masks for such elements.
  bool MayMaskLast(const Tiling& tiling) const;
  // True where a tile of few columns has code of its own.
  bool MayHalve(const Tiling& tiling) const {
    return vector_bytes() == 64 && !tiling.is_ordered && tiling.contract.blocks.size() < 3 &&
           tiling.columns.lanes >= 4 && MayBeDirect(tiling, tiling.rows);
  }
  // What follows the sums of a tile.
  void WriteEpilogue(const Tiling& tiling, const Results& results, const Place& at);

  // Which vectors of a part may have lanes that there are not.
  enum class Masked : uint8_t { kNone, kLast, kAll };

  // A part of a tile: some rows, and some vectors of columns, of so many lanes, all of which there
  // are unless they are masked. `finite`: no value is nan.
  struct Part {
    ir::Operand first_row;
    int rows;
    ir::Operand first_column;
    int vectors;
    int lanes;
    Masked masked = Masked::kNone;
    bool is_finite = false;
    std::optional<bool> is_direct = std::nullopt;  // where that is known
  };

  // Where a vector of columns begins, in the tile and in all, and which of its lanes there are.
  struct Columns {
    ir::Operand within;
    ir::Operand start;
    std::optional<ir::Operand> mask;
    Operands values = {};  // What the tile's are, where they are there already.
  };

  std::vector<Columns> ColumnsOf(const Tiling& tiling, const Place& at, const Part& part);
  // The sums of a part over its depth, from `starts` on.
  Operands SumUp(const Tiling& tiling, const Place& at, const Part& part,
                 const std::vector<Columns>& columns, bool is_direct, const Operands& starts);
  ir::Operand Combined(const Tiling& tiling, bool finite, const ir::Operand& sum,
                       const ir::Operand& element);
  ir::Operand Element(const Tiling& tiling, const Place& at, const ir::Operand& k,
                      const ir::Operand& row, int lanes, const Columns& columns, bool is_direct);
  void StoreSlot(const Place& at, const Part& part, const std::vector<Columns>& columns,
                 const Operands& values);
  void StoreRows(const Tiling& tiling, const ir::Var* result, const Place& at, const Part& part,
                 const std::vector<Columns>& columns, const Operands& values);

 private:
  // How many columns there are from that tile on.
  ir::Operand LeftFrom(const Tiling& tiling, const ir::Operand& column_tile);
  void WriteRows(const Tiling& tiling, const Results& results, const Place& at, Part part);
  void WritePart(const Tiling& tiling, const Results& results, const Place& at, const Part& part);
  void WriteMasked(const Tiling& tiling, const Results& results, const Place& at, int vectors);
  ir::Operand PackedStep(const Side& side, const Place& at, const ir::Operand& k);
  void PrefetchPanels(const Tiling& tiling, const Place& at, const ir::Operand& k, const Part& part,
                      const std::vector<Columns>& columns, bool is_direct);
  // Whether a side is read where it lies, in code for what is, or in that for packed ones.
  bool IsInPlace(const Tiling& tiling, const Side& side, bool is_direct) const {
    return is_direct && (side.is_turned || MayBeDirect(tiling, side));
  }
  ir::Operand RowOf(const Tiling& tiling, const Place& at, const ir::Operand& row);
  Operands LoadSlot(const Tiling& tiling, const Place& at, const Part& part,
                    const std::vector<Columns>& columns);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_
