#include "passes/lowering/lower_device_filters.h"

#include "ir/builder.h"

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
constexpr int64_t kRun = 16;    // Elements of a thread,
constexpr int64_t kGroup = 16;  // and threads whose counts one of them adds up.

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

void DeviceFilterLowering::FilterOnDevice(const Filter& filter, bool once) {
  Made made;
  if (once) {
    made.push_back(builder().NewVar(ir::Type::Array(DType::kBool, {filter.size}), "kept"));
    builder().Emit(OpCode::kAlloc, {made[0]}, {filter.size});
    const Arrays values = Allocate(filter, filter.size);
    made.insert(made.end(), values.begin(), values.end());
  }
  CountChunks(filter, made);
  PlaceChunks(filter);
  const Operand total = builder().Load(filter.starts, {filter.blocks});
  const Arrays kept = Allocate(filter, total);
  if (!kept.empty()) WriteChunks(filter, made, kept);
  GiveResults(filter, total, kept);
}

void DeviceFilterLowering::EachChunk(
    const Filter& filter,
    const std::function<void(const Operand&, const Operand&, const Operand&)>& body) {
  Loop(Int(0), filter.blocks, BlockKind(), [&](const Operand& chunk) {
    const Operand start = builder().Mul(chunk, Int(kChunk));
    body(chunk, start, Min(builder().Sub(filter.size, start), Int(kChunk)));
  });
}

const Var* DeviceFilterLowering::CountByThreads(
    const std::function<Operand(const Operand& thread)>& count) {
  const Var* counts = builder().NewVar(ir::Type::Array(DType::kI64, {Int(kThreads)}), "counts");
  builder().Emit(OpCode::kAlloc, {counts}, {Int(kThreads)});
  Threads(kThreads,
          [&](const Operand& thread) { builder().Store(counts, {thread}, count(thread)); });
  return counts;
}

Operand DeviceFilterLowering::AddBefore(const Var* counts, const Operand& lo, const Operand& hi) {
  return Carry(lo, hi, {Int(0)}, [&](const Operand& k, const Operands& so_far) {
    const Operand own = builder().Load(counts, {k});
    builder().Store(counts, {k}, so_far[0]);
    return Operands{builder().Add(so_far[0], own)};
  })[0];
}

std::function<Operand(const Operand&)> DeviceFilterLowering::PlaceThreads(
    const Var* counts, const std::function<void(const Operand&)>& use) {
  const Operand groups = Int(kThreads / kGroup);
  const Var* before = builder().NewVar(ir::Type::Array(DType::kI64, {groups}), "before");
  builder().Emit(OpCode::kAlloc, {before}, {groups});
  Threads(kThreads / kGroup, [&](const Operand& group) {
    const Operand lo = builder().Mul(group, Int(kGroup));
    builder().Store(before, {group}, AddBefore(counts, lo, builder().Add(lo, Int(kGroup))));
  });
  Threads(1, [&](const Operand&) { use(AddBefore(before, Int(0), groups)); });
  return [this, counts, before](const Operand& thread) {
    const Operand group = builder().Scalar(OpCode::kFloorDiv, {thread, Int(kGroup)});
    return builder().Add(builder().Load(before, {group}), builder().Load(counts, {thread}));
  };
}

void DeviceFilterLowering::CountChunks(const Filter& filter, const Made& made) {
  EachChunk(filter, [&](const Operand& chunk, const Operand& start, const Operand& size) {
    const auto count = [&](const Operand& k, const Operands& so_far) {
      const Operand i = builder().Add(start, k);
      const Operands values = ElementAt(filter, i);
      if (!made.empty()) StoreAll(made, i, values);
      return Operands{builder().Add(so_far[0], builder().Cast(values[0], DType::kI64))};
    };
    const Var* counts = CountByThreads(
        [&](const Operand& thread) { return Carry(thread, size, {Int(0)}, count, kThreads)[0]; });
    PlaceThreads(counts,
                 [&](const Operand& total) { builder().Store(filter.starts, {chunk}, total); });
  });
}

