#include "passes/lowering/lower_device_scans.h"

#include "ir/builder.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::OpCode;
using ir::Operand;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kMostShared = 40000;  // Bytes of elements: several blocks fit a processor.

Attributes Kind(const char* kind) { return {{Attr::kKind, std::string(kind)}}; }

// How many runs, threads and elements there are at the levels of a chunk.
int64_t Squared(int64_t lanes) { return lanes * lanes; }
int64_t ChunkOf(int64_t lanes) { return lanes * lanes * lanes; }

}  // namespace

void DeviceScanLowering::Threads(int64_t count, const std::function<void(const Operand&)>& body) {
  Loop(Int(0), Int(count), Kind("thread"), body);
}

void DeviceScanLowering::If(const Operand& condition, const std::function<void()>& then) {
  Choose(
      condition,
      [&] {
        then();
        return Operands{};
      },
      [] { return Operands{}; });
}

Operand DeviceScanLowering::Spread(const Operand& k, int64_t run) {
  return builder().Add(k, builder().Scalar(OpCode::kFloorDiv, {k, Int(run)}));
}

void DeviceScanLowering::ScanOnDevice(DeviceScan scan) {
  const Reduction& r = scan.reduction;
  scan.chunks = CeilDiv(r.extents[0], Int(ChunkOf(r.lanes)));
  Operand count = scan.chunks;
  for (Arrays& before : scan.before) {
    before = AllocateParts(r.binding, count);
    count = CeilDiv(count, Int(r.lanes));
  }
  const Operand must_fold = scan.stores_elements
                                ? Operand::Bool(true)
                                : builder().Scalar(OpCode::kGt, {scan.chunks, Int(1)});
  If(must_fold, [&] {
    FoldChunks(scan);
    FoldTotals(scan);
  });
  WritePrefixes(scan);
}

void DeviceScanLowering::FoldChunks(const DeviceScan& scan) {
  Loop(Int(0), scan.chunks, Kind("block"), [&](const Operand& number) {
    const Chunk chunk = TakeChunk(scan, number, false);
    FoldGroupsOf(scan, chunk,
                 [&](const Operands& total) { StoreAll(scan.before[0], number, total); });
  });
}

void DeviceScanLowering::FoldTotals(const DeviceScan& scan) {
  const Reduction& r = scan.reduction;
  Loop(Int(0), Int(1), Kind("block"), [&](const Operand&) {
    Operand count = scan.chunks;
    for (size_t level = 0; level + 1 < scan.before.size(); ++level) {
      const Arrays& entries = scan.before[level];
      const Operand groups = CeilDiv(count, Int(r.lanes));
      const auto fold = [&](const Operand& group) {
        const Operand lo = builder().Mul(group, Int(r.lanes));
        const Operand hi = Min(builder().Add(lo, Int(r.lanes)), count);
        StoreAll(scan.before[level + 1], group,
                 FoldBefore(r, entries, LoadAll(entries, lo), lo, hi));
      };
      Threads(Squared(r.lanes),
              [&](const Operand& thread) { Loop(thread, groups, {}, fold, Squared(r.lanes)); });
      count = groups;
    }
    Threads(1, [&](const Operand&) {
      const Arrays& entries = scan.before.back();
      FoldBefore(r, entries, AfterInits(r, LoadAll(entries, Int(0))), Int(0), count);
    });
  });
}

void DeviceScanLowering::WritePrefixes(const DeviceScan& scan) {
  Loop(Int(0), scan.chunks, Kind("block"), [&](const Operand& number) {
    const Chunk chunk = TakeChunk(scan, number, scan.stores_elements);
    FoldGroupsOf(scan, chunk, [](const Operands&) {});
    Threads(Squared(scan.reduction.lanes),
            [&](const Operand& thread) { WriteRun(scan, chunk, thread); });
    if (!chunk.elements.empty()) StoreChunk(scan, chunk);
  });
}

DeviceScanLowering::Chunk DeviceScanLowering::TakeChunk(const DeviceScan& scan,
                                                        const Operand& number, bool loads) {
  const Reduction& r = scan.reduction;
  const int64_t length = ChunkOf(r.lanes);
  Chunk chunk;
  chunk.number = number;
  chunk.start = builder().Mul(number, Int(length));
  chunk.size = Min(builder().Sub(r.extents[0], chunk.start), Int(length));
  chunk.runs = CeilDiv(chunk.size, Int(r.lanes));
  int64_t bytes = 0;
  for (const Operand& result : r.binding.blocks[1]->results)
    bytes += length * ir::SizeInBytes(ir::DTypeOf(result));
  if (bytes <= kMostShared)
    chunk.elements = AllocateParts(r.binding, Int(length + Squared(r.lanes)));
  chunk.before_run = AllocateParts(r.binding, Int(Squared(r.lanes)));
  chunk.before_group = AllocateParts(r.binding, Int(r.lanes));
  TakeElements(scan, chunk, loads);
  FoldRuns(scan, chunk);
  return chunk;
}

