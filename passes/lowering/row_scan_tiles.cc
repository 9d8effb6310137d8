// Scans of many lines to a block of threads: of rows and columns that are one chunk each, and of
// longer columns, of which a block has a chunk of some.
//
// A thread has a run of a line, in registers, as many elements as are combined at a level of the
// tree. Of columns, neighbouring threads have neighbouring columns; of rows, neighbouring runs. The
// tree is that of lower_device_scans.h: runs in groups, groups in the chunk, and the chunks of a
// line wait for one another as there.
#include <algorithm>
#include <bit>

#include "ir/builder.h"
#include "passes/lowering/block_threads.h"
#include "passes/lowering/lower_row_scans.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;

namespace {

// Columns that a block has at least: what memory hands out together.
constexpr int64_t kLeastTileColumns = 4;
constexpr int64_t kMostTileThreads = 1024;

}  // namespace

bool RowScanLowering::HasTiles(const Reduction& scan) const {
  return HasForm("gpu-row-tiles") && !scan.starts.empty() && !scan.has_arrays &&
         IsScalarCode(scan) && IsCheap(scan);
}

RowScanLowering::Tiles RowScanLowering::TilesOf(const Binding& nest, const Operands& extents,
                                                TileKind kind) {
  const Binding& scan = *RowScanOf(nest).scan;
  const int64_t lanes = scan.attrs.Int(Attr::kLanes);
  const int64_t runs_of_chunk = scan.attrs.Int(Attr::kBlock) / lanes;
  Tiles tiles{nest, RadixOf(extents), Product(extents), Apply(scan.operands[0]), kind};
  tiles.threads = kind == TileKind::kRows
                      ? std::max(kBlockThreads, runs_of_chunk)
                      : std::min(kMostTileThreads, kLeastTileColumns * runs_of_chunk);
  tiles.lanes = lanes;
  tiles.runs = CeilDiv(tiles.length, Int(lanes));
  tiles.shift =
      Int(kind == TileKind::kLongColumns ? std::bit_width(uint64_t(runs_of_chunk)) - 1 : 0);
  for (int64_t shift = 0; kind != TileKind::kLongColumns && int64_t{1} << shift < runs_of_chunk;
       ++shift) {
    const Operand is_more = builder().Scalar(OpCode::kGt, {tiles.runs, Int(int64_t{1} << shift)});
    tiles.shift = builder().Scalar(OpCode::kSelect, {is_more, Int(shift + 1), tiles.shift});
  }
  tiles.room = builder().Scalar(OpCode::kShl, {Int(1), tiles.shift});
  tiles.lines_of_block = builder().Scalar(OpCode::kShr, {Int(tiles.threads), tiles.shift});
  tiles.blocks = CeilDiv(tiles.lines, tiles.lines_of_block);
  return tiles;
}

// The threads of a block that have a run.
void RowScanLowering::EachPlace(const Tiles& tiles, const Operand& block, const PlaceBody& body) {
  Threads(tiles.threads, [&](const Operand& thread) {
    const bool are_columns = tiles.kind != TileKind::kRows;
    const Operand across = are_columns ? tiles.lines_of_block : tiles.room;
    const Operand inner = builder().Scalar(OpCode::kAnd, {thread, builder().Sub(across, Int(1))});
    const int64_t all = std::bit_width(uint64_t(tiles.threads)) - 1;
    const Operand shift = are_columns ? builder().Sub(Int(all), tiles.shift) : tiles.shift;
    const Operand outer = builder().Scalar(OpCode::kShr, {thread, shift});
    const bool is_long = tiles.kind == TileKind::kLongColumns;
    const Operand chunk = is_long ? builder().Quotient(block, tiles.blocks) : Int(0);
    const Operand tile = is_long ? builder().Remainder(block, tiles.blocks) : block;
    Place place;
    place.thread = thread;
    place.entry = are_columns ? inner : outer;
    place.line = builder().Add(builder().Mul(tile, tiles.lines_of_block), place.entry);
    place.run = are_columns ? outer : inner;
    place.base = builder().Scalar(OpCode::kShl, {place.entry, tiles.shift});
    place.chunk = chunk;
    const Operand before = builder().Scalar(OpCode::kShl, {chunk, tiles.shift});
    place.runs = Min(builder().Sub(tiles.runs, before), tiles.room);
    place.lo = builder().Mul(builder().Add(before, place.run), Int(tiles.lanes));
    If(builder().Scalar(OpCode::kLt, {place.line, tiles.lines}), [&] { body(place); });
  });
}

