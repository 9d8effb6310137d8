#include "passes/lowering/lower_device_scans.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/scan_costs.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::Attr;
using ir::OpCode;
using ir::Operand;
using Operands = LoopWriter::Operands;

namespace {

constexpr int kCheap = 16;  // What costs no more is written for whole chunks apart.

}  // namespace

DeviceScanLowering::ChunkGrid DeviceScanLowering::GridOf(const ir::Binding& scan,
                                                         const Operand& scans,
                                                         const Operand& length) {
  const int64_t block = scan.attrs.Int(Attr::kBlock), lanes = scan.attrs.Int(Attr::kLanes);
  const Operand chunks = CeilDiv(length, Int(block));
  const Operand rows = CeilDiv(chunks, Int(lanes * lanes));
  const int64_t words = WordsOf(scan.blocks[1]->results);
  const Operand entries = builder().Mul(builder().Add(chunks, rows), scans);
  return {block,
          block / lanes,
          scans,
          chunks,
          StartLookBack(chunks, builder().Mul(entries, Int(words))),
          words};
}

void DeviceScanLowering::ScanOnDevice(const Reduction& r, const Arrays& results, const Put& put,
                                      bool puts_cheaply) {
  const ChunkGrid grid = GridOf(r.binding, Int(1), r.extents[0]);
  const DeviceScan scan{r, grid, results, put, puts_cheaply};
  Blocks(grid.chunks, [&](const Operand& number) { WriteChunk(scan, number); });
}

void DeviceScanLowering::WriteChunk(const ChunkGrid& grid, const Reduction& r,
                                    const Operand& number, const Put& put, bool puts_cheaply) {
  WriteChunk(DeviceScan{r, grid, {}, put, puts_cheaply}, number);
}

void DeviceScanLowering::WriteChunk(const DeviceScan& scan, const Operand& number) {
  const int64_t threads = scan.grid.threads;
  const Chunk chunk = TakeChunk(scan, number);
  TakeElements(scan, chunk);
  FoldRuns(scan, chunk);
  Threads(threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishTotal(scan, chunk); });
    AwaitOthers(scan, chunk, thread);
  });
  Threads(threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kLt, {thread, Int(scan.reduction.lanes)}),
       [&] { FoldOthers(scan, chunk, thread); });
    AwaitRow(scan, chunk, thread);
  });
  Threads(threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishRow(scan, chunk); });
    If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), [&] { WriteRun(scan, chunk, thread); });
  });
  if (!chunk.elements.empty()) StoreChunk(scan, chunk);
}

DeviceScanLowering::Chunk DeviceScanLowering::TakeChunk(const DeviceScan& scan,
                                                        const Operand& number) {
  const Reduction& r = scan.reduction;
  Chunk chunk;
  const ChunkGrid& grid = scan.grid;
  const Operand line = builder().Remainder(number, grid.scans);
  SetPlace(grid, r.lanes, line, builder().Quotient(number, grid.scans), &chunk);
  const Operand size = Min(builder().Sub(r.extents[0], chunk.start), Int(grid.length));
  chunk.size = {grid.threads, r.lanes, size,
                builder().Scalar(OpCode::kEq, {size, Int(grid.length)})};
  chunk.runs = CeilDiv(size, Int(r.lanes));
  const auto shared = [&](int64_t count) { return AllocateParts(r.binding, Int(count)); };
  if (HasElementsInShared(r.binding)) chunk.elements = shared(grid.length + grid.threads);
  for (const Operand& result : r.binding.blocks[1]->results) {
    if (!IsCheap(r)) break;
    const ir::Type type = ir::Type::Array(ir::DTypeOf(result), {Int(grid.threads), Int(r.lanes)});
    chunk.prefixes.push_back(builder().EmitOne(OpCode::kAlloc, type, type.dims(),
                                               {{Attr::kPrivate, int64_t{1}}}, {}, "prefixes"));
  }
  chunk.before_run = shared(grid.threads);
  chunk.before_group = shared(grid.threads / r.lanes);
  AllocateWaiting(r.binding, r.lanes, 1, &chunk);
  return chunk;
}

void DeviceScanLowering::SetPlace(const ChunkGrid& grid, int64_t lanes, const Operand& line,
                                  const Operand& place, Chunk* chunk) {
  const int64_t chunks_of_row = lanes * lanes;
  chunk->line = line;
  chunk->place = place;
  chunk->row = builder().Quotient(place, Int(chunks_of_row));
  chunk->rank = builder().Remainder(place, Int(chunks_of_row));
  chunk->start = builder().Mul(place, Int(grid.length));
}

