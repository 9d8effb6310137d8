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
constexpr int64_t kMostRoom = 4;        // What a result may lie in, in times its size.
constexpr int64_t kWaitsForRow = 32;    // The thread that does, of a warp that adds up nothing.

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
  Blocks(filter.blocks, [&](const Operand& number) { WriteFilterChunk(device, number); });
  const Operand some = builder().Scalar(OpCode::kGt, {filter.size, Int(0)});
  const Operand count =
      builder().Scalar(OpCode::kSelect, {some, builder().Load(total, {Int(0)}), Int(0)});
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
  const Operand fills =
      builder().Scalar(OpCode::kGe, {builder().Mul(total, Int(kMostRoom)), filter.size});
  Arrays fitting;
  for (const Operand& array : Choose(fills, as_view, as_copy)) fitting.push_back(array.var());
  return fitting;
}

const Var* DeviceFilterLowering::SharedOf(DType dtype, int64_t count, const char* hint) {
  const Var* array = builder().NewVar(ir::Type::Array(dtype, {Int(count)}), hint);
  builder().Emit(OpCode::kAlloc, {array}, {Int(count)});
  return array;
}

DeviceFilterLowering::FilterChunk DeviceFilterLowering::TakeFilterChunk(const DeviceFilter& device,
                                                                        const Operand& number) {
  const Filter& filter = device.filter;
  FilterChunk chunk;
  chunk.number = number;
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
  chunk.sums = SharedOf(DType::kI64, kRow / kGroup, "sums");
  chunk.before = SharedOf(DType::kI64, 1, "before");
  return chunk;
}

void DeviceFilterLowering::WriteFilterChunk(const DeviceFilter& device, const Operand& number) {
  const FilterChunk chunk = TakeFilterChunk(device, number);
  MakeElements(device, chunk);
  CountRuns(chunk);
  Threads(kThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishCount(device, chunk); });
    AwaitCounts(device, chunk, thread);
  });
  Threads(kThreads, [&](const Operand& thread) { AddCounts(device, chunk, thread); });
  Threads(kThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishRow(device, chunk); });
    if (!device.kept.empty()) ListKept(chunk, thread);
  });
  if (!device.kept.empty()) StoreKept(device, chunk);
}

// --- What the chunk keeps ---

void DeviceFilterLowering::MakeElements(const DeviceFilter& device, const FilterChunk& chunk) {
  const auto make = [&](const Operand& k, const Operand& spread) {
    const Operand i = builder().Add(chunk.start, k);
    const Operands element = ElementAt(device.filter, i);
    const Operands values(element.begin() + 1, element.end());
    if (device.in_shared) StoreAll(chunk.values, k, values);
    if (!device.made.empty()) StoreAll(device.made, i, values);
    builder().Store(chunk.marks, {spread}, element[0]);
  };
  const bool is_cheap = CostOf(*device.filter.binding.blocks[0]) <= kCheap;
  Threads(kThreads, [&](const Operand& thread) { EachOf(chunk.size, thread, is_cheap, make); });
}

Operands DeviceFilterLowering::CarryMarks(
    const FilterChunk& chunk, const Operand& thread, const Operand& first,
    const std::function<void(const Operand&, const Operand&, const Operand&)>& use) {
  const auto step = [&](const PlaceInRun& place, const Operands& so_far) {
    const Operand mark = builder().Load(chunk.marks, {place.spread});
    use(place.k, mark, so_far[0]);
    return Operands{builder().Add(so_far[0], builder().Cast(mark, DType::kI64))};
  };
  return CarryRun(chunk.size, thread, false, true, {first}, step);
}

Operand DeviceFilterLowering::AddEntries(const Var* counts, const Operand& lo, int64_t size,
                                         bool keeps_before) {
  return Carry(Int(0), Int(size), {Int(0)}, [&](const Operand& k, const Operands& so_far) {
    const Operand entry = builder().Add(lo, k);
    const Operand own = builder().Load(counts, {entry});
    if (keeps_before) builder().Store(counts, {entry}, so_far[0]);
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
    builder().Store(chunk.groups, {group}, AddEntries(chunk.counts, lo, kGroup, true));
  });
}

// --- What those before it keep ---

void DeviceFilterLowering::PublishCount(const DeviceFilter& device, const FilterChunk& chunk) {
  const Operand count = AddEntries(chunk.groups, Int(0), kThreads / kGroup, true);
  builder().Store(chunk.own, {Int(0)}, count);
  If(device.look_back.is_many, [&] { TellCount(device, chunk.number, count); });
}

