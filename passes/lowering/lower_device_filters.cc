#include "passes/lowering/lower_device_filters.h"

#include "ir/builder.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kChunk = 4096;  // Elements of a block of threads, as lower_filters.cc has them.
constexpr int64_t kThreads = 256;
constexpr int64_t kRun = 16;            // Elements of a thread,
constexpr int64_t kGroup = 16;          // and threads whose counts one of them adds up.
constexpr int64_t kRow = 256;           // Chunks of a row.
constexpr int64_t kMostShared = 33000;  // Bytes of values: several blocks fit a processor.
constexpr int kCheap = 16;              // What costs no more is written for whole chunks apart.
constexpr int64_t kWaitsForRow = 32;    // The thread that does.

Attributes BlockKind() { return {{Attr::kKind, std::string("block")}}; }

}  // namespace

Operands DeviceFilterLowering::ElementAt(const Filter& filter, const Operand& i) {
  return VisitBody(*ir::CloneBlock(arena(), *filter.binding.blocks[0]),
                   Delinear(i, filter.extents));
}

DeviceFilterLowering::Arrays DeviceFilterLowering::Allocate(const Filter& filter,
                                                            const Operand& size) {
  Arrays kept;
  for (size_t k = 1; k < filter.binding.results.size(); ++k) {
    const Var* result = filter.binding.results[k];
    kept.push_back(builder().NewVar(ir::Type::Array(result->type.dtype(), {size}), result->hint));
    builder().Emit(OpCode::kAlloc, {kept.back()}, {size});
  }
  return kept;
}

void DeviceFilterLowering::GiveResults(const Filter& filter, const Operand& total,
                                       const Arrays& kept) {
  Replace(filter.binding.results[0], total);
  for (size_t k = 0; k < kept.size(); ++k) Replace(filter.binding.results[k + 1], kept[k]);
}

void DeviceFilterLowering::FilterOnDevice(Filter filter, bool once) {
  filter.size = Max(filter.size, Int(0));
  filter.blocks = CeilDiv(filter.size, Int(kChunk));
  int64_t bytes = 0;
  for (size_t k = 1; k < filter.binding.results.size(); ++k)
    bytes += kChunk * ir::SizeInBytes(filter.binding.results[k]->type.dtype());
  const bool in_shared = bytes <= kMostShared;
  const Operand rows = CeilDiv(filter.blocks, Int(kRow));
  const LookBack look_back = StartLookBack(filter.blocks, builder().Add(filter.blocks, rows));
  const Var* total = builder().NewVar(ir::Type::Array(DType::kI64, {Int(1)}), "total");
  builder().Emit(OpCode::kAlloc, {total}, {Int(1)});
  const DeviceFilter device{filter,
                            look_back,
                            total,
                            Allocate(filter, filter.size),
                            once && !in_shared ? Allocate(filter, filter.size) : Arrays{},
                            in_shared};
  Loop(Int(0), filter.blocks, BlockKind(), [&](const Operand&) { WriteFilterChunk(device); });
  const Operand some = builder().Scalar(OpCode::kGt, {filter.size, Int(0)});
  const Operand count = Choose(
      some, [&] { return Operands{builder().Load(total, {Int(0)})}; },
      [] { return Operands{Int(0)}; })[0];
  GiveResults(filter, count, Fit(filter, device.kept, count));
}

DeviceFilterLowering::Arrays DeviceFilterLowering::Fit(const Filter& filter, const Arrays& kept,
                                                       const Operand& total) {
  if (kept.empty()) return kept;
  const auto as_view = [&] {
    Operands views;
    for (const Var* array : kept) {
      views.push_back(builder().EmitOne(OpCode::kView,
                                        ir::Type::Array(array->type.dtype(), {total}),
                                        {array, Int(0), Int(1)}, {}, {}, array->hint));
    }
    return views;
  };
  const auto as_copy = [&] {
    const Arrays copies = Allocate(filter, total);
    Loop(Int(0), total, {{Attr::kKind, std::string("parallel")}, {Attr::kCost, int64_t{1}}},
         [&](const Operand& i) { StoreAll(copies, i, LoadAll(kept, i)); });
    return Operands(copies.begin(), copies.end());
  };
  const Operand is_half =
      builder().Scalar(OpCode::kGe, {builder().Mul(total, Int(2)), filter.size});
  Arrays fitting;
  for (const Operand& array : Choose(is_half, as_view, as_copy)) fitting.push_back(array.var());
  return fitting;
}

const Var* DeviceFilterLowering::SharedOf(DType dtype, int64_t count, const char* hint) {
  const Var* array = builder().NewVar(ir::Type::Array(dtype, {Int(count)}), hint);
  builder().Emit(OpCode::kAlloc, {array}, {Int(count)});
  return array;
}

