#include "passes/lowering/lower_contractions.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_nans.h"
#include "passes/analyses/find_symmetry.h"
#include "passes/analyses/settled_extremes.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

namespace {

// The depth is cut into blocks of about this many steps; of fewer where columns are read where they
// lie, and that is far: as many rows of them are read side by side, each in long runs.
constexpr int kDepth = 192;
constexpr int kStreamedDepth = 32;
// The rows and the columns of a rectangle, in bytes, so that what they read over a block fits the
// second cache. Many rows pass by each panel that is fetched; where the depth is short the result
// is what takes time, and it is written by few long rows.
constexpr int kDeepRowBytes = 1024;
constexpr int kDeepBytes = 1536;
constexpr int kFlatRowBytes = 192;
constexpr int kFlatBytes = 3072;
// Of one thread that takes everything, rectangles are of so many bytes of rows and of columns: less
// is packed twice then, and all sums between blocks of the depth stay in the third cache. Within a
// block as many rows as above are taken at a time.
constexpr int kWholeRowBytes = 4096;
constexpr int kWholeBytes = 8192;
// Rectangles that a thread takes one after the other, of no fewer rows than these tiles: many, so
// that a core which gets on slowly leaves its own to others, and few where each would be short.
constexpr int kRounds = 10;
constexpr int kFewRounds = 3;
constexpr int kLeastTiles = 3;
// Products of fewer terms are not packed; of fewer than these, not shared. Matrices of a batch are
// shared out by so many terms.
constexpr int kSmall = 300;
constexpr int kSmallOfStep = 128;  // Of what a loop makes at each step, packed or not.
constexpr int kAlone = 1 << 21;
constexpr int kTermsOfTask = 1 << 18;
// Columns are not packed that so few tiles of rows read again, that are so few tiles, or that stay
// in the second cache. Beside packed columns, rows are not that so few tiles of columns read: a
// step of the depth after the other, they lie side by side as well as packed.
constexpr int kFewTilesOfRows = 24;
constexpr int kFewTilesOfColumns = 2;
constexpr int kFewTilesToReadRows = 8;
// Rows of columns that are so far apart have few places in the first cache, and are packed where
// more tiles of rows than these read them.
constexpr int kFewTilesThatShare = 5;
// Tiles for sixteen registers are narrower, a line of the cache of each row of columns, so that
// packing pays where fewer tiles of rows read it, but of columns that half the first cache holds.
constexpr int kFewTilesOfNarrow = 3;
constexpr int kBytesOfFirst = 1 << 14;
// Symmetric results of so many rows are made by half, and copied in squares of so many; where sums
// are so long, all that are wider than a tile.
constexpr int kFewestMirrored = 256;
constexpr int kLeastMirroredDepth = 32;
constexpr int kMirrorSquare = 32;

}  // namespace