void DeviceScanLowering::AllocateWaiting(const ir::Binding& scan, int64_t lanes, int64_t count,
                                         Chunk* chunk) {
  const auto shared = [&](int64_t of_chunk) { return AllocateParts(scan, Int(count * of_chunk)); };
  chunk->total = Expose(shared(1));
  chunk->totals = Expose(shared(lanes * lanes));
  chunk->groups = shared(lanes);
  chunk->before_row = Expose(shared(1));
  chunk->behind_row = Expose(shared(1));
}

// Of so many for each chunk.
Operand DeviceScanLowering::OfChunk(const Chunk& chunk, int64_t count, const Operand& k) {
  if (chunk.entry.IsInt(0)) return k;
  return builder().Add(builder().Mul(chunk.entry, Int(count)), k);
}

bool DeviceScanLowering::IsCheap(const Reduction& r) {
  return CostOf(*r.binding.blocks[1]) <= kCheap;
}

Operands DeviceScanLowering::FoldEntries(const Reduction& r, const Arrays& entries,
                                         const Operand& lo, const Operand& hi, int64_t most,
                                         bool keeps_before) {
  const Operands first = LoadAll(entries, lo);
  const auto step = [&](const Operand& k, const Operands& so_far, bool is_there) {
    Operands own = LoadAll(entries, k);
    if (!is_there) own = SelectAll(builder().Scalar(OpCode::kLt, {k, hi}), own, r.starts);
    if (keeps_before) StoreAll(entries, k, so_far);
    return Combine(r, so_far, own);
  };
  const auto any = [&] {
    return Carry(builder().Add(lo, Int(1)), hi, first,
                 [&](const Operand& k, const Operands& so_far) { return step(k, so_far, true); });
  };
  const auto all = [&](bool are_there) {
    return Carry(Int(1), Int(most), first, [&](const Operand& k, const Operands& so_far) {
      return step(builder().Add(lo, k), so_far, are_there);
    });
  };
  if (!IsCheap(r)) return any();
  if (!r.starts.empty()) return all(false);
  const Operand is_whole = builder().Scalar(OpCode::kEq, {builder().Sub(hi, lo), Int(most)});
  return Choose(is_whole, [&] { return all(true); }, any);
}

Operands DeviceScanLowering::SelectAll(const Operand& condition, const Operands& values,
                                       const Operands& otherwise) {
  Operands selected;
  for (size_t k = 0; k < values.size(); ++k)
    selected.push_back(builder().Scalar(OpCode::kSelect, {condition, values[k], otherwise[k]}));
  return selected;
}

// --- The chunk's own ---

void DeviceScanLowering::TakeElements(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const auto take = [&](const Operand& k, const Operand& spread) {
    StoreAt(scan, chunk, k, spread, Element(r, {builder().Add(chunk.start, k)}));
  };
  const bool is_cheap = CostOf(*r.binding.blocks[0]) <= kCheap;
  Threads(scan.grid.threads,
          [&](const Operand& thread) { EachOf(chunk.size, thread, is_cheap, take); });
}

Operands DeviceScanLowering::ElementAt(const DeviceScan& scan, const Chunk& chunk, const Operand& k,
                                       const Operand& spread) {
  if (chunk.elements.empty()) return LoadAll(scan.results, builder().Add(chunk.start, k));
  return LoadAll(chunk.elements, spread);
}

void DeviceScanLowering::StoreAt(const DeviceScan& scan, const Chunk& chunk, const Operand& k,
                                 const Operand& spread, const Operands& values) {
  if (chunk.elements.empty()) return StoreAll(scan.results, builder().Add(chunk.start, k), values);
  StoreAll(chunk.elements, spread, values);
}

void DeviceScanLowering::KeepPrefix(const DeviceScan& scan, const Chunk& chunk,
                                    const Operand& thread, const PlaceInRun& place,
                                    const Operands& prefix) {
  if (!place.is_constant) return StoreAt(scan, chunk, place.k, place.spread, prefix);
  for (size_t k = 0; k < prefix.size(); ++k)
    builder().Store(chunk.prefixes[k], {thread, place.step}, prefix[k]);
}

Operands DeviceScanLowering::KeptPrefix(const DeviceScan& scan, const Chunk& chunk,
                                        const Operand& thread, const PlaceInRun& place) {
  if (!place.is_constant) return ElementAt(scan, chunk, place.k, place.spread);
  Operands prefix;
  for (const ir::Var* array : chunk.prefixes)
    prefix.push_back(builder().Load(array, {thread, place.step}));
  return prefix;
}