DeviceFilterLowering::FilterChunk DeviceFilterLowering::TakeFilterChunk(
    const DeviceFilter& device) {
  const Filter& filter = device.filter;
  FilterChunk chunk;
  chunk.number = TakeNumber(device.look_back);
  chunk.row = builder().Scalar(OpCode::kFloorDiv, {chunk.number, Int(kRow)});
  chunk.rank = builder().Scalar(OpCode::kMod, {chunk.number, Int(kRow)});
  chunk.start = builder().Mul(chunk.number, Int(kChunk));
  const Operand size = Min(builder().Sub(filter.size, chunk.start), Int(kChunk));
  chunk.size = {kThreads, kRun, size, builder().Scalar(OpCode::kEq, {size, Int(kChunk)})};
  if (device.in_shared) chunk.values = Allocate(filter, Int(kChunk));
  chunk.marks = SharedOf(DType::kBool, kChunk + kChunk / kRun, "marks");
  chunk.counts = SharedOf(DType::kI64, kThreads, "counts");
  chunk.groups = SharedOf(DType::kI64, kThreads / kGroup, "groups");
  chunk.list = SharedOf(DType::kI16, kChunk, "list");
  chunk.own = SharedOf(DType::kI64, 1, "own");
  chunk.others = SharedOf(DType::kI64, kRow, "others");
  chunk.before = SharedOf(DType::kI64, 2, "before");
  return chunk;
}

void DeviceFilterLowering::WriteFilterChunk(const DeviceFilter& device) {
  const FilterChunk chunk = TakeFilterChunk(device);
  MakeElements(device, chunk);
  CountRuns(chunk);
  Threads(kThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishCount(device, chunk); });
    AwaitCounts(device, chunk, thread);
  });
  AddCounts(device, chunk);
  if (device.kept.empty()) return;
  ListKept(chunk);
  StoreKept(device, chunk);
}

// --- What the chunk keeps ---

void DeviceFilterLowering::MakeElements(const DeviceFilter& device, const FilterChunk& chunk) {
  const auto make = [&](const Operand& k) {
    const Operand i = builder().Add(chunk.start, k);
    const Operands element = ElementAt(device.filter, i);
    const Operands values(element.begin() + 1, element.end());
    if (device.in_shared) StoreAll(chunk.values, k, values);
    if (!device.made.empty()) StoreAll(device.made, i, values);
    builder().Store(chunk.marks, {Spread(k, kRun)}, element[0]);
  };
  const bool is_cheap = CostOf(*device.filter.binding.blocks[0]) <= kCheap;
  Threads(kThreads, [&](const Operand& thread) { EachOf(chunk.size, thread, is_cheap, make); });
}

Operands DeviceFilterLowering::CarryMarks(
    const FilterChunk& chunk, const Operand& thread, const Operand& first,
    const std::function<void(const Operand&, const Operand&, const Operand&)>& use) {
  const auto step = [&](const Operand& k, const Operands& so_far) {
    const Operand mark = builder().Load(chunk.marks, {Spread(k, kRun)});
    use(k, mark, so_far[0]);
    return Operands{builder().Add(so_far[0], builder().Cast(mark, DType::kI64))};
  };
  return CarryRun(chunk.size, builder().Mul(thread, Int(kRun)), false, true, {first}, step);
}

Operand DeviceFilterLowering::AddEntries(const Var* counts, const Operand& lo, const Operand& hi,
                                         bool keeps_before) {
  return Carry(lo, hi, {Int(0)}, [&](const Operand& k, const Operands& so_far) {
    const Operand own = builder().Load(counts, {k});
    if (keeps_before) builder().Store(counts, {k}, so_far[0]);
    return Operands{builder().Add(so_far[0], own)};
  })[0];
}

void DeviceFilterLowering::CountRuns(const FilterChunk& chunk) {
  const auto ignore = [](const Operand&, const Operand&, const Operand&) {};
  Threads(kThreads, [&](const Operand& thread) {
    builder().Store(chunk.counts, {thread}, CarryMarks(chunk, thread, Int(0), ignore)[0]);
  });
  Threads(kThreads / kGroup, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(kGroup));
    builder().Store(chunk.groups, {group},
                    AddEntries(chunk.counts, lo, builder().Add(lo, Int(kGroup)), true));
  });
}

// --- What those before it keep ---