std::optional<ContractionLowering::Tiling> ContractionLowering::FindTiling(const Binding& b) {
  const Block& element = *b.blocks[0];
  const DType dtype = ir::DTypeOf(element.results[0]);
  const size_t indices = element.params.size();
  const auto order = OrderOf(*b.blocks[1]);
  const auto combine = order ? order : ir::CombineOp(*b.blocks[1]);
  const Operands operands = Apply(b.operands);
  if (!combine || dtype == DType::kF16) return std::nullopt;
  if (indices == 0 || !WhyNotVector(element, element.params[0]).empty()) return std::nullopt;
  const auto identity = order ? std::nullopt : ir::IdentityOf(*combine, dtype);
  const bool has_init = operands.size() > indices;
  if (!identity && !has_init) return std::nullopt;
  const auto free = static_cast<size_t>(b.attrs.Int(Attr::kFree));
  const bool has_parts = ir::IsComplex(dtype);
  const int rows = RowsOfTile() / (has_parts ? 2 : 1);
  const int lanes = vector_bytes() / ir::SizeInBytes(dtype) * (has_parts ? 2 : 1);
  const Operands summed(operands.begin() + free, operands.begin() + indices);
  Tiling tiling{b,
                *combine,
                has_init ? operands.back() : Operand(*identity),
                false,
                {operands.begin(), operands.begin() + free},
                summed,
                Product(summed),
                {},
                Int(1),
                {kRows, 0, rows, rows},
                {kColumns, 0, VectorsOfTile() * lanes, lanes}};
  // Columns are the index along which results lie side by side, or the nearest to it; beside
  // them, a tile of rows that would mostly be empty is the last resort.
  const auto is_narrow = [&](size_t axis) {
    const Operand& extent = tiling.extents[axis];
    return extent.IsConstant() && extent.constant().integer <= rows / 2;
  };
  const bool is_fortran = b.attrs.Int(Attr::kFortran) != 0;
  for (size_t column = 0; column < free; ++column) {
    for (const bool may_be_narrow : {false, true}) {
      for (size_t row = 0; row < free; ++row) {
        tiling.columns.axis = is_fortran ? column : free - 1 - column;
        tiling.rows.axis = is_fortran ? row : free - 1 - row;
        if (row == column || is_narrow(tiling.rows.axis) != may_be_narrow || !Classify(tiling))
          continue;
        tiling.is_ordered = StaysOrdered(tiling, has_init);
        return tiling;
      }
    }
  }
  return std::nullopt;
}

// True where a min or max may be the processor's own as long as what is packed is finite.
bool ContractionLowering::StaysOrdered(const Tiling& tiling, bool has_init) const {
  const bool orders = tiling.combine == OpCode::kMin || tiling.combine == OpCode::kMax;
  if (!orders || has_init || !ir::IsFloat(ir::DTypeOf(tiling.start))) return false;
  std::vector<const Binding*> packed;
  for (const Side* side : {&tiling.rows, &tiling.columns}) {
    for (const Packed& p : side->values) packed.push_back(p.value);
  }
  return IsNumberIfFinite(*tiling.contract.blocks[0], packed);
}

Operand ContractionLowering::IsSmall(const Tiling& tiling) {
  const bool is_direct = MayBeDirect(tiling, tiling.rows) && MayBeDirect(tiling, tiling.columns);
  if (is_direct && repeats_ == 0) return Operand::Bool(false);
  const Operand terms = Product(
      {tiling.depth, tiling.extents[tiling.rows.axis], tiling.extents[tiling.columns.axis]});
  return builder().Scalar(OpCode::kLe, {terms, Int(is_direct ? kSmallOfStep : kSmall)});
}

// Says whether packing columns costs more than it saves, and how far away they are then. Rows go
// with them; where columns have to be packed, rows by themselves that few columns read again.
void ContractionLowering::ChooseWhereToRead(Tiling& tiling) {
  tiling.is_direct = tiling.is_streamed = Operand::Bool(false);
  if (!MayBeDirect(tiling, tiling.columns)) {
    if (MayBeDirect(tiling, tiling.rows))
      tiling.is_direct = AtMost(tiling.columns.tiles, kFewTilesToReadRows);
    return;
  }
  // All matrices of a batch would be packed before any is multiplied.
  if (tiling.outer.empty() && HasNarrowTiles(tiling)) {
    tiling.is_direct = AreReadByFew(tiling);
    tiling.is_streamed = Both(tiling.is_direct, AreFar(tiling));
    return;
  }
  const Operand few_rows = AtMost(tiling.rows.tiles, kFewTilesOfRows);
  const Operand few_columns = AtMost(tiling.columns.tiles, kFewTilesOfColumns);
  const Operand is_narrow = Either(few_rows, few_columns);
  const Operand are_near = AreNear(tiling);
  const Operand are_far = Not(are_near);
  const Operand are_few = AtMost(tiling.rows.tiles, kFewTilesThatShare);
  const Operand lie_well = Either(are_few, Not(ShareTheirPlaces(tiling)));
  tiling.is_direct = Both(lie_well, Either(are_near, is_narrow));
  tiling.is_streamed = Both(tiling.is_direct, are_far);
}