// The first element is its own prefix: in its place already, but not in the registers.
void DeviceScanLowering::FoldRuns(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  Threads(scan.grid.threads, [&](const Operand& thread) {
    const auto step = [&](const PlaceInRun& place, const Operands& so_far) {
      const Operands own = Combine(r, so_far, ElementAt(scan, chunk, place.k, place.spread));
      KeepPrefix(scan, chunk, thread, place, own);
      return own;
    };
    If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), [&] {
      const Operand lo = builder().Mul(thread, Int(r.lanes));
      const Operands first = ElementAt(scan, chunk, lo, Spread(lo, r.lanes));
      if (!chunk.prefixes.empty()) KeepPrefix(scan, chunk, thread, {Int(0), lo, lo, true}, first);
      StoreAll(chunk.before_run, thread,
               CarryRun(chunk.size, thread, true, IsCheap(r), first, step));
    });
  });
  Threads(scan.grid.threads / r.lanes, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(r.lanes));
    If(builder().Scalar(OpCode::kLt, {lo, chunk.runs}), [&] {
      const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.runs);
      StoreAll(chunk.before_group, group, FoldEntries(r, chunk.before_run, lo, hi, r.lanes, true));
    });
  });
}

void DeviceScanLowering::PublishTotal(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const Operand groups = CeilDiv(chunk.runs, Int(r.lanes));
  const Operands total =
      FoldEntries(r, chunk.before_group, Int(0), groups, scan.grid.threads / r.lanes, true);
  StoreAll(chunk.total.arrays, Int(0), total);
  If(scan.grid.look_back.is_many,
     [&] { Publish(scan.grid.look_back, WordOf(scan, chunk, chunk.place), chunk.total, Int(0)); });
}

// --- What is before it ---

// The first chunks of the row, for which most wait, are the last threads'.
void DeviceScanLowering::AwaitOthers(const DeviceScan& scan, const Chunk& chunk,
                                     const Operand& thread) {
  const auto await = [&](const Operand& rank) {
    const Operand other = builder().Add(builder().Sub(chunk.place, chunk.rank), rank);
    const int64_t all = scan.reduction.lanes * scan.reduction.lanes;
    Await(scan.grid.look_back, WordOf(scan, chunk, other), chunk.totals, OfChunk(chunk, all, rank));
  };
  Loop(builder().Sub(Int(scan.grid.threads - 1), thread), chunk.rank, {}, await, scan.grid.threads);
}

Operand DeviceScanLowering::WordOf(const DeviceScan& scan, const Chunk& chunk,
                                   const Operand& place) {
  const Operand entry = builder().Add(builder().Mul(place, scan.grid.scans), chunk.line);
  return builder().Mul(entry, Int(scan.grid.words));
}

void DeviceScanLowering::FoldOthers(const DeviceScan& scan, const Chunk& chunk,
                                    const Operand& group) {
  const Reduction& r = scan.reduction;
  const Operand lo = builder().Mul(group, Int(r.lanes));
  If(builder().Scalar(OpCode::kLt, {lo, chunk.rank}), [&] {
    const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.rank);
    const int64_t all = r.lanes * r.lanes;
    StoreAll(chunk.groups, OfChunk(chunk, r.lanes, group),
             FoldEntries(r, chunk.totals.arrays, OfChunk(chunk, all, lo), OfChunk(chunk, all, hi),
                         r.lanes, false));
  });
}

void DeviceScanLowering::AwaitRow(const DeviceScan& scan, const Chunk& chunk,
                                  const Operand& thread) {
  const Operand has_before = builder().Scalar(OpCode::kGt, {chunk.row, Int(0)});
  const Operand is_mine =
      builder().Scalar(OpCode::kEq, {thread, Int(std::min(kWaitsForRow, scan.grid.threads - 1))});
  If(builder().Scalar(OpCode::kAnd, {has_before, is_mine}), [&] {
    const Operand word = WordOf(scan, chunk, builder().Add(scan.grid.chunks, chunk.row));
    Await(scan.grid.look_back, word, chunk.before_row, chunk.entry);
  });
}

Operands DeviceScanLowering::BeforeGroups(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const Operand own = builder().Quotient(chunk.rank, Int(r.lanes));
  return FoldEntries(r, chunk.groups, OfChunk(chunk, r.lanes, Int(0)), OfChunk(chunk, r.lanes, own),
                     r.lanes, false);
}

