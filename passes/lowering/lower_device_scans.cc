#include "passes/lowering/lower_device_scans.h"

#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Attr;
using ir::OpCode;
using ir::Operand;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kMostShared = 40000;  // Bytes of elements: several blocks fit a processor.
constexpr int kCheap = 16;              // What costs no more is written for whole chunks apart.
constexpr int64_t kWaitsForRow = 32;    // The thread that does, of a warp without the first chunks.

}  // namespace

Operand DeviceScanLowering::Spread(const Operand& k, int64_t run) {
  return builder().Add(k, builder().Scalar(OpCode::kFloorDiv, {k, Int(run)}));
}

void DeviceScanLowering::ScanOnDevice(const Reduction& r, const Arrays& results) {
  const int64_t length = r.binding.attrs.Int(Attr::kBlock);
  const Operand chunks = CeilDiv(r.extents[0], Int(length));
  const Operand rows = CeilDiv(chunks, Int(r.lanes * r.lanes));
  const DeviceScan scan{r,
                        results,
                        length,
                        length / r.lanes,
                        chunks,
                        StartLookBack(chunks, builder().Add(chunks, rows)),
                        AllocateParts(r.binding, chunks),
                        AllocateParts(r.binding, rows)};
  Blocks(chunks, [&](const Operand&) { WriteChunk(scan); });
}

void DeviceScanLowering::WriteChunk(const DeviceScan& scan) {
  const Chunk chunk = TakeChunk(scan);
  TakeElements(scan, chunk);
  FoldRuns(scan, chunk);
  Threads(scan.threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishTotal(scan, chunk); });
    AwaitOthers(scan, chunk, thread);
  });
  FoldOthers(scan, chunk);
  Threads(scan.threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), [&] { WriteRun(scan, chunk, thread); });
  });
  if (!chunk.elements.empty()) StoreChunk(scan, chunk);
}

DeviceScanLowering::Chunk DeviceScanLowering::TakeChunk(const DeviceScan& scan) {
  const Reduction& r = scan.reduction;
  const int64_t chunks_of_row = r.lanes * r.lanes;
  Chunk chunk;
  chunk.number = TakeNumber(scan.look_back);
  chunk.row = builder().Scalar(OpCode::kFloorDiv, {chunk.number, Int(chunks_of_row)});
  chunk.rank = builder().Scalar(OpCode::kMod, {chunk.number, Int(chunks_of_row)});
  chunk.start = builder().Mul(chunk.number, Int(scan.length));
  const Operand size = Min(builder().Sub(r.extents[0], chunk.start), Int(scan.length));
  chunk.size = {scan.threads, r.lanes, size,
                builder().Scalar(OpCode::kEq, {size, Int(scan.length)})};
  chunk.runs = CeilDiv(size, Int(r.lanes));
  const auto shared = [&](int64_t count) { return AllocateParts(r.binding, Int(count)); };
  int64_t bytes = 0;
  for (const Operand& result : r.binding.blocks[1]->results)
    bytes += scan.length * ir::SizeInBytes(ir::DTypeOf(result));
  if (bytes <= kMostShared) chunk.elements = shared(scan.length + scan.threads);
  chunk.before_run = shared(scan.threads);
  chunk.before_group = shared(scan.threads / r.lanes);
  chunk.total = shared(1);
  chunk.totals = shared(chunks_of_row);
  chunk.groups = shared(r.lanes);
  chunk.before_groups = shared(1);
  chunk.before_row = shared(1);
  return chunk;
}

bool DeviceScanLowering::IsCheap(const Reduction& r) {
  return CostOf(*r.binding.blocks[1]) <= kCheap;
}

Operands DeviceScanLowering::FoldEntries(const Reduction& r, const Arrays& entries,
                                         const Operand& lo, const Operand& hi, int64_t usually,
                                         bool keeps_before) {
  const Operands first = LoadAll(entries, lo);
  const auto step = [&](const Operand& k, const Operands& so_far) {
    const Operands own = LoadAll(entries, k);
    if (keeps_before) StoreAll(entries, k, so_far);
    return Combine(r, so_far, own);
  };
  const auto any = [&] { return Carry(builder().Add(lo, Int(1)), hi, first, step); };
  if (!IsCheap(r)) return any();
  const Operand is_usual = builder().Scalar(OpCode::kEq, {builder().Sub(hi, lo), Int(usually)});
  const auto usual = [&] {
    return Carry(Int(1), Int(usually), first, [&](const Operand& k, const Operands& so_far) {
      return step(builder().Add(lo, k), so_far);
    });
  };
  return Choose(is_usual, usual, any);
}