// Of tiles a line of the cache wide. A single tile of rows reads all columns once in any case.
Operand ContractionLowering::AreReadByFew(const Tiling& tiling) {
  const Operand are_one = AtMost(tiling.rows.tiles, 1);
  const Operand lie_well = Either(are_one, Not(AreScattered(tiling)));
  const Operand are_few = Both(AtMost(tiling.rows.tiles, kFewTilesOfNarrow), lie_well);
  const Operand fit = AtMost(BytesOfColumns(tiling), kBytesOfFirst);
  const Operand are_small = Both(AtMost(tiling.rows.tiles, kFewTilesOfRows), fit);
  const Operand are_read_once = AtMost(tiling.columns.tiles, kFewTilesOfColumns);
  return Either(are_read_once, Either(are_few, are_small));
}

ContractionLowering::Range ContractionLowering::PartOf(const Side& side, const Parts& parts,
                                                       const Operand& index) {
  const auto bound = [&](const Operand& part) {
    return builder().Quotient(builder().Mul(part, side.tiles), parts.count);
  };
  return {bound(index), bound(builder().Add(index, Int(1)))};
}

// Rectangles are as many as all threads take in some rounds, so that all end together, but none is
// larger than what the second cache holds. Few rows leave more for columns to share out.
ContractionLowering::Grid ContractionLowering::Cut(const Tiling& tiling) {
  const Side &rows = tiling.rows, &columns = tiling.columns;
  const Operand is_deep = builder().Scalar(OpCode::kGe, {tiling.depth, Int(kDepth / 2)});
  const Operand is_streamed = tiling.is_streamed;
  const auto choose = [&](const Operand& which, int bytes_if, int bytes_else, int bytes) {
    return builder().Scalar(OpCode::kSelect, {which, Int(std::max(1, bytes_if / bytes)),
                                              Int(std::max(1, bytes_else / bytes))});
  };
  const int height = ir::SizeInBytes(ir::DTypeOf(tiling.start)) * rows.width;
  const Operand has_many_rows = builder().Scalar(OpCode::kOr, {is_deep, is_streamed});
  Operand high = CeilDiv(rows.tiles, choose(has_many_rows, kDeepRowBytes, kFlatRowBytes, height));
  const Operand has_few_columns =
      builder().Scalar(OpCode::kAnd, {is_deep, builder().Scalar(OpCode::kNot, {is_streamed})});
  Operand wide = CeilDiv(columns.tiles, choose(has_few_columns, kDeepBytes, kFlatBytes,
                                               VectorsOfTile() * vector_bytes()));
  if (HasNarrowTiles(tiling)) {
    const Operand are_whole = Both(IsSerial(tiling), has_few_columns);
    const auto unless_whole = [&](const Operand& count, const Side& side, int tiles) {
      const Operand few = CeilDiv(side.tiles, Int(tiles));
      return builder().Scalar(OpCode::kSelect, {are_whole, few, count});
    };
    high = unless_whole(high, rows, std::max(1, kWholeRowBytes / height));
    wide = unless_whole(wide, columns, kWholeBytes / (VectorsOfTile() * vector_bytes()));
  }
  const Operand terms =
      Product({tiling.depth, tiling.extents[rows.axis], tiling.extents[columns.axis]});
  const Operand is_alone = builder().Scalar(OpCode::kLe, {terms, Int(kAlone)});
  if (tiling.contract.attrs.Int(Attr::kParallel) != 0) {
    const Operand threads = builder().EmitOne(OpCode::kTeam, DType::kI64, {});
    const Operand batches = Max(tiling.batches, Int(1));
    const Operand long_enough =
        builder().Quotient(builder().Mul(terms, batches), Int(kTermsOfTask));
    const Operand shared = Max(builder().Mul(threads, Int(kFewRounds)),
                               Min(builder().Mul(threads, Int(kRounds)), long_enough));
    const Operand units = builder().Scalar(OpCode::kSelect, {AtMost(threads, 1), Int(1), shared});
    const Operand wanted = builder().Quotient(units, batches);
    const auto at_least = [&](const Operand& count, const Operand& limit, const Operand& others) {
      const Operand share = builder().Quotient(wanted, Max(others, Int(1)));
      return Max(count, Min(share, limit));
    };
    high = at_least(high, builder().Quotient(rows.tiles, Int(kLeastTiles)), wide);
    wide = at_least(wide, columns.tiles, high);
  }
  const auto unless_alone = [&](const Operand& count, const Side& side) {
    const Operand one = Min(side.tiles, Int(1));
    const Operand parts = builder().Scalar(OpCode::kSelect, {is_alone, one, count});
    return Parts{parts, CeilDiv(side.tiles, Max(parts, Int(1)))};
  };
  return {unless_alone(high, rows), unless_alone(wide, columns)};
}