void DeviceFilterLowering::TellCount(const DeviceFilter& device, const Operand& word,
                                     const Operand& count) {
  const Operand value = builder().Add(builder().Mul(count, Int(2)), Int(1));
  PublishWord(device.look_back, word, value);
}

Operand DeviceFilterLowering::AwaitCount(const DeviceFilter& device, const Operand& word) {
  const Operand value = AwaitWords(device.look_back, word, 1)[0];
  return builder().Scalar(OpCode::kFloorDiv, {value, Int(2)});
}

// The first chunks of the row, for which most wait, are the last threads'.
void DeviceFilterLowering::AwaitCounts(const DeviceFilter& device, const FilterChunk& chunk,
                                       const Operand& thread) {
  const Operand rank = builder().Sub(Int(kThreads - 1), thread);
  const Operand other = builder().Add(builder().Sub(chunk.number, chunk.rank), rank);
  const Operand count = Choose(
      builder().Scalar(OpCode::kLt, {rank, chunk.rank}),
      [&] { return Operands{AwaitCount(device, other)}; }, [] { return Operands{Int(0)}; })[0];
  builder().Store(chunk.others, {rank}, count);
}

void DeviceFilterLowering::AddCounts(const DeviceFilter& device, const FilterChunk& chunk,
                                     const Operand& thread) {
  If(builder().Scalar(OpCode::kLt, {thread, Int(kRow / kGroup)}), [&] {
    const Operand lo = builder().Mul(thread, Int(kGroup));
    builder().Store(chunk.sums, {thread}, AddEntries(chunk.others, lo, kGroup, false));
  });
  If(builder().Scalar(OpCode::kEq, {thread, Int(kWaitsForRow)}),
     [&] { builder().Store(chunk.before, {Int(0)}, AwaitRows(device, chunk)); });
}

// How many all before the chunk keep.
Operand DeviceFilterLowering::BeforeChunk(const FilterChunk& chunk) {
  const Operand row = AddEntries(chunk.sums, Int(0), kRow / kGroup, false);
  return builder().Add(builder().Load(chunk.before, {Int(0)}), row);
}

void DeviceFilterLowering::PublishRow(const DeviceFilter& device, const FilterChunk& chunk) {
  const Operand next = builder().Add(chunk.number, Int(1));
  const auto behind = [&] {
    return builder().Add(BeforeChunk(chunk), builder().Load(chunk.own, {Int(0)}));
  };
  const auto finish = [&] {
    builder().Store(device.total, {Int(0)}, behind());
    return Operands{};
  };
  const auto go_on = [&] {
    If(builder().Scalar(OpCode::kEq, {chunk.rank, Int(kRow - 1)}), [&] {
      const Operand word = builder().Add(device.filter.blocks, builder().Add(chunk.row, Int(1)));
      TellCount(device, word, behind());
    });
    return Operands{};
  };
  Choose(builder().Scalar(OpCode::kEq, {next, device.filter.blocks}), finish, go_on);
}

// What rows before the chunk's keep.
Operand DeviceFilterLowering::AwaitRows(const DeviceFilter& device, const FilterChunk& chunk) {
  const Operand word = builder().Add(device.filter.blocks, chunk.row);
  return Choose(
      builder().Scalar(OpCode::kGt, {chunk.row, Int(0)}),
      [&] { return Operands{AwaitCount(device, word)}; }, [] { return Operands{Int(0)}; })[0];
}

// --- What is kept ---

void DeviceFilterLowering::ListKept(const FilterChunk& chunk, const Operand& thread) {
  const Operand group = builder().Scalar(OpCode::kFloorDiv, {thread, Int(kGroup)});
  const Operand first =
      builder().Add(builder().Load(chunk.groups, {group}), builder().Load(chunk.counts, {thread}));
  CarryMarks(chunk, thread, first, [&](const Operand& k, const Operand& mark, const Operand& at) {
    If(mark, [&] { builder().Store(chunk.list, {at}, builder().Cast(k, DType::kI16)); });
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
    const Operand first = BeforeChunk(chunk);
    const Operand count = builder().Load(chunk.own, {Int(0)});
    const auto store = [&](const Operand& place) {
      const Operand k = builder().Cast(builder().Load(chunk.list, {place}), DType::kI64);
      StoreAll(device.kept, builder().Add(first, place), ValuesOf(device, chunk, k));
    };
    Loop(thread, count, {}, store, kThreads);
  });
}

}  // namespace parakeet::passes