void DeviceFilterLowering::PublishCount(const DeviceFilter& device, const FilterChunk& chunk) {
  const Operand count = AddEntries(chunk.groups, Int(0), Int(kThreads / kGroup), true);
  builder().Store(chunk.own, {Int(0)}, count);
  If(device.look_back.is_many, [&] {
    const Operand word = builder().Add(builder().Mul(count, Int(2)), Int(1));
    Publish(device.look_back, chunk.number, word);
  });
}

void DeviceFilterLowering::AwaitCounts(const DeviceFilter& device, const FilterChunk& chunk,
                                       const Operand& thread) {
  const auto await = [&](const Operand& word) {
    return builder().Scalar(OpCode::kFloorDiv, {Await(device.look_back, word), Int(2)});
  };
  const Operand rank = builder().Sub(Int(kThreads - 1), thread);
  If(builder().Scalar(OpCode::kLt, {rank, chunk.rank}), [&] {
    const Operand first = builder().Sub(chunk.number, chunk.rank);
    builder().Store(chunk.others, {rank}, await(builder().Add(first, rank)));
  });
  If(builder().Scalar(OpCode::kEq, {thread, Int(kWaitsForRow)}), [&] {
    const Operand before = Choose(
        builder().Scalar(OpCode::kGt, {chunk.row, Int(0)}),
        [&] { return Operands{await(builder().Add(device.filter.blocks, chunk.row))}; },
        [] { return Operands{Int(0)}; })[0];
    builder().Store(chunk.before, {Int(1)}, before);
  });
}

void DeviceFilterLowering::AddCounts(const DeviceFilter& device, const FilterChunk& chunk) {
  const Var* sums = SharedOf(DType::kI64, kRow / kGroup, "sums");
  Threads(kRow / kGroup, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(kGroup));
    const Operand hi = Min(builder().Add(lo, Int(kGroup)), chunk.rank);
    builder().Store(sums, {group}, AddEntries(chunk.others, lo, hi, false));
  });
  Threads(1, [&](const Operand&) {
    const Operand row = AddEntries(sums, Int(0), Int(kRow / kGroup), false);
    const Operand before = builder().Add(builder().Load(chunk.before, {Int(1)}), row);
    builder().Store(chunk.before, {Int(0)}, before);
    const Operand behind = builder().Add(before, builder().Load(chunk.own, {Int(0)}));
    const Operand next = builder().Add(chunk.number, Int(1));
    const Operand is_last = builder().Scalar(OpCode::kEq, {next, device.filter.blocks});
    const auto finish = [&] {
      builder().Store(device.total, {Int(0)}, behind);
      return Operands{};
    };
    const auto go_on = [&] {
      If(builder().Scalar(OpCode::kEq, {chunk.rank, Int(kRow - 1)}), [&] {
        const Operand word = builder().Add(device.filter.blocks, builder().Add(chunk.row, Int(1)));
        Publish(device.look_back, word, builder().Add(builder().Mul(behind, Int(2)), Int(1)));
      });
      return Operands{};
    };
    Choose(is_last, finish, go_on);
  });
}

// --- What is kept ---

void DeviceFilterLowering::ListKept(const FilterChunk& chunk) {
  Threads(kThreads, [&](const Operand& thread) {
    const Operand group = builder().Scalar(OpCode::kFloorDiv, {thread, Int(kGroup)});
    const Operand first = builder().Add(builder().Load(chunk.groups, {group}),
                                        builder().Load(chunk.counts, {thread}));
    CarryMarks(chunk, thread, first, [&](const Operand& k, const Operand& mark, const Operand& at) {
      If(mark, [&] { builder().Store(chunk.list, {at}, builder().Cast(k, DType::kI16)); });
    });
  });
}

Operands DeviceFilterLowering::ValuesOf(const DeviceFilter& device, const FilterChunk& chunk,
                                        const Operand& k) {
  if (device.in_shared) return LoadAll(chunk.values, k);
  const Operand i = builder().Add(chunk.start, k);
  if (!device.made.empty()) return LoadAll(device.made, i);
  const Operands element = ElementAt(device.filter, i);
  return {element.begin() + 1, element.end()};
}

void DeviceFilterLowering::StoreKept(const DeviceFilter& device, const FilterChunk& chunk) {
  Threads(kThreads, [&](const Operand& thread) {
    const Operand first = builder().Load(chunk.before, {Int(0)});
    const Operand count = builder().Load(chunk.own, {Int(0)});
    const auto store = [&](const Operand& place) {
      const Operand k = builder().Cast(builder().Load(chunk.list, {place}), DType::kI64);
      StoreAll(device.kept, builder().Add(first, place), ValuesOf(device, chunk, k));
    };
    Loop(thread, count, {}, store, kThreads);
  });
}

}  // namespace parakeet::passes