void ContractionLowering::WriteTiled(Tiling tiling, const Results& results) {
  const Attributes kind =
      tiling.contract.attrs.Int(Attr::kParallel) != 0 ? OverThreads() : Attributes{};
  for (size_t axis : tiling.outer)
    tiling.batches = builder().Mul(tiling.batches, tiling.extents[axis]);
  for (Side* side : {&tiling.columns, &tiling.rows})
    side->tiles = CeilDiv(tiling.extents[side->axis], Int(side->width));
  tiling.is_mirrored = IsMirrored(tiling);
  ChooseWhereToRead(tiling);
  const auto [high, wide] = Cut(tiling);
  const Operand depth_of_block =
      builder().Scalar(OpCode::kSelect, {tiling.is_streamed, Int(kStreamedDepth), Int(kDepth)});
  const Operand blocks = Max(CeilDiv(tiling.depth, depth_of_block), Int(1));
  tiling.block_depth = CeilDiv(tiling.depth, blocks);
  tiling.columns.each = wide.each;
  tiling.rows.each = high.each;
  tiling.columns.is_by_blocks =
      ArePackedByBlocks(tiling, tiling.columns, wide.count, high.count, blocks);
  tiling.rows.is_by_blocks = ArePackedByBlocks(tiling, tiling.rows, high.count, wide.count, blocks);
  for (Side* side : {&tiling.columns, &tiling.rows}) side->is_reused = AreReused(tiling, *side);
  for (Side* side : {&tiling.columns, &tiling.rows}) Pack(tiling, *side, kind);
  const Operand each = builder().Mul(high.count, wide.count);
  const Operand units = builder().Mul(tiling.batches, each);
  const Operand some = SomeUnits(tiling, units);
  Rectangle rectangle{{}, {}, high.each, wide.each, blocks, nullptr};
  Loop(Int(0), CeilDiv(units, some), kind, [&](const Operand& task) {
    rectangle.slots = AllocateSlots(tiling, rectangle);
    const Operand first = builder().Mul(task, some);
    Loop(first, Min(builder().Add(first, some), units), {}, [&](const Operand& unit) {
      const Operand batch = TakeUnit(tiling, {high, wide}, each, unit, rectangle);
      Tiling own = tiling;
      const auto skip = [&](Side& side, const Operand& first) {
        if (side.is_reused == Operand::Bool(false)) return;
        const Operand before = TileIn(side, batch, first);
        side.skipped = builder().Scalar(OpCode::kSelect, {side.is_reused, before, Int(0)});
      };
      skip(own.columns, rectangle.columns.begin);
      skip(own.rows, rectangle.rows.begin);
      WriteRectangle(own, results, {OuterIndex(tiling, batch), batch}, rectangle);
    });
  });
  if (tiling.is_mirrored != Operand::Bool(false))
    If(tiling.is_mirrored, [&] { Mirror(tiling, results, kind); });
}

