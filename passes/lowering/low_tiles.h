#ifndef PARAKEET_PASSES_LOWERING_LOW_TILES_H_
#define PARAKEET_PASSES_LOWERING_LOW_TILES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/contraction_tiles.h"

namespace parakeet::passes {

// How a contraction with a short side is written: by tiles that are low and long, so that none is
// empty for the most part. The short side is their rows; where it is the columns of the result,
// lanes go along its rows. What follows the long side is read where it lies, or turned: as it is
// summed, or tile by tile into a panel that stays in the first cache. Elements are summed in index
// order, as in any tile.
class LowTiles : public ContractionTiles {
 public:
  using ContractionTiles::ContractionTiles;

 protected:
  // A way to tile the contraction, and which sizes it is for.
  struct Low {
    Tiling tiling;
    ir::Operand fits;
  };
  // From the best on; none in code that is made for long sides (Options::short_sides).
  std::vector<Low> FindLow(const Tiling& tiling);
  void WriteLow(Tiling tiling, const Results& results);

 private:
  std::optional<Tiling> LowTiling(const Tiling& tiling, bool is_across, int height, int vectors);
  void AddAcross(const Tiling& tiling, std::vector<Low>* found);
  void AddNarrow(const Tiling& tiling, std::vector<Low>* found);
  void Add(const Tiling& tiling, const Operands& conditions, std::vector<Low>* found);
  void AllocatePanel(Tiling& tiling);
  const ir::Var* AllocateSlot(const Tiling& tiling);
  void WriteLowTile(const Tiling& tiling, const Results& results, Place at);
  Operands SumUpPanels(const Tiling& tiling, const Place& at, const Part& part,
                       const std::vector<Columns>& columns, const Operands& starts);
  Operands SumUpTurned(const Tiling& tiling, const Place& at, const Part& part,
                       const std::vector<Columns>& columns, const Operands& starts);
  void AddStep(const Tiling& tiling, const Place& at, const Part& part,
               const std::pair<Columns, size_t>& vector, const ir::Operand& k, Operands& sums);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOW_TILES_H_