void RowScanLowering::WriteByTiles(const Binding& nest, const Operands& extents, TileKind kind) {
  const Tiles tiles = TilesOf(nest, extents, kind);
  const Binding& scan = *RowScanOf(nest).scan;
  const bool is_long = kind == TileKind::kLongColumns;
  ChunkGrid grid{};
  if (is_long) grid = GridOf(scan, tiles.lines, tiles.length);
  const Operand count = is_long ? builder().Mul(grid.chunks, tiles.blocks) : tiles.blocks;
  Blocks(count, [&](const Operand& block) {
    TileArrays arrays;
    for (const Operand& result : scan.blocks[1]->results) {
      const ir::Type type =
          ir::Type::Array(ir::DTypeOf(result), {Int(tiles.threads), Int(tiles.lanes)});
      arrays.own.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(),
                                             {{Attr::kPrivate, int64_t{1}}}, {}, "own"));
    }
    arrays.before_run = AllocateParts(scan, Int(tiles.threads));
    arrays.before_group = AllocateParts(scan, Int(tiles.threads));
    const int64_t lines = tiles.threads * tiles.lanes / scan.attrs.Int(Attr::kBlock);
    if (is_long) AllocateWaiting(scan, tiles.lanes, lines, &arrays.waiting);
    const auto where = [&](const Operand& run, const Operand& runs,
                           const std::function<void()>& body) {
      If(builder().Scalar(OpCode::kLt, {run, runs}), body);
    };
    EachPlace(tiles, block, [&](const Place& place) {
      where(place.run, place.runs, [&] { TakeRun(tiles, place, arrays); });
    });
    EachPlace(tiles, block, [&](const Place& place) {
      where(place.run, CeilDiv(place.runs, Int(tiles.lanes)), [&] {
        const Operand lo = builder().Mul(place.run, Int(tiles.lanes));
        const Operand hi = Min(builder().Add(lo, Int(tiles.lanes)), place.runs);
        StoreAll(arrays.before_group, builder().Add(place.base, place.run),
                 FoldBefore(tiles, place, arrays.before_run, lo, hi));
      });
    });
    EachPlace(tiles, block, [&](const Place& place) {
      where(place.run, Int(1), [&] {
        const Operand groups = CeilDiv(place.runs, Int(tiles.lanes));
        const Operands total = FoldBefore(tiles, place, arrays.before_group, Int(0), groups);
        if (is_long) PublishChunk(grid, place, arrays, total);
      });
      if (is_long)
        WithChunk(tiles, grid, place, arrays,
                  [&](const DeviceScan& s, const Chunk& c) { AwaitOthers(s, c, place.run); });
    });
    if (is_long)
      EachPlace(tiles, block, [&](const Place& place) {
        WithChunk(tiles, grid, place, arrays, [&](const DeviceScan& s, const Chunk& c) {
          where(place.run, Int(tiles.lanes), [&] { FoldOthers(s, c, place.run); });
          AwaitRow(s, c, place.run);
        });
      });
    EachPlace(tiles, block, [&](const Place& place) {
      if (is_long)
        where(place.run, Int(1), [&] {
          WithChunk(tiles, grid, place, arrays,
                    [&](const DeviceScan& s, const Chunk& c) { PublishRow(s, c); });
        });
      where(place.run, place.runs, [&] { PutRun(tiles, grid, place, arrays); });
    });
  });
}

void RowScanLowering::WithChunk(
    const Tiles& tiles, const ChunkGrid& grid, const Place& place, const TileArrays& arrays,
    const std::function<void(const DeviceScan& scan, const Chunk& chunk)>& body) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const Put put;
  Chunk chunk = arrays.waiting;
  chunk.entry = place.entry;
  SetPlace(grid, tiles.lanes, place.line, place.chunk, &chunk);
  body(DeviceScan{row.scan, grid, {}, put, true}, chunk);
}

void RowScanLowering::PublishChunk(const ChunkGrid& grid, const Place& place,
                                   const TileArrays& arrays, const Operands& total) {
  StoreAll(arrays.waiting.total.arrays, place.entry, total);
  If(grid.look_back.is_many, [&] {
    const Operand entry = builder().Add(builder().Mul(place.chunk, grid.scans), place.line);
    Publish(grid.look_back, builder().Mul(entry, Int(grid.words)), arrays.waiting.total,
            place.entry);
  });
}

