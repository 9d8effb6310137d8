// Reductions on a GPU whose elements are to be combined in their order: a combine that does not
// commute, or that nothing is known of, as one of the user's.
//
//   %s = ireduce (%i) in (%n) { ... } combine (%a, %b) { ... } tree(block 64)
//
// has a thread for each 64 elements. They lie side by side, so a block of threads brings 16 of each
// part, or as many as fit, to shared memory at a time, neighbours by neighbouring threads. What its
// 256 threads have it combines as neighbours, then neighbours of those: the tree's own levels. A
// second kernel, of one block, combines what the blocks have, by the levels that are left.
#include <algorithm>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/kernel_legality.h"
#include "passes/lowering/lower_reductions.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Attributes;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = LoopWriter::Operands;

namespace {

constexpr int64_t kThreads = 256;
constexpr int64_t kMostTile = 16;
constexpr int64_t kMostBytesOfTile = 48 * 1024;
constexpr int64_t kTogether = 4;  // What a thread loads before it stores any.

bool HasChecks(const ir::Block& block) {
  bool checks = false;
  ir::ForEachBinding(block, [&](const Binding& b) { checks |= b.op == OpCode::kCheck; });
  return checks;
}

}  // namespace

// Behind a check that has failed there is no element that others could combine.
int64_t ReductionLowering::TileOf(const Reduction& r, bool parallel) const {
  const bool is_ordered = for_kernels_ && parallel && r.lanes == 1 && r.extents.size() == 1 &&
                          r.binding.attrs.Int(Attr::kBlock) > 0 && !r.has_arrays;
  if (!is_ordered || !HasForm("gpu-ordered-parts")) return 0;
  for (const ir::Block* block : r.binding.blocks)
    if (NeedsHost(*block) || HasChecks(*block)) return 0;
  int64_t bytes = 0;
  for (const Operand& result : r.binding.blocks[1]->results)
    bytes += ir::SizeInBytes(ir::DTypeOf(result));
  int64_t tile = kMostTile;
  while (tile > 0 && kThreads * (tile + 2) * bytes > kMostBytesOfTile) tile /= 2;
  return tile;
}

Operands ReductionLowering::FoldOrdered(const Reduction& r, int64_t tile) {
  const int64_t run = r.binding.attrs.Int(Attr::kBlock);
  const Ordered ordered{r, run, std::min(tile, run), CeilDiv(r.extents[0], Int(run))};
  const Operand blocks = CeilDiv(ordered.parts, Int(kThreads));
  const PartArrays parts = AllocateParts(r.binding, blocks);
  Blocks(blocks, [&](const Operand& block) { FoldOrderedBlock(ordered, block, parts); });
  // Doublings from one part to all of them.
  const auto is_less = [&](const Var* step) {
    return builder().Scalar(OpCode::kLt, {step, blocks});
  };
  const Var* tested[] = {builder().NewVar(ir::DType::kI64, "step"),
                         builder().NewVar(ir::DType::kI64, "levels")};
  const Var* inside[] = {builder().NewVar(ir::DType::kI64, "step"),
                         builder().NewVar(ir::DType::kI64, "levels")};
  const Var* levels = builder().NewVar(ir::DType::kI64, "levels");
  const ir::Block* condition =
      BlockOf({tested[0], tested[1]}, [&] { return Operands{is_less(tested[0])}; });
  const ir::Block* body = BlockOf({inside[0], inside[1]}, [&] {
    return Operands{builder().Mul(inside[0], Int(2)), builder().Add(inside[1], Int(1))};
  });
  builder().Emit(OpCode::kWhile, {builder().NewVar(ir::DType::kI64), levels}, {Int(1), Int(0)}, {},
                 {condition, body});
  const PartArrays totals = AllocateTotals(parts);
  Blocks(Int(1), [&](const Operand&) {
    CombineNeighbours(r, parts, blocks, levels, false);
    Threads(1, [&](const Operand&) { StoreTotal(r, parts, blocks, totals); });
  });
  Operands loaded;
  for (const Var* total : totals) loaded.push_back(builder().Load(total, {}));
  return loaded;
}

void ReductionLowering::FoldOrderedBlock(Ordered ordered, const Operand& block,
                                         const PartArrays& totals) {
  const Reduction& r = ordered.r;
  // A part's first elements are not to lie in one bank of the memory.
  ordered.elements = AllocateParts(r.binding, Int(kThreads * (ordered.tile + 1)));
  ordered.shared = AllocateParts(r.binding, Int(kThreads));
  for (const Var* shared : ordered.shared) {
    ordered.own.push_back(builder().EmitOne(OpCode::kAlloc, shared->type, shared->type.dims(),
                                            {{Attr::kPrivate, int64_t{1}}}, {}, "own"));
  }
  const Operand first = builder().Mul(block, Int(kThreads));
  const auto in_tile = [&](const Operand& tile) {
    BringTile(ordered, first, tile);
    Threads(kThreads, [&](const Operand& thread) {
      FoldTile(ordered, builder().Add(first, thread), thread, tile);
    });
  };
  Loop(Int(0), Int(ordered.run), {}, in_tile, ordered.tile);
  Threads(kThreads, [&](const Operand& thread) {
    StoreAll(ordered.shared, thread, LoadAll(ordered.own, thread));
  });
  int64_t levels = 0;
  while ((int64_t{1} << levels) < kThreads) ++levels;
  const Operand count = Min(builder().Sub(ordered.parts, first), Int(kThreads));
  CombineNeighbours(r, ordered.shared, count, Int(levels), true);
  Threads(1, [&](const Operand&) { StoreAll(totals, block, LoadAll(ordered.shared, Int(0))); });
}