// By the last block of a row that another follows.
void DeviceScanLowering::PublishRow(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const Operand is_last = builder().Scalar(OpCode::kEq, {chunk.rank, Int(r.lanes * r.lanes - 1)});
  const Operand goes_on =
      builder().Scalar(OpCode::kLt, {builder().Add(chunk.place, Int(1)), scan.grid.chunks});
  If(builder().Scalar(OpCode::kAnd, {is_last, goes_on}), [&] {
    const Operands group =
        Combine(r, LoadAll(chunk.groups, OfChunk(chunk, r.lanes, Int(r.lanes - 1))),
                LoadAll(chunk.total.arrays, chunk.entry));
    const Operands row = Combine(r, BeforeGroups(scan, chunk), group);
    const Operands behind = Choose(
        builder().Scalar(OpCode::kGt, {chunk.row, Int(0)}),
        [&] { return Combine(r, LoadAll(chunk.before_row.arrays, chunk.entry), row); },
        [&] { return AfterInits(r, row); });
    StoreAll(chunk.behind_row.arrays, chunk.entry, behind);
    const Operand next = builder().Add(scan.grid.chunks, builder().Add(chunk.row, Int(1)));
    Publish(scan.grid.look_back, WordOf(scan, chunk, next), chunk.behind_row, chunk.entry);
  });
}

// A level of which something is before: what `make` gives there. What does not exist is the
// identity, where there is one.
DeviceScanLowering::Before DeviceScanLowering::BeforeAt(const Reduction& r, const Operand& rank,
                                                        const std::function<Operands()>& make) {
  Operands nothing = r.starts;
  for (const Operand& result : r.binding.blocks[1]->results) {
    if (r.starts.empty()) nothing.push_back(builder().Cast(Int(0), ir::DTypeOf(result)));
  }
  const Operand exists = builder().Scalar(OpCode::kGt, {rank, Int(0)});
  return {r.starts.empty() ? exists : Operand::Bool(true),
          Choose(exists, make, [&] { return nothing; })};
}

// From the innermost level outwards.
std::vector<DeviceScanLowering::Before> DeviceScanLowering::BeforeRun(const DeviceScan& scan,
                                                                      const Chunk& chunk,
                                                                      const Operand& thread) {
  const Reduction& r = scan.reduction;
  const Operand rank = builder().Remainder(thread, Int(r.lanes));
  const Operand group = builder().Quotient(thread, Int(r.lanes));
  std::vector<Before> all = {
      BeforeAt(r, rank, [&] { return LoadAll(chunk.before_run, thread); }),
      BeforeAt(r, group, [&] { return LoadAll(chunk.before_group, group); })};
  for (Before& level : BeforeChunk(scan, chunk)) all.push_back(std::move(level));
  return all;
}

std::vector<DeviceScanLowering::Before> DeviceScanLowering::BeforeChunk(const DeviceScan& scan,
                                                                        const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const Operand group = builder().Quotient(chunk.rank, Int(r.lanes));
  const Operand rank = builder().Remainder(chunk.rank, Int(r.lanes));
  std::vector<Before> all = {
      BeforeAt(r, rank, [&] { return LoadAll(chunk.groups, OfChunk(chunk, r.lanes, group)); }),
      BeforeAt(r, group, [&] { return BeforeGroups(scan, chunk); })};
  const auto before_row = [&] { return LoadAll(chunk.before_row.arrays, chunk.entry); };
  if (r.inits.empty()) {
    all.push_back(BeforeAt(r, chunk.row, before_row));
  } else {
    const Operand exists = builder().Scalar(OpCode::kGt, {chunk.row, Int(0)});
    all.push_back({Operand::Bool(true), Choose(exists, before_row, [&] { return r.inits; })});
  }
  return all;
}

// --- The prefixes ---

void DeviceScanLowering::WriteRun(const DeviceScan& scan, const Chunk& chunk,
                                  const Operand& thread) {
  const Reduction& r = scan.reduction;
  const std::vector<Before> before = BeforeRun(scan, chunk, thread);
  const auto store = [&](const PlaceInRun& place, const Operands&) {
    Operands prefix = KeptPrefix(scan, chunk, thread, place);
    for (const Before& level : before) {
      prefix = Choose(
          level.exists, [&] { return Combine(r, level.values, prefix); }, [&] { return prefix; });
    }
    StoreAt(scan, chunk, place.k, place.spread, prefix);
    return Operands{};
  };
  CarryRun(chunk.size, thread, false, IsCheap(r), {}, store);
}

void DeviceScanLowering::StoreChunk(const DeviceScan& scan, const Chunk& chunk) {
  const auto store = [&](const Operand& k, const Operand& spread) {
    scan.put(builder().Add(chunk.start, k), ElementAt(scan, chunk, k, spread));
  };
  Threads(scan.grid.threads,
          [&](const Operand& thread) { EachOf(chunk.size, thread, scan.puts_cheaply, store); });
}

}  // namespace parakeet::passes
