#ifndef PARAKEET_PASSES_LOWERING_LOWER_TURNED_TILES_H_
#define PARAKEET_PASSES_LOWERING_LOWER_TURNED_TILES_H_

#include <functional>
#include <optional>
#include <vector>

#include "passes/lowering/lower_transposes.h"

namespace parakeet::passes {

// The part of lower_to_loops that goes tile by tile, on a core, through a nest that reads along
// another index than it writes:
//
//   imap (%i, %j) in (%n, %m) { %a = load %x[%j, %i] ... }
//
// What is read along %i of a tile is brought into an array of the first cache, as many vectors side
// by side as they have lanes, which are turned in registers; the elements of the tile are then made
// in lanes along %j. Whole lines of memory are read and written, where lanes along either index by
// itself would touch a line for each of theirs.
class TurnedTileLowering : public TransposeLowering {
 public:
  using TransposeLowering::TransposeLowering;

 protected:
  // What a nest reads so; its `fast` is the index that lanes are to take, which all stores follow.
  std::optional<Transposed> FindTurned(const ir::Binding& nest) const;
  // Whether tiles are worth it, as a bool of sizes.
  ir::Operand WorthTurning(const ir::Binding& nest, const Transposed& turned,
                           const Operands& extents);
  // The loops over tiles, some of which one thread takes at a time. `kind` says of which kind the
  // outermost is, by how many elements an iteration makes; `finish` takes what an element yields.
  void WriteTurned(
      const ir::Binding& nest, const Transposed& turned, const Operands& extents,
      const std::function<ir::Attributes(int64_t elements)>& kind,
      const std::function<void(const Operands& index, const Operands& values)>& finish);

 private:
  // A tile: where it begins along both of its sides and how long these are, the arrays, by load,
  // and the index around it.
  struct TurnedTile {
    const ir::Binding& nest;
    const Transposed& turned;
    Operands index;
    ir::Operand along;
    ir::Operand fast;
    std::vector<const ir::Var*> arrays;
  };

  void BringTurned(const TurnedTile& tile, size_t load);
  void BringVectors(const TurnedTile& tile, size_t load, int lanes, const ir::Operand& along,
                    const ir::Operand& fast);
  void BringOne(const TurnedTile& tile, size_t load, const ir::Operand& along,
                const ir::Operand& fast);
  // Where the load reads for the element so far into the tile.
  Operands PlaceIn(const TurnedTile& tile, const ir::Binding& load, const ir::Operand& along,
                   const ir::Operand& fast);
  int LanesOf(const ir::Binding& load) const;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_TURNED_TILES_H_
