#ifndef PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_
#define PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_

#include <vector>

#include "passes/lowering/lane_values.h"
#include "passes/lowering/lower_filters.h"

namespace parakeet::passes {

// How the packed nest of a contraction is written: its operands in panels, and a tile of the
// result, whose sums stay in registers over a block of the depth.
class ContractionTiles : public FilterLowering {
 public:
  // `vector_bytes`: of a register.
  ContractionTiles(ir::Arena* arena, int vector_bytes)
      : FilterLowering(arena), vector_bytes_(vector_bytes) {}

 protected:
  using Index = Operands;

  // A load of the element function that is packed: in the order [tile][depth][within the tile].
  struct Packed {
    const ir::Binding* load;
    const ir::Var* buffer = nullptr;
  };

  // The loads that follow one of the two tiled indices.
  struct Side {
    size_t axis;              // the free index
    int width;                // elements of it in a tile
    int lanes;                // as vectors of so many
    bool is_batched = false;  // whether a load follows an untiled free index too
    std::vector<Packed> loads = {};
    ir::Operand tiles = {};
    const ir::Var* finite = nullptr;  // of each group of tiles: whether all its floats are finite
  };

  struct Tiling {
    const ir::Binding& contract;
    ir::OpCode combine;
    ir::Operand start;          // what every sum begins with
    bool is_ordered;            // a min or max of floats, none nan where what is packed is finite
    Operands extents;           // of all free indices
    Operands summed;            // the extents that are summed over
    ir::Operand depth;          // and their product
    std::vector<size_t> outer;  // the free indices that no tile takes: a batch
    ir::Operand batches;        // and their product
    Side rows;
    Side columns;
  };

  // One tile: the free indices around it, its place in each side, and the depth that it sums.
  struct Place {
    Index outer;
    ir::Operand batch;
    ir::Operand row_tile;
    ir::Operand column_tile;
    ir::Operand lo;
    ir::Operand hi;
  };

  // A tile is some rows of three registers each: its 24 sums, three vectors of columns and one
  // number of a row a step fit the 32 registers of AVX-512, 12 and as many the 16 of AVX.
  static constexpr int kVectors = 3;
  int RowsOfTile() const { return vector_bytes_ == 64 ? 8 : 4; }
  int vector_bytes() const { return vector_bytes_; }

  // Packs all tiles of a side.
  void Pack(const Tiling& tiling, Side& side, const ir::Attributes& kind);
  // Sums a tile on from what `sums` holds, or from the start where the depth begins.
  void WriteTile(const Tiling& tiling, const ir::Var* sums, const Place& at);

  // The free indices with those of batch `batch`, the tiled ones unset.
  Index OuterIndex(const Tiling& tiling, const ir::Operand& batch);

 private:
  // Some rows of a tile, from `first` on. `finite`: no value is nan.
  struct Rows {
    ir::Operand first;
    int count;
    bool finite;
  };

  // Where a vector of a tile's columns begins, and which of its lanes there are.
  struct Columns {
    ir::Operand start;
    ir::Operand mask;
  };

  Operands PackTile(const Tiling& tiling, const Side& side, const Index& outer,
                    const ir::Operand& tile, const ir::Operand& slot, const ir::Operand& k,
                    Operands finite);
  ir::Operand AreFinite(const Side& side, const ir::Operand& batch, const ir::Operand& tile);
  void WriteRows(const Tiling& tiling, const ir::Var* sums, const Place& at, const Rows& rows);
  ir::Operand Combined(const Tiling& tiling, bool finite, const ir::Operand& sum,
                       const ir::Operand& element);
  ir::Operand Element(const Tiling& tiling, const Place& at, const ir::Operand& k,
                      const ir::Operand& row, int vector);

  std::vector<Columns> ColumnsOf(const Side& side, const ir::Operand& extent,
                                 const ir::Operand& tile);
  ir::Operand RowOf(const Place& at, const Rows& rows, int row);
  // The place of a vector of sums, as load_lanes and store_lanes take it.
  Operands PlaceOf(const Tiling& tiling, const ir::Var* sums, const Place& at,
                   const ir::Operand& row, const Columns& columns);
  Operands LoadRows(const Tiling& tiling, const ir::Var* sums, const Place& at, const Rows& rows,
                    const std::vector<Columns>& columns);
  void StoreRows(const Tiling& tiling, const ir::Var* sums, const Place& at, const Rows& rows,
                 const std::vector<Columns>& columns, const Operands& values);
  ir::Operand TileIn(const Side& side, const ir::Operand& batch, const ir::Operand& tile);
  ir::Operand Groups(const Side& side);

  const int vector_bytes_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CONTRACTION_TILES_H_