// What each element of the run and those before it in the run combine to; last, what all do. An
// element in place of one that is not there is loaded for nothing.
void RowScanLowering::TakeRun(const Tiles& tiles, const Place& place, const TileArrays& arrays) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const Operand last = builder().Sub(tiles.length, Int(1));
  std::vector<Operands> elements;
  for (int64_t k = 0; k < tiles.lanes; ++k)
    elements.push_back(Element(row.scan, {Min(builder().Add(place.lo, Int(k)), last)}));
  Operands prefix = elements[0], total = prefix;
  for (int64_t k = 0; k < tiles.lanes; ++k) {
    if (k > 0) {
      const Operand at = builder().Add(place.lo, Int(k));
      prefix = Combine(row.scan, prefix, elements[size_t(k)]);
      total = SelectAll(builder().Scalar(OpCode::kLe, {at, last}), prefix, total);
    }
    for (size_t n = 0; n < arrays.own.size(); ++n)
      builder().Store(arrays.own[n], {place.thread, Int(k)}, prefix[n]);
  }
  StoreAll(arrays.before_run, builder().Add(place.base, place.run), total);
}

// What entries lo to hi of the line combine to; each but the first becomes what those before it do.
LoopWriter::Operands RowScanLowering::FoldBefore(const Tiles& tiles, const Place& place,
                                                 const Arrays& entries, const Operand& lo,
                                                 const Operand& hi) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const Operand first = builder().Add(place.base, lo);
  return Carry(builder().Add(first, Int(1)), builder().Add(place.base, hi), LoadAll(entries, first),
               [&](const Operand& k, const Operands& so_far) {
                 const Operands entry = LoadAll(entries, k);
                 StoreAll(entries, k, so_far);
                 return Combine(row.scan, so_far, entry);
               });
}

void RowScanLowering::PutRun(const Tiles& tiles, const ChunkGrid& grid, const Place& place,
                             const TileArrays& arrays) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const std::vector<Before> levels = BeforeRunOf(tiles, grid, place, arrays, row);
  for (int64_t k = 0; k < tiles.lanes; ++k) {
    const Operand index = builder().Add(place.lo, Int(k));
    If(builder().Scalar(OpCode::kLt, {index, tiles.length}), [&] {
      Operands prefix;
      for (const ir::Var* array : arrays.own)
        prefix.push_back(builder().Load(array, {place.thread, Int(k)}));
      for (const Before& level : levels) prefix = Combine(row.scan, level.values, prefix);
      StorePrefix(row.parts, index, prefix);
    });
  }
}

// From the innermost level outwards; the identity, where nothing is before it at one.
std::vector<RowScanLowering::Before> RowScanLowering::BeforeRunOf(const Tiles& tiles,
                                                                  const ChunkGrid& grid,
                                                                  const Place& place,
                                                                  const TileArrays& arrays,
                                                                  const Row& row) {
  const Operand group = builder().Quotient(place.run, Int(tiles.lanes));
  const Operand rank = builder().Remainder(place.run, Int(tiles.lanes));
  const auto before = [&](const Arrays& entries, const Operand& entry, const Operand& number) {
    const Operands made = LoadAll(entries, builder().Add(place.base, entry));
    const Operand exists = builder().Scalar(OpCode::kGt, {number, Int(0)});
    return Before{Operand::Bool(true), SelectAll(exists, made, row.scan.starts)};
  };
  std::vector<Before> levels = {before(arrays.before_run, place.run, rank),
                                before(arrays.before_group, group, group)};
  if (tiles.kind == TileKind::kLongColumns) {
    const Put put;
    Chunk chunk = arrays.waiting;
    chunk.entry = place.entry;
    SetPlace(grid, tiles.lanes, place.line, place.chunk, &chunk);
    for (Before& level : BeforeChunk(DeviceScan{row.scan, grid, {}, put, true}, chunk))
      levels.push_back(std::move(level));
  } else if (!row.scan.inits.empty()) {
    levels.push_back({Operand::Bool(true), row.scan.inits});
  }
  return levels;
}

}  // namespace parakeet::passes
