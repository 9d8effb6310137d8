#ifndef PARAKEET_PASSES_LOWERING_CONTRACTION_SIDES_H_
#define PARAKEET_PASSES_LOWERING_CONTRACTION_SIDES_H_

#include <optional>
#include <vector>

#include "passes/analyses/access_patterns.h"
#include "passes/lowering/lane_values.h"
#include "passes/lowering/lower_filters.h"

namespace parakeet::passes {

// What of a contraction's element function follows which of the two tiled indices, and how that is
// packed: in panels as wide as a tile, one step of the depth after the other.
class ContractionSides : public FilterLowering {
 public:
  // `vector_bytes`: of a register.
  ContractionSides(ir::Arena* arena, const ir::Function& function, int vector_bytes)
      : FilterLowering(arena, function), patterns_(function), vector_bytes_(vector_bytes) {}

 protected:
  using Index = Operands;

  // Which tiled indices a value changes with.
  enum Follows : uint8_t { kNeither = 0, kRows = 1, kColumns = 2, kBoth = 3 };

  // A value that follows one tiled index and is used with what follows the other. It is packed, in
  // the order [tile][depth][within the tile]. Of complex columns each vector is its real parts and
  // then its imaginary ones, so that no lane has to be moved where it is read.
  struct Packed {
    const ir::Binding* value;
    const ir::Var* buffer = nullptr;
  };

  // Tiles, or steps of the depth.
  struct Range {
    ir::Operand begin;
    ir::Operand end;
  };

  struct Side {
    Follows which;
    size_t axis;              // the free index
    int width;                // elements of it in a tile
    int lanes;                // as vectors of so many
    bool is_batched = false;  // whether it follows an untiled free index too
    bool has_one = false;     // whether only one tile is packed at a time,
    bool is_turned = false;   // or none: what lies along the depth is turned as it is summed
    std::vector<Packed> values = {};
    ir::Operand tiles = {};
    // Whether each rectangle packs its own, so many steps of the depth at a time,
    ir::Operand is_by_blocks = ir::Operand::Bool(false);
    // and to one place, where one thread takes all rectangles, the largest of so many tiles.
    ir::Operand is_reused = ir::Operand::Bool(false);
    ir::Operand each = {};
    // Of the tiles, and those of batches, how many are not packed: a rectangle packs its own alone.
    ir::Operand skipped = ir::Operand::Int(0);
    const ir::Var* finite = nullptr;  // of each group of tiles: whether all its floats are finite
  };

  struct Tiling {
    const ir::Binding& contract;
    ir::OpCode combine;         // a comparison says which of two stays
    ir::Operand start;          // what every sum begins with
    bool is_ordered;            // a min or max of floats, none nan where what is packed is finite
    Operands extents;           // of all free indices
    Operands summed;            // the extents that are summed over
    ir::Operand depth;          // and their product
    std::vector<size_t> outer;  // the free indices that no tile takes: a batch
    ir::Operand batches;        // and their product
    Side rows;
    Side columns;
    std::vector<Follows> follows = {};  // by binding of the element function
    ir::Operand is_direct = {};         // whether what may be is read where it lies, not packed
    ir::Operand is_streamed = {};       // and columns come from farther than the second cache
    ir::Operand block_depth = {};       // steps of the depth that are summed at a time
    ir::Operand is_mirrored = {};       // whether what lies below the diagonal is copied from above
  };

  static constexpr int kBytesOfLine = 64;

  int vector_bytes() const { return vector_bytes_; }
  // Whether there are thirty-two registers for sums.
  bool IsRoomy() const { return vector_bytes_ == 64; }

  // Bools of the IR.
  ir::Operand AtMost(const ir::Operand& size, int64_t most);
  ir::Operand MoreThan(const ir::Operand& size, int64_t least);
  ir::Operand Not(const ir::Operand& a) { return builder().Scalar(ir::OpCode::kNot, {a}); }
  ir::Operand Both(const ir::Operand& a, const ir::Operand& b);
  ir::Operand Either(const ir::Operand& a, const ir::Operand& b);