// Small matrices of a batch are one rectangle each: as many divisions would take as long as they.
Operand ContractionLowering::TakeUnit(const Tiling& tiling, const Grid& grid, const Operand& each,
                                      const Operand& unit, Rectangle& rectangle) {
  const Side &rows = tiling.rows, &columns = tiling.columns;
  const auto parts = [&](const Operand& batch, const Operand& within) -> Operands {
    const Operand& across = grid.wide.count;
    const Range high = PartOf(rows, grid.high, builder().Quotient(within, across));
    const Range wide = PartOf(columns, grid.wide, builder().Remainder(within, across));
    return {batch, high.begin, high.end, wide.begin, wide.end};
  };
  const auto whole = [&]() -> Operands {
    return {unit, Int(0), rows.tiles, Int(0), columns.tiles};
  };
  const auto some = [&] {
    return parts(builder().Quotient(unit, each), builder().Remainder(unit, each));
  };
  const Operands taken = tiling.outer.empty()
                             ? parts(Int(0), unit)
                             : Choose(builder().Scalar(OpCode::kEq, {each, Int(1)}), whole, some);
  rectangle.rows = {taken[1], taken[2]};
  rectangle.columns = {taken[3], taken[4]};
  return taken[0];
}

// What one rectangle alone reads need not be packed before: what it packs of a block is in its
// caches, and what is read for long sums is far away.
Operand ContractionLowering::ArePackedByBlocks(const Tiling& tiling, const Side& side,
                                               const Operand& own, const Operand& others,
                                               const Operand& blocks) {
  const bool are_shared = !tiling.outer.empty() && !side.is_batched;
  const bool may_be_direct = MayBeDirect(tiling, side);
  const bool has_narrow = HasNarrowTiles(tiling);
  if (tiling.is_ordered || are_shared || (may_be_direct && !has_narrow))
    return Operand::Bool(false);
  const Operand is_one = AtMost(others, 1);
  Operand are_parts = MoreThan(blocks, 1);
  if (has_narrow) are_parts = Either(are_parts, MoreThan(own, 1));
  const Operand are_own = Both(is_one, are_parts);
  return may_be_direct ? Both(are_own, Not(tiling.is_direct)) : are_own;
}

// One thread takes rectangles in turn: what each packs for itself then is packed where the one
// before it had its own, which stays in the second cache.
Operand ContractionLowering::AreReused(const Tiling& tiling, const Side& side) {
  const Operand& are_own = side.is_by_blocks;
  if (are_own == Operand::Bool(false) || !HasNarrowTiles(tiling)) return Operand::Bool(false);
  const Operand is_serial = IsSerial(tiling);
  return is_serial == Operand::Bool(true) ? are_own : Both(are_own, is_serial);
}

Operand ContractionLowering::IsSerial(const Tiling& tiling) {
  if (tiling.contract.attrs.Int(Attr::kParallel) == 0) return Operand::Bool(true);
  return AtMost(builder().EmitOne(OpCode::kTeam, DType::kI64, {}), 1);
}

Operand ContractionLowering::IsMirrored(const Tiling& tiling) {
  const size_t row = tiling.rows.axis, column = tiling.columns.axis;
  const Operand& size = tiling.extents[row];
  if (size != tiling.extents[column]) return Operand::Bool(false);
  const std::vector<const Block*>& blocks = tiling.contract.blocks;
  const auto is_symmetric = [&](const Block& block) {
    return IsSymmetric(block, block.params[row], block.params[column]);
  };
  if (!is_symmetric(*blocks[0]) || (blocks.size() > 2 && !is_symmetric(*blocks[2])))
    return Operand::Bool(false);
  const Operand is_deep = builder().Scalar(OpCode::kGe, {tiling.depth, Int(kLeastMirroredDepth)});
  const Operand fewest = builder().Scalar(
      OpCode::kSelect, {is_deep, Int(tiling.columns.width + 1), Int(kFewestMirrored)});
  return builder().Scalar(OpCode::kGe, {size, fewest});
}

