#include "passes/lowering/lower_filters.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kBlock = 4096;        // Elements that one thread takes at a time.
constexpr int64_t kDearFiltered = 16;   // One that costs more is not computed twice.
constexpr int64_t kLanesOfCounts = 32;  // Four wide registers.
constexpr int64_t kUsualLanes = 8;
constexpr int64_t kAtOnce = 4;  // Elements of a step, which asks for memory ahead once.

bool MayRaise(const ir::Block& block) {
  bool raises = false;
  ir::ForEachBinding(
      block, [&](const Binding& b) { raises |= b.op == OpCode::kCheck || b.op == OpCode::kCall; });
  return raises;
}

}  // namespace

FilterLowering::FilterLowering(ir::Arena* arena, const ir::Function& function)
    : DeviceFilterLowering(arena), copies_(FindFilterCopies(function, Roots(function))) {}

void FilterLowering::LowerFilter(const Binding& b) {
  Filter filter{b, Apply(b.operands), {}, {}};
  filter.size = Product(filter.extents);
  filter.blocks = CeilDiv(filter.size, Int(kBlock));
  const bool once = MayRaise(*b.blocks[0]) || CostOf(*b.blocks[0]) > kDearFiltered;
  const bool on_device = for_kernels_ && b.attrs.Int(Attr::kParallel) != 0;
  if (on_device && !NeedsHost(*b.blocks[0])) return FilterOnDevice(filter, once);
  const Operand places = builder().Add(filter.blocks, Int(1));
  filter.starts = builder().NewVar(ir::Type::Array(DType::kI64, {places}), "starts");
  builder().Emit(OpCode::kAlloc, {filter.starts}, {places});
  once ? WriteThenCopy(filter) : CountThenWrite(filter);
}

void FilterLowering::EachBlock(
    const Filter& filter, int64_t cost,
    const std::function<void(const Operand&, const Operand&, const Operand&)>& body) {
  Attributes kind;
  if (filter.binding.attrs.Int(Attr::kParallel) != 0)
    kind = {{Attr::kKind, std::string("parallel")},
            {Attr::kCost, std::max<int64_t>(1, cost * kBlock)}};
  Loop(Int(0), filter.blocks, kind, [&](const Operand& block) {
    const Operand lo = builder().Mul(block, Int(kBlock));
    body(block, lo, Min(builder().Add(lo, Int(kBlock)), filter.size));
  });
}

Operand FilterLowering::CountKept(const Filter& filter, const Operand& lo, const Operand& hi) {
  const ir::Block& body = *filter.binding.blocks[0];
  const auto one = [&](const Operand& i) {
    return builder().Cast(ElementAt(filter, i)[0], DType::kI64);
  };
  if (for_kernels_ || filter.extents.size() != 1 || !WhyNotVector(body, body.params[0]).empty()) {
    return Carry(lo, hi, {Int(0)}, [&](const Operand& i, const Operands& so_far) {
      return Operands{builder().Add(so_far[0], one(i))};
    })[0];
  }
  const Var* index = builder().NewVar(DType::kI64, "i");
  const ir::Block* element = BlockOf({index}, [&] { return Operands{one(index)}; });
  return builder().EmitOne(OpCode::kLanes, DType::kI64, {lo, hi, Int(0)},
                           Attributes{{Attr::kLanes, kLanesOfCounts}},
                           {element, ir::CombineBlock(arena(), OpCode::kAdd, DType::kI64)}, "kept");
}

Operand FilterLowering::PlaceBlocks(const Filter& filter) {
  const Operand total =
      Carry(Int(0), filter.blocks, {Int(0)}, [&](const Operand& block, const Operands& so_far) {
        const Operand count = builder().Load(filter.starts, {block});
        builder().Store(filter.starts, {block}, so_far[0]);
        return Operands{builder().Add(so_far[0], count)};
      })[0];
  builder().Store(filter.starts, {filter.blocks}, total);
  return total;
}

// An element that is not kept is stored too, and the next one over it: no branch depends on the
// data. Behind the block's last kept one is another block's place, where nothing is stored.
void FilterLowering::CountThenWrite(const Filter& filter) {
  CountBlocks(filter);
  const Operand total = PlaceBlocks(filter);
  if (const auto copy = copies_.find(&filter.binding); copy != copies_.end()) {
    Replace(filter.binding.results[0], total);
    counted_.emplace(copy->second, filter);
    return;
  }
  const Arrays kept = Allocate(filter, total);
  WriteKept(filter, [&](const Operand& place, const Operands& values) {
    for (size_t k = 0; k < kept.size(); ++k) builder().Store(kept[k], {place}, values[k + 1]);
  });
  GiveResults(filter, total, kept);
}