void DeviceFilterLowering::PlaceChunks(const Filter& filter) {
  Loop(Int(0), Int(1), BlockKind(), [&](const Operand&) {
    const Operand width = CeilDiv(filter.blocks, Int(kThreads));
    const auto first = [&](const Operand& thread) { return builder().Mul(thread, width); };
    const auto behind = [&](const Operand& lo) {
      return Min(builder().Add(lo, width), filter.blocks);
    };
    const Var* counts = CountByThreads([&](const Operand& thread) {
      const Operand lo = first(thread);
      return Carry(lo, behind(lo), {Int(0)}, [&](const Operand& k, const Operands& so_far) {
        return Operands{builder().Add(so_far[0], builder().Load(filter.starts, {k}))};
      })[0];
    });
    const auto place = PlaceThreads(counts, [&](const Operand& total) {
      builder().Store(filter.starts, {filter.blocks}, total);
    });
    Threads(kThreads, [&](const Operand& thread) {
      const Operand lo = first(thread);
      Carry(lo, behind(lo), {place(thread)}, [&](const Operand& k, const Operands& so_far) {
        const Operand own = builder().Load(filter.starts, {k});
        builder().Store(filter.starts, {k}, so_far[0]);
        return Operands{builder().Add(so_far[0], own)};
      });
    });
  });
}

const Var* DeviceFilterLowering::PlaceElements(const Filter& filter, const Made& made,
                                               const Operand& start, const Operand& size) {
  const Operand room = Int(kChunk + kChunk / kRun);
  const Var* places = builder().NewVar(ir::Type::Array(DType::kI32, {room}), "places");
  builder().Emit(OpCode::kAlloc, {places}, {room});
  const auto mark = [&](const Operand& k) {
    const Operand i = builder().Add(start, k);
    const Operand is_kept = made.empty() ? ElementAt(filter, i)[0] : builder().Load(made[0], {i});
    builder().Store(places, {Spread(k, kRun)}, builder().Cast(is_kept, DType::kI32));
  };
  Threads(kThreads, [&](const Operand& thread) { Loop(thread, size, {}, mark, kThreads); });
  const auto each_of_run = [&](const Operand& thread, const Operand& so_far, const auto& use) {
    const Operand lo = builder().Mul(thread, Int(kRun));
    return Carry(lo, Min(builder().Add(lo, Int(kRun)), size), {so_far},
                 [&](const Operand& k, const Operands& carried) {
                   const Operand own = builder().Load(places, {Spread(k, kRun)});
                   use(k, own, carried[0]);
                   return Operands{builder().Add(carried[0], builder().Cast(own, DType::kI64))};
                 })[0];
  };
  const Var* counts = CountByThreads([&](const Operand& thread) {
    return each_of_run(thread, Int(0), [](const Operand&, const Operand&, const Operand&) {});
  });
  const auto place = PlaceThreads(counts, [](const Operand&) {});
  Threads(kThreads, [&](const Operand& thread) {
    each_of_run(thread, place(thread),
                [&](const Operand& k, const Operand& own, const Operand& at) {
                  const Operand is_kept = builder().Cast(own, DType::kBool);
                  const Operand to = builder().Scalar(OpCode::kSelect, {is_kept, at, Int(-1)});
                  builder().Store(places, {Spread(k, kRun)}, builder().Cast(to, DType::kI32));
                });
  });
  return places;
}

void DeviceFilterLowering::WriteChunks(const Filter& filter, const Made& made, const Arrays& kept) {
  EachChunk(filter, [&](const Operand& chunk, const Operand& start, const Operand& size) {
    const Var* places = PlaceElements(filter, made, start, size);
    const Operand first = builder().Load(filter.starts, {chunk});
    const auto store = [&](const Operand& k) {
      const Operand place = builder().Cast(builder().Load(places, {Spread(k, kRun)}), DType::kI64);
      If(builder().Scalar(OpCode::kGe, {place, Int(0)}), [&] {
        const Operand i = builder().Add(start, k);
        const Operands values = made.empty() ? ElementAt(filter, i) : LoadAll(made, i);
        StoreAll(kept, builder().Add(first, place), {values.begin() + 1, values.end()});
      });
    };
    Threads(kThreads, [&](const Operand& thread) { Loop(thread, size, {}, store, kThreads); });
  });
}

}  // namespace parakeet::passes