  // Finds what follows which index; false where that is not all that a tile needs to know.
  bool Classify(Tiling& tiling) const;
  // True where the side may be read where it lies: it is loads, columns side by side.
  bool MayBeDirect(const Tiling& tiling, const Side& side) const;
  // Whether all columns stay in the second cache, packed or not, and are read at no cost: complex
  // lanes have to be taken apart wherever they are read.
  ir::Operand AreNear(const Tiling& tiling);
  ir::Operand AreFar(const Tiling& tiling) { return Not(AreNear(tiling)); }
  ir::Operand BytesOfColumns(const Tiling& tiling);
  // Whether steps of the depth of one column push one another out of the first cache,
  ir::Operand ShareTheirPlaces(const Tiling& tiling);
  // and come from farther than the second one.
  ir::Operand AreScattered(const Tiling& tiling);
  // True of tiles for sixteen registers whose columns are read as they lie: a line of the cache.
  bool HasNarrowTiles(const Tiling& tiling) const;
  // Packs all tiles of a side, unless they are read where they lie, or are packed block by block.
  void Pack(const Tiling& tiling, Side& side, const ir::Attributes& kind);
  // Some tiles of a side, of one batch: those steps of the depth, of which `from` is packed first.
  struct Batch {
    Index outer;
    ir::Operand number;
  };
  void PackTiles(const Tiling& tiling, const Side& side, const Batch& batch, const Range& tiles,
                 const Range& steps, const ir::Operand& from);

  // The free indices with those of batch `batch`, the tiled ones unset.
  Index OuterIndex(const Tiling& tiling, const ir::Operand& batch);
  // True of a value whose vectors are packed as real and as imaginary parts.
  static bool IsPackedByParts(const Side& side, const Packed& packed);
  // One vector of what is packed, which begins `within` its panel.
  void StorePacked(const Side& side, const Packed& packed, const Operands& place, int within,
                   const ir::Operand& vector);
  ir::Operand LoadPacked(const Side& side, const Packed& packed, const Operands& place,
                         const ir::Operand& within, const LaneValues& lanes);
  ir::Operand TileIn(const Side& side, const ir::Operand& batch, const ir::Operand& tile);
  ir::Operand AreFinite(const Side& side, const ir::Operand& batch, const ir::Operand& tile);

  // Gives the element function's parameters, but for the tiled ones, their values.
  void SetIndices(const Tiling& tiling, const Index& outer, const ir::Operand& k,
                  LaneValues& lanes);
  // Writes one binding of the element function; loads that move with the lanes under `mask`.
  void Write(const ir::Binding& b, LaneValues& lanes, const std::optional<ir::Operand>& mask);
  // Which lanes of those from `start` on are below `extent`.
  ir::Operand MaskFrom(const ir::Operand& start, const ir::Operand& extent, int lanes);

  // The first lanes of all vectors, their second lanes, ...
  Operands Turned(const Operands& vectors);
  // How many steps of the depth are read across together; and of those, how many at a time.
  static int StepsAcross(const Side& side);
  static int StepsAtOnce(const Side& side, const Packed& packed);
  // A vector that begins at `start`, of each of `steps` steps of the depth from k on, StepsAtOnce
  // or less: read along the depth, index by index, and turned. What is beyond the last index is of
  // that.
  Operands ReadAcross(const Tiling& tiling, const Side& side, const Packed& packed,
                      const Index& outer, const ir::Operand& start, const ir::Operand& k,
                      int steps);
  // Asks for what is read of that index of the side at step k, where it lies.
  void PrefetchInPlace(const Tiling& tiling, const Side& side, const Packed& packed,
                       const Index& outer, const ir::Operand& k, const ir::Operand& start);
  // True where memory lies along the depth, not along the tile, of which lanes would be gathered.
  bool LieAcross(const Tiling& tiling, const Side& side) const;

  const AccessPatterns patterns_;

 private:
  // A step of the depth of a tile, and where it is packed.
  struct PlaceOfPacked {
    ir::Operand tile;
    ir::Operand slot;
    ir::Operand k;
    ir::Operand packed;
  };

  bool AddPacked(Tiling& tiling) const;
  static bool AreByParts(const Side& side);
  void PackGroup(const Tiling& tiling, const Side& side, const ir::Operand& group,
                 const Range& steps);
  void PrefetchTile(const Tiling& tiling, const Side& side, const Index& outer,
                    const ir::Operand& tile, const ir::Operand& k);
  void PackAcross(const Tiling& tiling, const Side& side, const Index& outer,
                  const PlaceOfPacked& place);
  Operands PackTile(const Tiling& tiling, const Side& side, const Index& outer,
                    const PlaceOfPacked& place, Operands finite);
  ir::Operand LoadMoving(const ir::Binding& load, const std::vector<LaneValue>& values,
                         const LaneValues& lanes, const std::optional<ir::Operand>& mask);
  ir::Operand Groups(const Side& side);

  const int vector_bytes_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_CONTRACTION_SIDES_H_
