#ifndef PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_

#include <optional>
#include <utility>
#include <vector>

#include "passes/lowering/contraction_tiles.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes contractions as a packed, register-tiled nest (after Goto
// and van de Geijn, "Anatomy of high-performance matrix multiplication", 2008), for any element
// function and any combine.
//
// Two free indices are tiled: rows and columns. What follows either is packed once, in panels as
// wide as a tile. Threads take rectangles of tiles; in each, the depth is cut into blocks whose
// panel stays in cache while the rows pass by. Every element is summed in index order, so its bits
// depend neither on the tile nor on the threads.
class ContractionLowering : public ContractionTiles {
 public:
  using ContractionTiles::ContractionTiles;

 protected:
  // How the contraction is tiled; nothing where no pair of indices can be.
  std::optional<Tiling> FindTiling(const ir::Binding& b);
  // True of a product that is sooner made element by element than packed.
  ir::Operand IsSmall(const Tiling& tiling);
  // Writes the contraction into `results`.
  void WriteTiled(Tiling tiling, const std::vector<const ir::Var*>& results);

 private:
  struct Range {
    ir::Operand begin;
    ir::Operand end;
  };

  bool Classify(Tiling& tiling) const;
  bool StaysOrdered(const Tiling& tiling, bool has_init) const;
  const ir::Var* SumsOf(const Tiling& tiling, const std::vector<const ir::Var*>& results);
  std::pair<ir::Operand, ir::Operand> Split(const ir::Operand& tiles, const ir::Operand& is_deep,
                                            int deep, int flat);
  void WriteRectangle(const Tiling& tiling, const ir::Var* sums, const Place& batch,
                      const Range& rows, const Range& columns);
  void WriteEpilogue(const Tiling& tiling, const ir::Var* sums,
                     const std::vector<const ir::Var*>& results, const Place& batch,
                     const Range& rows, const Range& columns);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_CONTRACTIONS_H_
