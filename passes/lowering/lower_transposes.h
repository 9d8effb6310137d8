#ifndef PARAKEET_PASSES_LOWERING_LOWER_TRANSPOSES_H_
#define PARAKEET_PASSES_LOWERING_LOWER_TRANSPOSES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "passes/lowering/lower_elements.h"

namespace parakeet::passes {

// The part of lower_to_loops that lets a GPU's neighbouring threads read and write neighbours where
// a nest reads along another index than it writes:
//
//   imap (%i, %j) in (%n, %m) { ... load %a[%j, %i] ... }
//
// is made a tile of 32 by 32 elements a block. Its threads first bring what is read along %i into
// shared memory, neighbours along %i each, and then make the elements, neighbours along %j each.
class TransposeLowering : public ElementLowering {
 public:
  using ElementLowering::ElementLowering;

 protected:
  struct Transposed {
    size_t along;  // the index that is read along,
    size_t fast;   // and the one that is written along
    std::vector<const ir::Binding*> loads;
  };

  // What an imap or foreach reads so; `fast` is the index that its elements lie along.
  std::optional<Transposed> FindTransposed(const ir::Binding& nest, size_t fast) const;
  // The axis of what a load of a nest's block reads that the index moves along; -1 where none.
  static int64_t AxisAlong(const ir::Binding& load, const ir::Block& body, const ir::Var* index);
  // Whether tiles are worth it, as a bool of sizes.
  ir::Operand WorthTransposing(const Transposed& transposed, const Operands& extents);
  // The kernel; `finish` takes what an element yields.
  void WriteTransposed(
      const ir::Binding& nest, const Transposed& transposed, const Operands& extents,
      const std::function<void(const Operands& index, const Operands& values)>& finish);

 private:
  struct Tile {
    const Transposed& transposed;
    const Operands& extents;
    Operands outer;  // the index, with the first place of the tile along both of its sides
    std::vector<const ir::Var*> arrays;  // by load
  };

  void Bring(const ir::Binding& nest, const Tile& tile, const Operands& index,
             const ir::Operand& place);
  // Every place of the tile, some for each thread: neighbours along `across` are neighbouring
  // threads'.
  void EachPlace(const Tile& tile, size_t across, size_t other,
                 const std::function<void(const Operands& index, const ir::Operand& own,
                                          const ir::Operand& beside)>& write);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_TRANSPOSES_H_
