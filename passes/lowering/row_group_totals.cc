// What the threads of a row group make together: the totals of its reductions.
#include "ir/builder.h"
#include "passes/lowering/lower_row_groups.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Where a group is of several warps, each of them combines what its threads' numbers have in all.
void RowGroupLowering::CombineThreads(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Totals& totals = totals_.at(&reduction);
  const auto several = [&] {
    Threads(kRowThreads, [&](const Operand& thread) {
      StoreAll(totals.block, thread, LoadAll(totals.own, thread));
    });
    WarpThreads(kRowThreads, [&](const Operand& thread) { CombineWarps(r, totals, thread); });
    CombineLanes(r, totals, /*is_whole=*/true);
    return Operands{};
  };
  const auto one = [&] {
    CombineLanes(r, totals, /*is_whole=*/false);
    return Operands{};
  };
  Choose(builder().Scalar(OpCode::kGt, {group_->threads, Int(kWarpLanes)}), several, one);
}

// Of two, four or eight warps.
void RowGroupLowering::CombineWarps(const Reduction& r, const Totals& totals,
                                    const Operand& thread) {
  const Operand last = builder().Sub(group_->threads, Int(1));
  const Operand in_group = builder().Scalar(OpCode::kAnd, {thread, last});
  const Operand in_warp = builder().Scalar(OpCode::kAnd, {thread, Int(kWarpLanes - 1)});
  const Operand first = builder().Add(builder().Sub(thread, in_group), in_warp);
  const std::function<Operands(int64_t)> of_warps = [&](int64_t warps) {
    const auto these = [&] {
      std::vector<Operands> sums;
      for (int64_t warp = 0; warp < warps; ++warp)
        sums.push_back(LoadAll(totals.block, builder().Add(first, Int(warp * kWarpLanes))));
      return CombineHalves(r, std::move(sums));
    };
    if (warps == 2) return these();
    const Operand has =
        builder().Scalar(OpCode::kGt, {group_->threads, Int(warps / 2 * kWarpLanes)});
    return Choose(has, these, [&] { return of_warps(warps / 2); });
  };
  StoreAll(totals.own, thread, of_warps(kRowThreads / kWarpLanes));
}

// Every lane with the one half a warp further, then half of that, of whose sums those of the lower
// half count.
void RowGroupLowering::CombineLanes(const Reduction& r, const Totals& totals, bool is_whole) {
  const std::vector<const Var*>*from = &totals.own, *to = &totals.next;
  for (int64_t half = kWarpLanes / 2; half > 0; half /= 2, std::swap(from, to)) {
    WarpThreads(kRowThreads, [&](const Operand& thread) {
      const Operands own = LoadAll(*from, thread);
      const Operands other = FromLane(*from, thread, builder().Add(thread, Int(half)));
      const auto both = [&] { return Combine(r, own, other); };
      const Operand is_wide = builder().Scalar(OpCode::kGt, {group_->threads, Int(half)});
      StoreAll(*to, thread, is_whole ? both() : Choose(is_wide, both, [&] { return own; }));
    });
  }
}

RowGroupLowering::Operands RowGroupLowering::FromLane(const std::vector<const Var*>& arrays,
                                                      const Operand& thread, const Operand& lane) {
  Operands values;
  for (const Var* array : arrays) {
    values.push_back(
        builder().EmitOne(OpCode::kShuffle, array->type.dtype(), {array, thread, lane}));
  }
  return values;
}

// The thread's number among those of its group in its warp.
Operand RowGroupLowering::LaneOfWarp(const Operand& thread) {
  const Operand lanes = Min(group_->threads, Int(kWarpLanes));
  return builder().Scalar(OpCode::kAnd, {thread, builder().Sub(lanes, Int(1))});
}

void RowGroupLowering::TakeTotal(const Binding& reduction) {
  const Reduction r = Describe(reduction);
  const Operand first = builder().Sub(thread_, LaneOfWarp(thread_));
  const Operands total = AfterInits(r, FromLane(totals_.at(&reduction).next, thread_, first));
  for (size_t k = 0; k < total.size(); ++k) Replace(reduction.results[k], total[k]);
}

}  // namespace parakeet::passes
