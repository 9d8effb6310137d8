#include "passes/lowering/lower_device_filters.h"

#include <utility>

#include "ir/builder.h"
#include "passes/lowering/block_threads.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kChunk = 4096;  // Elements of a block of threads.
constexpr int64_t kLanes = 32;    // of a warp
constexpr int64_t kWarps = kBlockThreads / kLanes;
constexpr int64_t kTurns = kChunk / kBlockThreads;  // Elements of a thread.
constexpr int64_t kRow = 256;     // Chunks of a row, of which a thread awaits one.
constexpr int64_t kMostRoom = 4;  // What a result may lie in, in times its size.

Operand Word(int64_t value) { return ir::ConstantOf(DType::kU32, value); }

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
  const Operand rows = CeilDiv(filter.blocks, Int(kRow));
  const LookBack look_back = StartLookBack(filter.blocks, builder().Add(filter.blocks, rows));
  const Var* total = builder().NewVar(ir::Type::Array(DType::kI64, {Int(1)}), "total");
  builder().Emit(OpCode::kAlloc, {total}, {Int(1)});
  const DeviceFilter device{filter, look_back, total, Allocate(filter, filter.size), once};
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

const Var* DeviceFilterLowering::Shared(DType dtype, int64_t count, const char* hint) {
  const ir::Type type = ir::Type::Array(dtype, {Int(count)});
  return builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, hint);
}

const Var* DeviceFilterLowering::Own(DType dtype, int64_t count, const char* hint) {
  const ir::Type type = ir::Type::Array(dtype, {Int(kBlockThreads), Int(count)});
  const Attributes own = {{Attr::kPrivate, int64_t{1}}};
  return builder().EmitOne(OpCode::kAlloc, type, type.dims(), own, {}, hint);
}

DeviceFilterLowering::FilterChunk DeviceFilterLowering::TakeFilterChunk(const DeviceFilter& device,
                                                                        const Operand& number) {
  const Filter& filter = device.filter;
  FilterChunk chunk;
  chunk.number = number;
  chunk.row = builder().Quotient(number, Int(kRow));
  chunk.rank = builder().Remainder(number, Int(kRow));
  chunk.start = builder().Mul(number, Int(kChunk));
  chunk.size = Min(builder().Sub(filter.size, chunk.start), Int(kChunk));
  for (size_t k = 1; device.once && k < filter.binding.results.size(); ++k)
    chunk.values.push_back(Own(filter.binding.results[k]->type.dtype(), kTurns, "values"));
  chunk.marks = Own(DType::kBool, kTurns, "marks");
  chunk.others = Own(DType::kU32, 1, "others");
  chunk.next_others = Own(DType::kU32, 1, "others");
  chunk.of_warps = Shared(DType::kU32, kWarps, "of_warps");
  chunk.before_warps = Shared(DType::kU32, kWarps, "before_warps");
  chunk.before_row = Shared(DType::kI64, 1, "before_row");
  return chunk;
}

void DeviceFilterLowering::WriteFilterChunk(const DeviceFilter& device, const Operand& number) {
  const FilterChunk chunk = TakeFilterChunk(device, number);
  MakeElements(device, chunk);
  CountKept(chunk);
  WarpThreads(kBlockThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishCount(device, chunk); });
    AwaitCounts(device, chunk, thread);
  });
  AddCounts(device, chunk);
  Threads(kBlockThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {thread, Int(0)}), [&] { PublishRow(device, chunk); });
    if (!device.kept.empty()) StoreKept(device, chunk, thread);
  });
}

// --- What the chunk keeps ---

// A warp's elements are side by side, of which its lanes take every 32nd: in order, they are the
// first of each lane, then the second ones.
Operand DeviceFilterLowering::TurnsElement(const Operand& thread, const Operand& turn) {
  const Operand lane = LaneOf(thread);
  const Operand of_warp = builder().Mul(builder().Sub(thread, lane), Int(kTurns));
  return builder().Add(builder().Add(of_warp, lane), builder().Mul(turn, Int(kLanes)));
}

Operand DeviceFilterLowering::LaneOf(const Operand& thread) {
  return builder().Scalar(OpCode::kAnd, {thread, Int(kLanes - 1)});
}