Operand ContractionLowering::EndOfRows(const Tiling& tiling, const Range& rows,
                                       const Operand& column_tile) {
  if (tiling.is_mirrored == Operand::Bool(false)) return rows.end;
  const Operand end_of_columns =
      builder().Mul(builder().Add(column_tile, Int(1)), Int(tiling.columns.width));
  const Operand end = Min(rows.end, CeilDiv(end_of_columns, Int(tiling.rows.width)));
  return builder().Scalar(OpCode::kSelect, {tiling.is_mirrored, end, rows.end});
}

void ContractionLowering::Mirror(const Tiling& tiling, const Results& results,
                                 const Attributes& kind) {
  const Operand& size = tiling.extents[tiling.rows.axis];
  const Operand squares = CeilDiv(size, Int(kMirrorSquare));
  const auto index_of = [&](const Index& outer, const Operand& row, const Operand& column) {
    Index index = outer;
    index[tiling.rows.axis] = row;
    index[tiling.columns.axis] = column;
    return index;
  };
  const auto copy = [&](const Index& outer, const Operand& row, const Operand& column) {
    for (const Var* result : results) {
      const Operand above = builder().Load(result, index_of(outer, column, row));
      builder().Store(result, index_of(outer, row, column), above);
    }
  };
  Loop(Int(0), builder().Mul(tiling.batches, squares), kind, [&](const Operand& task) {
    const Index outer = OuterIndex(tiling, builder().Quotient(task, squares));
    const Operand first_row = builder().Mul(builder().Remainder(task, squares), Int(kMirrorSquare));
    const Operand end_row = Min(builder().Add(first_row, Int(kMirrorSquare)), size);
    const auto copy_square = [&](const Operand& first_column) {
      const Operand end_column = builder().Add(first_column, Int(kMirrorSquare));
      Loop(first_row, end_row, {}, [&](const Operand& row) {
        Loop(first_column, Min(end_column, row), {},
             [&](const Operand& column) { copy(outer, row, column); });
      });
    };
    Loop(Int(0), end_row, {}, copy_square, kMirrorSquare);
  });
}

// How many rectangles a thread takes at a time: more of those that are small matrices of a batch.
Operand ContractionLowering::SomeUnits(const Tiling& tiling, const Operand& units) {
  if (tiling.outer.empty()) return Int(1);
  const Operand terms = Product(
      {tiling.depth, tiling.extents[tiling.rows.axis], tiling.extents[tiling.columns.axis]});
  const Operand worth = CeilDiv(Int(kTermsOfTask), Max(terms, Int(1)));
  return Max(Min(worth, units), Int(1));
}

// Sums of several blocks stand in a slot for each tile; what follows sums takes them from one.
const Var* ContractionLowering::AllocateSlots(const Tiling& tiling, const Rectangle& rectangle) {
  const bool has_epilogue = tiling.contract.blocks.size() > 2;
  const Operand tiles = builder().Mul(rectangle.rows_each, rectangle.columns_each);
  const Operand is_one = builder().Scalar(OpCode::kLe, {rectangle.blocks, Int(1)});
  const Operand count = builder().Scalar(OpCode::kSelect, {is_one, Int(has_epilogue), tiles});
  const Operands dims = {count, Int(tiling.rows.width), Int(tiling.columns.width)};
  const DType dtype = ir::DTypeOf(tiling.contract.blocks[0]->results[0]);
  return builder().EmitOne(OpCode::kAlloc, Type::Array(dtype, dims), dims, {}, {}, "sums");
}

