// Lets the threads of a GPU share a loop that stores at places which elements of arrays say.
//
// Before:
//   for %i in 0 to %n step 1 { %k = load %p[%i]  %v = load %x[%i]  store %y[%k], %v }
// After: (where no iteration raises, and there are some; else the loop as it was)
//   %last: [m]i32 = imap (%j) in (%m) { yield -1 }
//   foreach (%i) in (%n) { %k = load %p[%i]  %old = atomic %last[%k], %i {combine = "max"} }
//   foreach (%i) in (%n) {
//     %k = load %p[%i]  %v = load %x[%i]  %l = load %last[%k]
//     %is_last = eq %l, %i  if %is_last { store %y[%k], %v } }
//
// Where elements are read too:
//   for %i in 0 to %n step 1 { %k = load %p[%i]  %a = load %y[%k]  %v = load %x[%i]
//   %b = add %a, %v  store %y[%k], %b }
// After:
//   %keys: [n]i64 = imap (%i) in (%n) { %k = load %p[%i]  yield %k }
//   %order: [n]i64 = imap (%i) in (%n) { yield %i }
//   %s = library_call @argsort(%keys, %order)
//   foreach (%j) in (%n) {
//     %i = load %order[%j]  %k = load %p[%i]  %v = load %x[%i]
//     store %sorted[%j], %k  store %values[%j], %v }
//   foreach (%j) in (%n) {
//     // where %sorted[%j] is another than that of %j - 1: what the iterations with this key do to
//     // %y[%k], in order, with their %values
//   }
//
// So places see what they would have seen, in the same order: results are those of the loop, bit
// by bit. Of loops in loops, all are one, but for those along which iterations never meet (rows
// that are stored or added to), which threads share too.
//
// Assumes: index form, behind privatize-histograms, which has made less of integers and of what
// few places hold; before sort-on-device.
// Refuses: loops inside operators, or of which a loop around says how often they run, unless that
// is how many elements it has kept of an array, or hands on; those that carry values, call or make
// arrays; arrays of which other elements are read than are stored, and checks that cannot be made
// before the loop.
#include <algorithm>
#include <utility>

#include "passes/lowering/checks_alone.h"
#include "passes/lowering/grouped_iterations.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/serial_loops.h"
#include "passes/lowering/storing_loops.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// One thread is sooner done with fewer.
constexpr int64_t kLeastTrips = 64;
constexpr int64_t kMostNumbers = (int64_t{1} << 31) - 1;

// How many elements loops keep of arrays, or hand on from one iteration to the next.
VarSet CountsOfElements(const ir::Function& function) {
  VarSet counts;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.op == OpCode::kIfilter) counts.insert(b.results[0]);
    if (b.op == OpCode::kMax && counts.contains(b.operands[0].var())) counts.insert(b.result());
    if (b.op != OpCode::kFor && b.op != OpCode::kWhile) return;
    for (const Block* block : b.blocks) {
      const VarSet params(block->params.begin(), block->params.end());
      for (const Var* param : block->params) {
        if (!param->type.IsArray()) continue;
        for (const Operand& size : param->type.dims()) {
          if (params.contains(size.var())) counts.insert(size.var());
        }
      }
    }
  });
  return counts;
}

class ScatterSharer : public StoringLoops<GroupedIterations> {
 public:
  ScatterSharer(ir::Arena* arena, const ir::Function& function, Context& context)
      : StoringLoops(arena, function, context), counts_(CountsOfElements(function)) {}

 protected:
  void Visit(const Binding* b) override {
    if (VisitStore(*b)) return;
    if (!inside_ && Share(*b)) return;
    const bool is_kernel = b->op == OpCode::kFor && b->attrs.Has(Attr::kKind);
    VisitWithin(*b, is_kernel || IsOperator(*b));
  }

 private:
  bool Share(const Binding& loop) {
    if (!IsScatterLoop(loop)) return false;
    // Rows of lengths of their own, one after the other, are short: one thread does all of them.
    if (IsOfOwnLength(loop.operands[0]) || IsOfOwnLength(loop.operands[1])) return false;
    if (StoredArraysOf(*loop.blocks[0], roots_, arrays_, overlapping_).empty()) return false;
    const ChecksAlone checks(loop, roots_, ChecksAlone::Form::kReduction);
    const bool may_fail = EffectsOf(*loop.blocks[0], roots_).may_fail;
    if (may_fail && !checks.is_possible()) return false;
    Binding unchecked = loop;
    if (may_fail) unchecked.blocks = {checks.Unchecked(arena())};
    std::vector<const Binding*> outer;
    std::swap(outer, builder().bindings());
    const bool is_shared = Write(loop, *arena()->New(std::move(unchecked)), checks, may_fail);
    std::swap(outer, builder().bindings());
    if (is_shared)
      builder().bindings().insert(builder().bindings().end(), outer.begin(), outer.end());
    return is_shared;
  }