Operand DeviceFilterLowering::WarpOf(const Operand& thread) {
  return builder().Quotient(thread, Int(kLanes));
}

void DeviceFilterLowering::MakeElements(const DeviceFilter& device, const FilterChunk& chunk) {
  const auto element = [&](const Operand& k) {
    return ElementAt(device.filter, builder().Add(chunk.start, k));
  };
  const auto none = [&] {
    Operands zeros = {Operand::Bool(false)};
    for (size_t k = 1; k < device.filter.binding.results.size(); ++k)
      zeros.push_back(ir::ZeroOf(device.filter.binding.results[k]->type.dtype()));
    return zeros;
  };
  const auto make = [&](const Operand& thread, bool is_whole) {
    Loop(Int(0), Int(kTurns), {}, [&](const Operand& turn) {
      const Operand k = TurnsElement(thread, turn);
      const Operand is_inside = builder().Scalar(OpCode::kLt, {k, chunk.size});
      const Operands made =
          is_whole ? element(k) : Choose(is_inside, [&] { return element(k); }, none);
      builder().Store(chunk.marks, {thread, turn}, made[0]);
      for (size_t v = 0; v < chunk.values.size(); ++v)
        builder().Store(chunk.values[v], {thread, turn}, made[v + 1]);
    });
    return Operands{};
  };
  const Operand is_whole = builder().Scalar(OpCode::kEq, {chunk.size, Int(kChunk)});
  WarpThreads(kBlockThreads, [&](const Operand& thread) {
    // A thread that fails keeps nothing.
    Loop(Int(0), Int(kTurns), {}, [&](const Operand& turn) {
      builder().Store(chunk.marks, {thread, turn}, Operand::Bool(false));
    });
    if (device.once) return void(make(thread, false));
    Choose(is_whole, [&] { return make(thread, true); }, [&] { return make(thread, false); });
  });
}

// Which lanes of the warp keep their elements.
Operand DeviceFilterLowering::LanesThatKeep(const FilterChunk& chunk, const Operand& thread,
                                            const Operand& turn) {
  const Operand alike = builder().EmitOne(OpCode::kMatch, DType::kU32, {chunk.marks, thread, turn});
  const Operand mark = builder().Load(chunk.marks, {thread, turn});
  const Operand unlike = builder().Scalar(OpCode::kNot, {alike});
  return builder().Scalar(OpCode::kSelect, {mark, alike, unlike});
}

void DeviceFilterLowering::CountKept(const FilterChunk& chunk) {
  Threads(kBlockThreads, [&](const Operand& thread) {
    const auto count = [&](const Operand& turn, const Operands& so_far) {
      const Operand lanes = LanesThatKeep(chunk, thread, turn);
      return Operands{builder().Add(so_far[0], builder().Scalar(OpCode::kPopCount, {lanes}))};
    };
    const Operand kept = Carry(Int(0), Int(kTurns), {Word(0)}, count)[0];
    If(builder().Scalar(OpCode::kEq, {LaneOf(thread), Int(0)}),
       [&] { builder().Store(chunk.of_warps, {WarpOf(thread)}, kept); });
  });
}

// --- What those before it keep ---

Operand DeviceFilterLowering::AddWarps(const Var* counts, const Operand& warps) {
  const auto add = [&](const Operand& warp, const Operands& sum) {
    return Operands{builder().Add(sum[0], builder().Load(counts, {warp}))};
  };
  return builder().Cast(Carry(Int(0), warps, {Word(0)}, add)[0], DType::kI64);
}

void DeviceFilterLowering::PublishCount(const DeviceFilter& device, const FilterChunk& chunk) {
  If(device.look_back.is_many,
     [&] { TellCount(device, chunk.number, AddWarps(chunk.of_warps, Int(kWarps))); });
}

void DeviceFilterLowering::TellCount(const DeviceFilter& device, const Operand& word,
                                     const Operand& count) {
  const Operand value = builder().Add(builder().Mul(count, Int(2)), Int(1));
  PublishWord(device.look_back, word, value);
}

Operand DeviceFilterLowering::AwaitCount(const DeviceFilter& device, const Operand& word) {
  const Operand value = AwaitWords(device.look_back, word, 1)[0];
  return builder().Quotient(value, Int(2));
}