// --- The chunk's own ---

void DeviceScanLowering::TakeElements(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const auto take = [&](const Operand& k) {
    StoreAt(scan, chunk, k, Element(r, {builder().Add(chunk.start, k)}));
  };
  const bool is_cheap = CostOf(*r.binding.blocks[0]) <= kCheap;
  Threads(scan.threads, [&](const Operand& thread) { EachOf(chunk.size, thread, is_cheap, take); });
}

Operands DeviceScanLowering::ElementOf(const DeviceScan& scan, const Chunk& chunk,
                                       const Operand& k) {
  if (chunk.elements.empty()) return LoadAll(scan.results, builder().Add(chunk.start, k));
  return LoadAll(chunk.elements, Spread(k, scan.reduction.lanes));
}

void DeviceScanLowering::StoreAt(const DeviceScan& scan, const Chunk& chunk, const Operand& k,
                                 const Operands& values) {
  if (chunk.elements.empty()) return StoreAll(scan.results, builder().Add(chunk.start, k), values);
  StoreAll(chunk.elements, Spread(k, scan.reduction.lanes), values);
}

void DeviceScanLowering::FoldRuns(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  Threads(scan.threads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), [&] {
      const Operand lo = builder().Mul(thread, Int(r.lanes));
      const Operands total = CarryRun(chunk.size, lo, true, IsCheap(r), ElementOf(scan, chunk, lo),
                                      [&](const Operand& k, const Operands& so_far) {
                                        return Combine(r, so_far, ElementOf(scan, chunk, k));
                                      });
      StoreAll(chunk.before_run, thread, total);
    });
  });
  Threads(scan.threads / r.lanes, [&](const Operand& group) {
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
      FoldEntries(r, chunk.before_group, Int(0), groups, scan.threads / r.lanes, true);
  StoreAll(chunk.total, Int(0), total);
  If(scan.look_back.is_many, [&] {
    StoreAll(scan.totals, chunk.number, total);
    Publish(scan.look_back, chunk.number, Int(1));
  });
}

// --- What is before it ---

// The first chunks of the row, for which most wait, are the last threads'.
void DeviceScanLowering::AwaitOthers(const DeviceScan& scan, const Chunk& chunk,
                                     const Operand& thread) {
  const auto await = [&](const Operand& rank) {
    const Operand other = builder().Add(builder().Sub(chunk.number, chunk.rank), rank);
    Await(scan.look_back, other);
    StoreAll(chunk.totals, rank, LoadAll(scan.totals, other));
  };
  Loop(builder().Sub(Int(scan.threads - 1), thread), chunk.rank, {}, await, scan.threads);
  const Operand has_before = builder().Scalar(OpCode::kGt, {chunk.row, Int(0)});
  const Operand is_mine =
      builder().Scalar(OpCode::kEq, {thread, Int(std::min(kWaitsForRow, scan.threads - 1))});
  If(builder().Scalar(OpCode::kAnd, {has_before, is_mine}), [&] {
    Await(scan.look_back, builder().Add(scan.chunks, chunk.row));
    StoreAll(chunk.before_row, Int(0), LoadAll(scan.before_row, chunk.row));
  });
}

void DeviceScanLowering::FoldOthers(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  Threads(r.lanes, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(r.lanes));
    If(builder().Scalar(OpCode::kLt, {lo, chunk.rank}), [&] {
      const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.rank);
      StoreAll(chunk.groups, group, FoldEntries(r, chunk.totals, lo, hi, r.lanes, false));
    });
  });
  Threads(1, [&](const Operand&) {
    const Operand own = builder().Scalar(OpCode::kFloorDiv, {chunk.rank, Int(r.lanes)});
    If(builder().Scalar(OpCode::kGt, {own, Int(0)}), [&] {
      StoreAll(chunk.before_groups, Int(0),
               FoldEntries(r, chunk.groups, Int(0), own, r.lanes - 1, false));
    });
    const Operand next = builder().Add(chunk.number, Int(1));
    const Operand is_last = builder().Scalar(OpCode::kEq, {chunk.rank, Int(r.lanes * r.lanes - 1)});
    const Operand goes_on = builder().Scalar(OpCode::kLt, {next, scan.chunks});
    If(builder().Scalar(OpCode::kAnd, {is_last, goes_on}), [&] { PublishRow(scan, chunk); });
  });
}