  bool IsOfOwnLength(const Operand& end) const {
    return around_.contains(end.var()) && !counts_.contains(end.var());
  }

  // Appends what stands for the loop; false where it has none.
  bool Write(const Binding& loop, const Binding& unchecked, const ChecksAlone& checks,
             bool may_fail) {
    LoopNest nest = NestOf(builder(), unchecked, roots_);
    const std::vector<StoredArray> stored =
        StoredArraysOf(*nest.body, roots_, arrays_, overlapping_);
    const bool reads = std::any_of(stored.begin(), stored.end(),
                                   [](const StoredArray& each) { return each.IsRead(); });
    const VarSet apart = reads ? ApartByPlace(nest, stored) : ApartIn(nest, stored);
    if (apart.size() == nest.indexes.size()) return false;
    Operand is_worth = IsWorth(nest, apart);
    // Kernels may be started whatever comes of the checks (keep_scalars_on_device.cc).
    for (Operand& extent : nest.extents) {
      if (may_fail) extent = builder().Scalar(OpCode::kSelect, {is_worth, extent, Int(0)});
    }
    const auto groups = reads ? FindGroups(nest, stored, apart) : std::nullopt;
    if (reads && !groups) return false;
    const auto share = [&] {
      const bool outer = std::exchange(inside_, true);  // A loop of an iteration is its own.
      reads ? WriteGroups(nest, stored, *groups, apart) : WriteLastStores(nest, stored, apart);
      inside_ = outer;
      return Operands{};
    };
    const auto as_before = [&] {
      builder().Append(SerialLoops(arena()).Turn(loop));
      return Operands{};
    };
    if (may_fail) {
      const auto check = [&] { return Operands{checks.Write(builder())}; };
      const auto no = [] { return Operands{Operand::Bool(false)}; };
      is_worth = Choose(is_worth, check, no)[0];
    }
    Choose(is_worth, share, as_before, {{Attr::kLikely, int64_t{1}}});
    Tell(loop, reads);
    return true;
  }

  // Whether there are enough iterations, and no more than are numbered: all of them are checked
  // before the first one runs, and a loop that soon fails may have any number. What wraps around
  // has had a product before it that is too large.
  Operand IsWorth(const LoopNest& nest, const VarSet& apart) {
    Operand trips = Int(1), all = Int(1), is_worth = Operand::Bool(true);
    const auto require = [&](OpCode op, const Operand& count, int64_t limit) {
      const Operand holds = builder().Scalar(op, {count, Int(limit)});
      is_worth = builder().Scalar(OpCode::kAnd, {is_worth, holds});
    };
    for (size_t k = 0; k < nest.indexes.size(); ++k) {
      if (!apart.contains(nest.indexes[k])) trips = builder().Mul(trips, nest.extents[k]);
      all = builder().Mul(all, nest.extents[k]);
      if (k > 0) require(OpCode::kLe, nest.extents[k], kMostNumbers);
      require(OpCode::kLe, all, kMostNumbers);
    }
    require(OpCode::kGe, trips, kLeastTrips);
    return is_worth;
  }

  // What earlier passes said of the loop does not hold any more.
  void Tell(const Binding& loop, bool reads) {
    std::erase_if(context_.remarks, [&](const Remark& remark) {
      return remark.span == loop.span && remark.topic == Topic::kThreads &&
             remark.verdict == Verdict::kRefused;
    });
    context_.Note(loop.span,
                  reads ? "grouped by place, spread over threads"
                        : "the last store at each place, spread over threads",
                  Topic::kThreads, Verdict::kDone);
  }

  const VarSet counts_;
};

}  // namespace

ir::Program ShareScatters(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Function* counted = CountLoops(program.arena.get(), function);
    return ScatterSharer(program.arena.get(), *counted, context).Run(counted);
  });
}

}  // namespace parakeet::passes
