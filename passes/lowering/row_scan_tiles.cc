// Scans of lines that are one chunk each, many lines to a block of threads.
//
// A thread has a run of a line, in registers, as many elements as are combined at a level of the
// tree. Of columns, neighbouring threads have neighbouring columns; of rows, neighbouring runs. The
// tree is that of lower_device_scans.h: runs in groups, groups in the chunk.
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

bool RowScanLowering::HasTiles(const Reduction& scan) {
  return !scan.starts.empty() && !scan.has_arrays && IsScalarCode(scan) && IsCheap(scan);
}

RowScanLowering::Tiles RowScanLowering::TilesOf(const Binding& nest, const Operands& extents,
                                                bool are_columns) {
  const Binding& scan = *RowScanOf(nest).scan;
  const int64_t lanes = scan.attrs.Int(Attr::kLanes);
  const int64_t runs_of_chunk = scan.attrs.Int(Attr::kBlock) / lanes;
  const int64_t threads = are_columns
                              ? std::min(kMostTileThreads, kLeastTileColumns * runs_of_chunk)
                              : std::max(kBlockThreads, runs_of_chunk);
  Tiles tiles{nest, RadixOf(extents), Product(extents), Apply(scan.operands[0])};
  tiles.are_columns = are_columns;
  tiles.threads = threads;
  tiles.lanes = lanes;
  tiles.runs = CeilDiv(tiles.length, Int(lanes));
  tiles.shift = Int(0);
  for (int64_t shift = 0; int64_t{1} << shift < runs_of_chunk; ++shift) {
    const Operand is_more = builder().Scalar(OpCode::kGt, {tiles.runs, Int(int64_t{1} << shift)});
    tiles.shift = builder().Scalar(OpCode::kSelect, {is_more, Int(shift + 1), tiles.shift});
  }
  tiles.room = builder().Scalar(OpCode::kShl, {Int(1), tiles.shift});
  tiles.lines_of_block = builder().Scalar(OpCode::kShr, {Int(threads), tiles.shift});
  return tiles;
}

// The threads of a block of which some have a part in it.
void RowScanLowering::EachPlace(const Tiles& tiles, const Operand& block, const PlaceBody& body) {
  Threads(tiles.threads, [&](const Operand& thread) {
    const Operand across = tiles.are_columns ? tiles.lines_of_block : tiles.room;
    const Operand inner = builder().Scalar(OpCode::kAnd, {thread, builder().Sub(across, Int(1))});
    const int64_t all = std::bit_width(uint64_t(tiles.threads)) - 1;
    const Operand shift = tiles.are_columns ? builder().Sub(Int(all), tiles.shift) : tiles.shift;
    const Operand outer = builder().Scalar(OpCode::kShr, {thread, shift});
    const Operand in_block = tiles.are_columns ? inner : outer;
    const Place place{thread, builder().Add(builder().Mul(block, tiles.lines_of_block), in_block),
                      tiles.are_columns ? outer : inner,
                      builder().Scalar(OpCode::kShl, {in_block, tiles.shift})};
    If(builder().Scalar(OpCode::kLt, {place.line, tiles.lines}), [&] { body(place); });
  });
}

