#ifndef PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_

#include <optional>
#include <unordered_map>
#include <vector>

#include "passes/lowering/lane_values.h"
#include "passes/lowering/lower_reductions.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes contractions as a packed, register-tiled nest (after Goto
// and van de Geijn,
// "Anatomy of high-performance matrix multiplication", 2008), for any element function and any
// combine.
//
// Two free indices are tiled: rows and columns. Loads that follow the columns are packed once, in
// panels as wide as a tile; loads that follow the rows are packed for a block of rows at a time; a
// tile of accumulators then stays in registers over the whole sum. Each element is summed in index
// order, so its bits do not depend on the tile.
class ContractionLowering : public ReductionLowering {
 public:
  using ReductionLowering::ReductionLowering;

 protected:
  // Writes the contraction into `results`, or says false where no pair of indices can be tiled.
  bool LowerTiled(const ir::Binding& b, const std::vector<const ir::Var*>& results);

 private:
  // A load of the element function that is packed: in the order [tile][k][within the tile].
  struct Packed {
    const ir::Binding* load;
    const ir::Var* buffer = nullptr;
  };
  struct Tiling {
    const ir::Binding& contract;
    ir::Operand start;  // what every accumulator begins with
    int lanes;
    Operands extents;
    Operands summed;  // the extents that are summed over
    size_t free;
    size_t row;     // which free index is tiled as rows
    size_t column;  // and which as columns
    std::vector<Packed> lefts;
    std::vector<Packed> rights;
  };
  using Index = Operands;
  struct Range {
    ir::Operand begin;
    ir::Operand end;
  };

  const ir::Var* SumsOf(const ir::Binding& b, const std::vector<const ir::Var*>& results);
  std::optional<Tiling> FindTiling(const ir::Binding& b);
  bool Classify(Tiling& tiling) const;
  void WriteNest(Tiling tiling, const ir::Var* result, const std::vector<const ir::Var*>& results,
                 const Index& outer);
  // Packs `tiles` tiles, from `first`, of `width` elements along free index `axis`.
  void Pack(const Tiling& tiling, std::vector<Packed>& packed, size_t axis, int width,
            const ir::Operand& first, const ir::Operand& tiles, const Index& outer, bool parallel);
  void WriteTile(const Tiling& tiling, const ir::Var* result, const Index& outer,
                 const ir::Operand& left_tile, const ir::Operand& row, const ir::Operand& panel);
  ir::Operand Element(const Tiling& tiling, const Index& outer, const ir::Operand& k,
                      const ir::Operand& left_tile, int row, const ir::Operand& panel, int vector);
  void StoreTile(const Tiling& tiling, const ir::Var* result, const Index& outer,
                 const ir::Operand& row, const ir::Operand& column, const Operands& sums);
  void WriteEpilogue(const Tiling& tiling, const ir::Var* sums,
                     const std::vector<const ir::Var*>& results, const Index& outer,
                     const Range& rows, const Range& columns);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