bool FilterLowering::WriteCopied(const Binding& foreach) {
  const auto counted = counted_.find(&foreach);
  if (counted == counted_.end()) return false;
  const Filter& filter = counted->second;
  WriteKept(filter, [&](const Operand& place, const Operands& values) {
    const ir::Block body = *ir::CloneBlock(arena(), *foreach.blocks[0]);
    Replace(body.params[0], place);
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kLoad) {
        Visit(b);
        continue;
      }
      const auto& results = filter.binding.results;
      const auto kept = std::find(results.begin(), results.end(), b->operands[0].var());
      Replace(b->result(), values[kept - results.begin()]);
    }
  });
  return true;
}

void FilterLowering::CountBlocks(const Filter& filter) {
  const int64_t cost = CostOf(*filter.binding.blocks[0]);
  EachBlock(filter, std::max<int64_t>(1, cost / kUsualLanes),
            [&](const Operand& block, const Operand& lo, const Operand& hi) {
              builder().Store(filter.starts, {block}, CountKept(filter, lo, hi));
            });
}

void FilterLowering::WriteKept(const Filter& filter, const Store& write) {
  const int64_t cost = CostOf(*filter.binding.blocks[0]);
  EachBlock(filter, cost, [&](const Operand& block, const Operand& lo, const Operand& hi) {
    const Operand start = builder().Load(filter.starts, {block});
    const Operand end = builder().Load(filter.starts, {builder().Add(block, Int(1))});
    const auto store = [&](const Operands& place, const Operands& values) {
      write(place[0], values);
      return Operands{};
    };
    const auto step = [&](const Operand& i, const Operands& place, bool has_room) {
      const Operands values = ElementAt(filter, i);
      if (has_room) {
        store(place, values);
      } else {
        Choose(
            builder().Scalar(OpCode::kLt, {place[0], end}), [&] { return store(place, values); },
            [] { return Operands{}; });
      }
      return Operands{builder().Add(place[0], builder().Cast(values[0], DType::kI64))};
    };
    const auto steps = [&](const Operand& i, Operands place, bool has_room) {
      for (int64_t k = 0; k < kAtOnce; ++k) place = step(builder().Add(i, Int(k)), place, has_room);
      return place;
    };
    const auto several = [&](const Operand& i, const Operands& place) {
      const Operand behind = builder().Add(place[0], Int(kAtOnce));
      return Choose(
          builder().Scalar(OpCode::kLe, {behind, end}), [&] { return steps(i, place, true); },
          [&] { return steps(i, place, false); });
    };
    const auto single = [&](const Operand& i, const Operands& place) {
      return step(i, place, false);
    };
    const Operand rest = builder().Remainder(builder().Sub(hi, lo), Int(kAtOnce));
    const Operand whole = builder().Sub(hi, rest);
    Carry(whole, hi, Carry(lo, whole, {start}, several, kAtOnce), single);
  });
}

void FilterLowering::WriteThenCopy(const Filter& filter) {
  const Arrays all = Allocate(filter, filter.size);
  EachBlock(
      filter, CostOf(*filter.binding.blocks[0]),
      [&](const Operand& block, const Operand& lo, const Operand& hi) {
        const Operands end = Carry(lo, hi, {lo}, [&](const Operand& i, const Operands& place) {
          const Operands values = ElementAt(filter, i);
          for (size_t k = 0; k < all.size(); ++k) builder().Store(all[k], place, values[k + 1]);
          return Operands{builder().Add(place[0], builder().Cast(values[0], DType::kI64))};
        });
        builder().Store(filter.starts, {block}, builder().Sub(end[0], lo));
      });
  const Operand total = PlaceBlocks(filter);
  const Arrays kept = Allocate(filter, total);
  EachBlock(filter, 1, [&](const Operand& block, const Operand& lo, const Operand&) {
    const Operand start = builder().Load(filter.starts, {block});
    const Operand end = builder().Load(filter.starts, {builder().Add(block, Int(1))});
    const Attributes lanes{{Attr::kKind, std::string("vector")}};
    Loop(Int(0), builder().Sub(end, start), lanes, [&](const Operand& k) {
      for (size_t a = 0; a < kept.size(); ++a) {
        builder().Store(kept[a], {builder().Add(start, k)},
                        builder().Load(all[a], {builder().Add(lo, k)}));
      }
    });
  });
  GiveResults(filter, total, kept);
}

}  // namespace parakeet::passes