void ContractionLowering::WriteRectangle(const Tiling& tiling, const Results& results,
                                         const Place& batch, const Rectangle& rectangle) {
  Place place = batch;
  place.slots = rectangle.slots;
  const Operand& step = tiling.block_depth;
  Loop(Int(0), rectangle.blocks, {}, [&](const Operand& block) {
    place.lo = builder().Mul(block, step);
    place.hi = Min(builder().Add(place.lo, step), tiling.depth);
    const auto pack = [&](const Side& side, const Range& tiles) -> Operand {
      if (side.is_by_blocks == Operand::Bool(false)) return Int(0);
      If(side.is_by_blocks, [&] {
        PackTiles(tiling, side, {batch.outer, batch.batch}, tiles, {place.lo, place.hi}, place.lo);
      });
      return builder().Scalar(OpCode::kSelect, {side.is_by_blocks, place.lo, Int(0)});
    };
    place.columns_from = pack(tiling.columns, rectangle.columns);
    place.rows_from = pack(tiling.rows, rectangle.rows);
    WriteBlock(tiling, results, place, rectangle);
  });
}

void ContractionLowering::WriteBlock(const Tiling& tiling, const Results& results,
                                     const Place& block, const Rectangle& rectangle) {
  const Range& columns = rectangle.columns;
  if (!MayHalve(tiling)) {
    const int height = ir::SizeInBytes(ir::DTypeOf(tiling.start)) * tiling.rows.width;
    const auto write_some = [&](const Operand& first, const Operand& end) {
      Loop(columns.begin, columns.end, {}, [&](const Operand& column) {
        WriteColumn(tiling, results, block, rectangle, {first, end}, column,
                    &ContractionLowering::WriteTile);
      });
    };
    const Range& rows = rectangle.rows;
    if (!HasNarrowTiles(tiling)) {
      write_some(rows.begin, rows.end);
      return;
    }
    const int some = std::max(1, kDeepRowBytes / height);
    Loop(
        rows.begin, rows.end, {},
        [&](const Operand& first) {
          write_some(first, Min(builder().Add(first, Int(some)), rows.end));
        },
        some);
    return;
  }
  // Apart, since code for both is longer than what is compiled as one.
  const Operand whole =
      builder().Quotient(tiling.extents[tiling.columns.axis], Int(tiling.columns.width));
  Loop(columns.begin, Min(columns.end, whole), {}, [&](const Operand& column) {
    WriteColumn(tiling, results, block, rectangle, rectangle.rows, column,
                &ContractionLowering::WriteWholeTile);
  });
  Loop(Max(columns.begin, whole), columns.end, {}, [&](const Operand& column) {
    WriteColumn(tiling, results, block, rectangle, rectangle.rows, column,
                &ContractionLowering::WriteRestOfTile);
  });
}

void ContractionLowering::WriteColumn(const Tiling& tiling, const Results& results,
                                      const Place& block, const Rectangle& rectangle,
                                      const Range& rows, const Operand& column,
                                      TileWriter write_tile) {
  const Operand is_one = builder().Scalar(OpCode::kLe, {rectangle.blocks, Int(1)});
  Loop(rows.begin, EndOfRows(tiling, rows, column), {}, [&](const Operand& row) {
    const Operand above =
        builder().Mul(builder().Sub(column, rectangle.columns.begin), rectangle.rows_each);
    const Operand own = builder().Add(above, builder().Sub(row, rectangle.rows.begin));
    Place place = block;
    place.row_tile = row;
    place.column_tile = column;
    place.slot = builder().Scalar(OpCode::kSelect, {is_one, Int(0), own});
    (this->*write_tile)(tiling, results, place);
    if (tiling.contract.blocks.size() < 3) return;
    If(builder().Scalar(OpCode::kEq, {place.hi, tiling.depth}),
       [&] { WriteEpilogue(tiling, results, place); });
  });
}

}  // namespace parakeet::passes