void RowScanLowering::WriteByTiles(const Binding& nest, const Operands& extents, bool are_columns) {
  const Tiles tiles = TilesOf(nest, extents, are_columns);
  const Binding& scan = *RowScanOf(nest).scan;
  const Operand groups = CeilDiv(tiles.runs, Int(tiles.lanes));
  Blocks(CeilDiv(tiles.lines, tiles.lines_of_block), [&](const Operand& block) {
    Arrays own;
    for (const Operand& result : scan.blocks[1]->results) {
      const ir::Type type =
          ir::Type::Array(ir::DTypeOf(result), {Int(tiles.threads), Int(tiles.lanes)});
      own.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(),
                                      {{Attr::kPrivate, int64_t{1}}}, {}, "own"));
    }
    const Arrays before_run = AllocateParts(scan, Int(tiles.threads));
    const Arrays before_group = AllocateParts(scan, Int(tiles.threads));
    const auto where = [&](const Place& place, const Operand& count,
                           const std::function<void()>& body) {
      If(builder().Scalar(OpCode::kLt, {place.run, count}), body);
    };
    EachPlace(tiles, block, [&](const Place& place) {
      where(place, tiles.runs, [&] { TakeRun(tiles, place, own, before_run); });
    });
    EachPlace(tiles, block, [&](const Place& place) {
      where(place, groups, [&] {
        const Operand lo = builder().Mul(place.run, Int(tiles.lanes));
        const Operand hi = Min(builder().Add(lo, Int(tiles.lanes)), tiles.runs);
        StoreAll(before_group, builder().Add(place.base, place.run),
                 FoldBefore(tiles, place, before_run, lo, hi));
      });
    });
    EachPlace(tiles, block, [&](const Place& place) {
      where(place, Int(1), [&] { FoldBefore(tiles, place, before_group, Int(0), groups); });
    });
    EachPlace(tiles, block, [&](const Place& place) {
      where(place, tiles.runs, [&] { PutRun(tiles, place, own, before_run, before_group); });
    });
  });
}

// What each element of the run and those before it in the run combine to; last, what all do. An
// element in place of one that is not there is loaded for nothing.
void RowScanLowering::TakeRun(const Tiles& tiles, const Place& place, const Arrays& own,
                              const Arrays& before_run) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const Operand lo = builder().Mul(place.run, Int(tiles.lanes));
  const Operand last = builder().Sub(tiles.length, Int(1));
  std::vector<Operands> elements;
  for (int64_t k = 0; k < tiles.lanes; ++k)
    elements.push_back(Element(row.scan, {Min(builder().Add(lo, Int(k)), last)}));
  Operands prefix = elements[0], total = prefix;
  for (int64_t k = 0; k < tiles.lanes; ++k) {
    if (k > 0) {
      const Operand is_there = builder().Scalar(OpCode::kLe, {builder().Add(lo, Int(k)), last});
      prefix = Combine(row.scan, prefix, elements[size_t(k)]);
      total = SelectAll(is_there, prefix, total);
    }
    for (size_t n = 0; n < own.size(); ++n)
      builder().Store(own[n], {place.thread, Int(k)}, prefix[n]);
  }
  StoreAll(before_run, builder().Add(place.base, place.run), total);
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

void RowScanLowering::PutRun(const Tiles& tiles, const Place& place, const Arrays& own,
                             const Arrays& before_run, const Arrays& before_group) {
  const Row row = BeginRow(tiles.nest, IndexOf(place.line, tiles.radix));
  const Operand group = builder().Scalar(OpCode::kFloorDiv, {place.run, Int(tiles.lanes)});
  const Operand rank = builder().Scalar(OpCode::kMod, {place.run, Int(tiles.lanes)});
  const auto before = [&](const Arrays& entries, const Operand& entry, const Operand& number) {
    return SelectAll(builder().Scalar(OpCode::kGt, {number, Int(0)}),
                     LoadAll(entries, builder().Add(place.base, entry)), row.scan.starts);
  };
  const Operands of_run = before(before_run, place.run, rank);
  const Operands of_group = before(before_group, group, group);
  for (int64_t k = 0; k < tiles.lanes; ++k) {
    const Operand index = builder().Add(builder().Mul(place.run, Int(tiles.lanes)), Int(k));
    If(builder().Scalar(OpCode::kLt, {index, tiles.length}), [&] {
      Operands prefix;
      for (const ir::Var* array : own)
        prefix.push_back(builder().Load(array, {place.thread, Int(k)}));
      prefix = Combine(row.scan, of_run, prefix);
      prefix = Combine(row.scan, of_group, prefix);
      StorePrefix(row.parts, index, AfterInits(row.scan, prefix));
    });
  }
}

}  // namespace parakeet::passes