// The first chunks of the row, for which most wait, are the last threads'.
void DeviceFilterLowering::AwaitCounts(const DeviceFilter& device, const FilterChunk& chunk,
                                       const Operand& thread) {
  const Operand rank = builder().Sub(Int(kBlockThreads - 1), thread);
  const Operand other = builder().Add(builder().Sub(chunk.number, chunk.rank), rank);
  const Operand count = Choose(
      builder().Scalar(OpCode::kLt, {rank, chunk.rank}),
      [&] { return Operands{builder().Cast(AwaitCount(device, other), DType::kU32)}; },
      [] { return Operands{Word(0)}; })[0];
  builder().Store(chunk.others, {thread, Int(0)}, count);
}

// Those of a warp by halves; the sums of warps, and what rows before keep, are left for all.
void DeviceFilterLowering::AddCounts(const DeviceFilter& device, const FilterChunk& chunk) {
  const Var *from = chunk.others, *to = chunk.next_others;
  for (int64_t half = kLanes / 2; half > 0; half /= 2, std::swap(from, to)) {
    WarpThreads(kBlockThreads, [&](const Operand& thread) {
      const Operand other = builder().EmitOne(
          OpCode::kShuffle, DType::kU32, {from, thread, Int(0), builder().Add(thread, Int(half))});
      builder().Store(to, {thread, Int(0)},
                      builder().Add(builder().Load(from, {thread, Int(0)}), other));
    });
  }
  Threads(kBlockThreads, [&](const Operand& thread) {
    If(builder().Scalar(OpCode::kEq, {LaneOf(thread), Int(0)}), [&] {
      const Operand sum = builder().Load(from, {thread, Int(0)});
      builder().Store(chunk.before_warps, {WarpOf(thread)}, sum);
    });
    If(builder().Scalar(OpCode::kEq, {thread, Int(kWaitsForRow)}),
       [&] { builder().Store(chunk.before_row, {Int(0)}, AwaitRows(device, chunk)); });
  });
}

// How many all before the chunk keep.
Operand DeviceFilterLowering::BeforeChunk(const FilterChunk& chunk) {
  return builder().Add(builder().Load(chunk.before_row, {Int(0)}),
                       AddWarps(chunk.before_warps, Int(kWarps)));
}

void DeviceFilterLowering::PublishRow(const DeviceFilter& device, const FilterChunk& chunk) {
  const Operand next = builder().Add(chunk.number, Int(1));
  const auto behind = [&] {
    return builder().Add(BeforeChunk(chunk), AddWarps(chunk.of_warps, Int(kWarps)));
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

Operands DeviceFilterLowering::ValuesOf(const DeviceFilter& device, const FilterChunk& chunk,
                                        const Operand& thread, const Operand& turn) {
  if (!chunk.values.empty()) {
    Operands values;
    for (const Var* array : chunk.values) values.push_back(builder().Load(array, {thread, turn}));
    return values;
  }
  const Operand i = builder().Add(chunk.start, TurnsElement(thread, turn));
  const Operands element = ElementAt(device.filter, i);
  return {element.begin() + 1, element.end()};
}

void DeviceFilterLowering::StoreKept(const DeviceFilter& device, const FilterChunk& chunk,
                                     const Operand& thread) {
  const Operand lane = builder().Cast(LaneOf(thread), DType::kU32);
  const Operand below = builder().Sub(builder().Scalar(OpCode::kShl, {Word(1), lane}), Word(1));
  const Operand first = builder().Add(BeforeChunk(chunk), AddWarps(chunk.of_warps, WarpOf(thread)));
  const auto count = [&](const Operand& lanes) {
    return builder().Cast(builder().Scalar(OpCode::kPopCount, {lanes}), DType::kI64);
  };
  Carry(Int(0), Int(kTurns), {first}, [&](const Operand& turn, const Operands& next) {
    const Operand lanes = LanesThatKeep(chunk, thread, turn);
    If(builder().Load(chunk.marks, {thread, turn}), [&] {
      const Operand before = count(builder().Scalar(OpCode::kAnd, {lanes, below}));
      StoreAll(device.kept, builder().Add(next[0], before), ValuesOf(device, chunk, thread, turn));
    });
    return Operands{builder().Add(next[0], count(lanes))};
  });
}

}  // namespace parakeet::passes