void DeviceScanLowering::PublishRow(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  const Operand next = builder().Add(chunk.row, Int(1));
  const Operands group =
      Combine(r, LoadAll(chunk.groups, Int(r.lanes - 1)), LoadAll(chunk.total, Int(0)));
  const Operands row = Combine(r, LoadAll(chunk.before_groups, Int(0)), group);
  const Operands before = Choose(
      builder().Scalar(OpCode::kGt, {chunk.row, Int(0)}),
      [&] { return Combine(r, LoadAll(chunk.before_row, Int(0)), row); },
      [&] { return AfterInits(r, row); });
  StoreAll(scan.before_row, next, before);
  Publish(scan.look_back, builder().Add(scan.chunks, next), Int(1));
}

// From the innermost level outwards. What does not exist is the identity, where there is one.
std::vector<DeviceScanLowering::Before> DeviceScanLowering::BeforeRun(const DeviceScan& scan,
                                                                      const Chunk& chunk,
                                                                      const Operand& thread) {
  const Reduction& r = scan.reduction;
  Operands nothing = r.starts;
  for (const Operand& result : r.binding.blocks[1]->results) {
    if (r.starts.empty()) nothing.push_back(builder().Cast(Int(0), ir::DTypeOf(result)));
  }
  std::vector<Before> all;
  const auto add = [&](const Arrays& entries, const Operand& place, const Operand& rank,
                       const Operands& otherwise) {
    const Operand exists = builder().Scalar(OpCode::kGt, {rank, Int(0)});
    all.push_back(
        {r.starts.empty() ? exists : Operand::Bool(true),
         Choose(exists, [&] { return LoadAll(entries, place); }, [&] { return otherwise; })});
  };
  const auto rank_in = [&](const Operand& place) {
    return builder().Scalar(OpCode::kMod, {place, Int(r.lanes)});
  };
  const auto group_of = [&](const Operand& place) {
    return builder().Scalar(OpCode::kFloorDiv, {place, Int(r.lanes)});
  };
  add(chunk.before_run, thread, rank_in(thread), nothing);
  add(chunk.before_group, group_of(thread), group_of(thread), nothing);
  add(chunk.groups, group_of(chunk.rank), rank_in(chunk.rank), nothing);
  add(chunk.before_groups, Int(0), group_of(chunk.rank), nothing);
  add(chunk.before_row, Int(0), chunk.row, r.inits.empty() ? nothing : r.inits);
  if (!r.inits.empty()) all.back().exists = Operand::Bool(true);
  return all;
}

// --- The prefixes ---

void DeviceScanLowering::WriteRun(const DeviceScan& scan, const Chunk& chunk,
                                  const Operand& thread) {
  const Reduction& r = scan.reduction;
  const std::vector<Before> before = BeforeRun(scan, chunk, thread);
  const auto store = [&](const Operand& k, Operands prefix) {
    for (const Before& level : before) {
      prefix = Choose(
          level.exists, [&] { return Combine(r, level.values, prefix); }, [&] { return prefix; });
    }
    StoreAt(scan, chunk, k, prefix);
  };
  const Operand lo = builder().Mul(thread, Int(r.lanes));
  const bool peel = r.starts.empty();
  const Operands first = peel ? ElementOf(scan, chunk, lo) : r.starts;
  if (peel) store(lo, first);
  CarryRun(chunk.size, lo, peel, IsCheap(r), first, [&](const Operand& k, const Operands& so_far) {
    const Operands own = Combine(r, so_far, ElementOf(scan, chunk, k));
    store(k, own);
    return own;
  });
}

void DeviceScanLowering::StoreChunk(const DeviceScan& scan, const Chunk& chunk) {
  const auto store = [&](const Operand& k) {
    StoreAll(scan.results, builder().Add(chunk.start, k), ElementOf(scan, chunk, k));
  };
  Threads(scan.threads, [&](const Operand& thread) { EachOf(chunk.size, thread, true, store); });
}

}  // namespace parakeet::passes