// From the parts from `first` on, the elements from `tile` on.
void ReductionLowering::BringTile(const Ordered& ordered, const Operand& first,
                                  const Operand& tile) {
  const Reduction& r = ordered.r;
  const Operand begin = builder().Add(builder().Mul(first, Int(ordered.run)), tile);
  int64_t bits = 0;
  while ((int64_t{1} << bits) < ordered.tile) ++bits;
  struct Place {
    Operand element, shared;
  };
  const auto place = [&](const Operand& k) {
    const Operand part = builder().Scalar(OpCode::kShr, {k, Int(bits)});
    const Operand within = builder().Scalar(OpCode::kAnd, {k, Int(ordered.tile - 1)});
    const Operand of_part = builder().Add(begin, builder().Mul(part, Int(ordered.run)));
    return Place{builder().Add(of_part, within),
                 builder().Add(builder().Mul(part, Int(ordered.tile + 1)), within)};
  };
  const int64_t together = IsScalarCode(r) ? std::min(kTogether, ordered.tile) : 1;
  const auto all = [&](const Operand& k) {
    std::vector<Place> places;
    std::vector<Operands> values;
    for (int64_t j = 0; j < together; ++j) {
      places.push_back(place(builder().Add(k, Int(j * kThreads))));
      values.push_back(Element(r, {places.back().element}));
    }
    for (int64_t j = 0; j < together; ++j) StoreAll(ordered.elements, places[j].shared, values[j]);
  };
  const auto some = [&](const Operand& k) {
    const Place at = place(k);
    If(builder().Scalar(OpCode::kLt, {at.element, r.extents[0]}),
       [&] { StoreAll(ordered.elements, at.shared, Element(r, {at.element})); });
  };
  const Operand end = builder().Mul(builder().Add(first, Int(kThreads)), Int(ordered.run));
  const Operand is_whole = builder().Scalar(OpCode::kLe, {end, r.extents[0]});
  Threads(kThreads, [&](const Operand& thread) {
    const Operand last = builder().Add(thread, Int(kThreads * ordered.tile - kThreads + 1));
    const auto each = [&](const std::function<void(const Operand&)>& bring, int64_t count) {
      Loop(thread, last, {}, bring, kThreads * count);
      return Operands{};
    };
    Choose(is_whole, [&] { return each(all, together); }, [&] { return each(some, 1); });
  });
}

// A thread's own part, as far as it is in shared memory.
void ReductionLowering::FoldTile(const Ordered& ordered, const Operand& part, const Operand& thread,
                                 const Operand& tile) {
  const Reduction& r = ordered.r;
  const Operand lo = builder().Add(builder().Mul(part, Int(ordered.run)), tile);
  const Operand left = builder().Sub(r.extents[0], lo);
  const Operand row = builder().Mul(thread, Int(ordered.tile + 1));
  const auto element = [&](const Operand& k) {
    return LoadAll(ordered.elements, builder().Add(row, k));
  };
  const Operand is_first = builder().Scalar(OpCode::kEq, {tile, Int(0)});
  const auto fold = [&](const Operand& count) {
    const Operands begun = Choose(
        is_first, [&] { return r.starts.empty() ? element(Int(0)) : r.starts; },
        [&] { return Combine(r, LoadAll(ordered.own, thread), element(Int(0))); });
    const Operands first = r.starts.empty()
                               ? begun
                               : Choose(
                                     is_first, [&] { return Combine(r, begun, element(Int(0))); },
                                     [&] { return begun; });
    return Carry(Int(1), count, first, [&](const Operand& k, const Operands& so_far) {
      return Combine(r, so_far, element(k));
    });
  };
  If(builder().Scalar(OpCode::kGt, {left, Int(0)}), [&] {
    const Operand is_whole = builder().Scalar(OpCode::kGe, {left, Int(ordered.tile)});
    const Operands folded =
        Choose(is_whole, [&] { return fold(Int(ordered.tile)); }, [&] { return fold(left); });
    StoreAll(ordered.own, thread, folded);
  });
}

// In place: neighbours, then those of 2, of 4 ... places. Of what is `is_whole`, threads have a
// pair at most.
void ReductionLowering::CombineNeighbours(const Reduction& r, const PartArrays& parts,
                                          const Operand& count, const Operand& levels,
                                          bool is_whole) {
  Loop(Int(0), levels, {}, [&](const Operand& level) {
    const Operand step = builder().Scalar(OpCode::kShl, {Int(1), level});
    const Operand twice = builder().Scalar(OpCode::kShl, {Int(2), level});
    const auto combine = [&](const Operand& pair) {
      const Operand left = builder().Mul(pair, twice);
      const Operand right = builder().Add(left, step);
      If(builder().Scalar(OpCode::kLt, {right, count}),
         [&] { StoreAll(parts, left, Combine(r, LoadAll(parts, left), LoadAll(parts, right))); });
    };
    if (is_whole) return Threads(kThreads / 2, combine);
    const Operand pairs = CeilDiv(builder().Sub(count, step), twice);
    Threads(kThreads, [&](const Operand& thread) { Loop(thread, pairs, {}, combine, kThreads); });
  });
}

}  // namespace parakeet::passes
