// Keeps sums that a loop carries, beside counts and sums at places, at a place of their own.
//
// Before:
//   %e, %m = for %i in 0 to %n step 1 (%s: f64 = %e0, %most: f64 = %m0) {
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d
//     %t = add %s, %w  %is = gt %v, %most  %u = select %is, %v, %most  yield %t, %u }
// After:
//   %sum: [1]f64 = alloc (1)  store %sum[0], %e0
//   for %i in 0 to %n step 1 {
//     %k = load %x[%i]  %c = load %h[%k]  %d = add %c, 1  store %h[%k], %d
//     %s = load %sum[0]  %t = add %s, %w  store %sum[0], %t }
//   %e = load %sum[0]
//   %m = the greatest %v as a reduction of its own
//
// privatize-histograms, which is next, takes what is summed there as what is summed anywhere else:
// in copies, on several threads.
//
// Assumes: index form, behind parallelize-loops, which has made reductions of loops that carry
// alone, and in front of privatize-histograms.
// Refuses: what is carried in no way that loop_reductions.h knows; extremes of what is dear to make
// twice, or makes arrays; loops of which privatize-histograms would not make copies.
#include <algorithm>
#include <optional>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_histograms.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_reductions.h"
#include "passes/lowering/loop_scans.h"
#include "passes/lowering/loop_writer.h"
#include "passes/lowering/storing_loops.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kCheapTwice = 16;  // What is made for an extreme is made in the loop too.

class SumPlacer : public StoringLoops<LoopWriter> {
 public:
  using StoringLoops::StoringLoops;

 protected:
  void Visit(const Binding* b) override {
    if (!inside_ && b->op == OpCode::kFor && !b->results.empty()) {
      const LoopReduction all = ReductionOf(arena(), *b);
      if (all.why_not.empty() && IsBesideHistograms(*b, all) && Write(*b, all)) return;
    }
    VisitWithin(*b, IsOperator(*b));
  }

 private:
  bool IsBesideHistograms(const Binding& loop, const LoopReduction& all) {
    Block body = all.element;
    body.results.clear();
    const HistogramLoop histograms(*Uncarried(loop, std::move(body)), roots_, arrays_,
                                   overlapping_);
    return all.inner_extents.empty() && !histograms.found().empty() && histograms.reason().empty();
  }

  // The loop with a body that carries nothing.
  const Binding* Uncarried(const Binding& loop, Block body) {
    Binding uncarried = loop;
    uncarried.results.clear();
    uncarried.operands.resize(3);
    uncarried.blocks = {arena()->New(std::move(body))};
    return arena()->New(std::move(uncarried));
  }

  // Appends what stands for the loop; false for nothing.
  bool Write(const Binding& loop, const LoopReduction& all) {
    std::vector<size_t> sums, extremes;
    for (size_t k = 0; k < all.totals.size(); ++k) {
      const bool is_sum =
          std::find(loop.results.begin(), loop.results.end(), all.totals[k]) != loop.results.end();
      if (is_sum && !CanBePlaced(all, k)) return false;
      (is_sum ? sums : extremes).push_back(k);
    }
    const Block apart = ElementOf(all, extremes);
    const auto is_scalar = [](const Binding* b) {
      return ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
    };
    if (CostOf(apart) > kCheapTwice ||
        !std::all_of(apart.bindings.begin(), apart.bindings.end(), is_scalar))
      return false;
    WriteLoop(loop, all, sums);
    if (!extremes.empty()) WriteReduction(loop, all, extremes, apart);
    return true;
  }

  // How those accumulators are combined.
  static Block CombineOf(const LoopReduction& all, const std::vector<size_t>& accumulators) {
    Block combine;
    for (const size_t first : {size_t{0}, all.totals.size()}) {
      for (const size_t k : accumulators) combine.params.push_back(all.combine.params[first + k]);
    }
    for (const size_t k : accumulators) combine.results.push_back(all.combine.results[k]);
    combine.bindings = NeededBindings(all.combine, combine.results);
    return combine;
  }

  static std::optional<OpCode> OpOf(const LoopReduction& all, size_t k) {
    return ir::CombineOp(CombineOf(all, {k}), 0);
  }

  static bool CanBePlaced(const LoopReduction& all, size_t k) {
    const auto op = OpOf(all, k);
    const ir::DType dtype = all.totals[k]->type.dtype();
    return op && ir::IsCommutative(*op) && !ir::IsComplex(dtype) && ir::IdentityOf(*op, dtype);
  }

  void WriteLoop(const Binding& loop, const LoopReduction& all, const std::vector<size_t>& sums) {
    std::vector<const Var*> places;
    Block body = all.element;
    ir::Builder steps = builder().Nested();
    for (const size_t k : sums) {
      const Var* total = all.totals[k];
      const ir::Type type = ir::Type::Array(total->type.dtype(), {Operand::Int(1)});
      const Var* place = builder().EmitOne(OpCode::kAlloc, type, type.dims(), {}, {}, total->hint);
      builder().Store(place, {Operand::Int(0)}, Apply(all.inits[k]));
      const Operand sum = steps.Load(place, {Operand::Int(0)});
      steps.Store(place, {Operand::Int(0)}, steps.Scalar(*OpOf(all, k), {sum, body.results[k]}));
      places.push_back(place);
    }
    body.results.clear();
    body.bindings.insert(body.bindings.end(), steps.bindings().begin(), steps.bindings().end());
    builder().Append(Rewrite(Uncarried(loop, std::move(body))));
    for (size_t k = 0; k < sums.size(); ++k) {
      const Var* total = all.totals[sums[k]];
      Replace(total, builder().Load(places[k], {Operand::Int(0)}, total->hint));
    }
  }

  // What an iteration makes of those accumulators, which it stores nothing for. Checks of the loop
  // have been made by then.
  static Block ElementOf(const LoopReduction& all, const std::vector<size_t>& accumulators) {
    Block element{all.element.params, {}, {}};
    for (const size_t k : accumulators) element.results.push_back(all.element.results[k]);
    element.bindings = NeededBindings(all.element, element.results);
    return element;
  }

  void WriteReduction(const Binding& loop, const LoopReduction& all,
                      const std::vector<size_t>& accumulators, const Block& element) {
    Binding reduction{OpCode::kIreduce, {}, {CountOf(builder(), loop)}, {}, {}, loop.span};
    for (const size_t k : accumulators) {
      reduction.results.push_back(all.totals[k]);
      reduction.operands.push_back(all.inits[k]);
    }
    // Its values are the loop's too.
    const Block& own = *ir::CloneBlock(arena(), element);
    reduction.blocks = {CountedBlock(builder(), loop, own),
                        arena()->New(CombineOf(all, accumulators))};
    builder().Append(Rewrite(arena()->New(std::move(reduction))));
    for (const Binding* b : all.after) builder().Append(Rewrite(b));
  }
};

}  // namespace

ir::Program PlaceSums(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return SumPlacer(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