void DeviceScanLowering::TakeElements(const DeviceScan& scan, const Chunk& chunk, bool loads) {
  const bool stores = scan.stores_elements && !loads;
  if (chunk.elements.empty() && !stores) return;
  const int64_t threads = Squared(scan.reduction.lanes);
  const auto take = [&](const Operand& k) {
    const Operand index = builder().Add(chunk.start, k);
    const Operands values = loads ? LoadAll(scan.results, index) : Element(scan.reduction, {index});
    if (stores) StoreAll(scan.results, index, values);
    if (!chunk.elements.empty()) StoreAll(chunk.elements, Spread(k, scan.reduction.lanes), values);
  };
  Threads(threads, [&](const Operand& thread) { Loop(thread, chunk.size, {}, take, threads); });
}

Operands DeviceScanLowering::ElementOf(const DeviceScan& scan, const Chunk& chunk,
                                       const Operand& k) {
  if (!chunk.elements.empty()) return LoadAll(chunk.elements, Spread(k, scan.reduction.lanes));
  const Operand index = builder().Add(chunk.start, k);
  return scan.stores_elements ? LoadAll(scan.results, index) : Element(scan.reduction, {index});
}

void DeviceScanLowering::FoldRuns(const DeviceScan& scan, const Chunk& chunk) {
  const Reduction& r = scan.reduction;
  Threads(Squared(r.lanes), [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), [&] {
      const Operand lo = builder().Mul(thread, Int(r.lanes));
      const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.size);
      const Operands total = Carry(builder().Add(lo, Int(1)), hi, ElementOf(scan, chunk, lo),
                                   [&](const Operand& k, const Operands& so_far) {
                                     return Combine(r, so_far, ElementOf(scan, chunk, k));
                                   });
      StoreAll(chunk.before_run, thread, total);
    });
  });
  Threads(r.lanes, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(r.lanes));
    If(builder().Scalar(OpCode::kLt, {lo, chunk.runs}), [&] {
      const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.runs);
      StoreAll(chunk.before_group, group,
               FoldBefore(r, chunk.before_run, LoadAll(chunk.before_run, lo), lo, hi));
    });
  });
}

void DeviceScanLowering::FoldGroupsOf(const DeviceScan& scan, const Chunk& chunk,
                                      const std::function<void(const Operands&)>& use) {
  const Reduction& r = scan.reduction;
  Threads(1, [&](const Operand&) {
    use(FoldBefore(r, chunk.before_group, LoadAll(chunk.before_group, Int(0)), Int(0),
                   CeilDiv(chunk.runs, Int(r.lanes))));
  });
}

Operands DeviceScanLowering::FoldBefore(const Reduction& r, const Arrays& entries,
                                        const Operands& first, const Operand& lo,
                                        const Operand& hi) {
  return Carry(builder().Add(lo, Int(1)), hi, first, [&](const Operand& k, const Operands& so_far) {
    const Operands own = LoadAll(entries, k);
    StoreAll(entries, k, so_far);
    return Combine(r, so_far, own);
  });
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
  Operand place = chunk.number;
  for (size_t level = 0; level + 1 < scan.before.size(); ++level) {
    add(scan.before[level], place, rank_in(place), nothing);
    place = group_of(place);
  }
  add(scan.before.back(), place, place, r.inits.empty() ? nothing : r.inits);
  if (!r.inits.empty()) all.back().exists = Operand::Bool(true);
  return all;
}

void DeviceScanLowering::WriteRun(const DeviceScan& scan, const Chunk& chunk,
                                  const Operand& thread) {
  const Reduction& r = scan.reduction;
  const auto write = [&] {
    const std::vector<Before> before = BeforeRun(scan, chunk, thread);
    const auto store = [&](const Operand& k, Operands prefix) {
      for (const Before& level : before) {
        prefix = Choose(
            level.exists, [&] { return Combine(r, level.values, prefix); }, [&] { return prefix; });
      }
      if (chunk.elements.empty()) {
        StoreAll(scan.results, builder().Add(chunk.start, k), prefix);
      } else {
        StoreAll(chunk.elements, Spread(k, r.lanes), prefix);
      }
    };
    const Operand lo = builder().Mul(thread, Int(r.lanes));
    const Operand hi = Min(builder().Add(lo, Int(r.lanes)), chunk.size);
    const bool peel = r.starts.empty();
    const Operands first = peel ? ElementOf(scan, chunk, lo) : r.starts;
    if (peel) store(lo, first);
    Carry(peel ? builder().Add(lo, Int(1)) : lo, hi, first,
          [&](const Operand& k, const Operands& so_far) {
            const Operands own = Combine(r, so_far, ElementOf(scan, chunk, k));
            store(k, own);
            return own;
          });
  };
  If(builder().Scalar(OpCode::kLt, {thread, chunk.runs}), write);
}

void DeviceScanLowering::StoreChunk(const DeviceScan& scan, const Chunk& chunk) {
  const int64_t threads = Squared(scan.reduction.lanes);
  const auto store = [&](const Operand& k) {
    StoreAll(scan.results, builder().Add(chunk.start, k),
             LoadAll(chunk.elements, Spread(k, scan.reduction.lanes)));
  };
  Threads(threads, [&](const Operand& thread) { Loop(thread, chunk.size, {}, store, threads); });
}

}  // namespace parakeet::passes
