// Says of every operator whether it is spread over threads, and which of its indexes lanes take.
//
// Before:
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) { %a: f64 = load %x[%i, %j]  yield %a }
// After:
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) {parallel = 1, vector = 1} { %a: f64 = load %x[%i,
//   %j]  yield %a }
//
// What a loop around stores at each step and reads again has lanes where it is long enough only:
// masked stores, and those of single elements, are not in memory yet when lanes read them.
//
// Assumes: choose_trees has run: what it chose stays.
// Refuses: threads inside an operator that has them; lanes where the nest says {lanes = 1} or
// vectorize_loops why not, where a loop inside would do better with them, where a loop has a few
// iterations only, does little but go to places that data say or searches for each index alone, and
// where no access moves to the next element with the index and some access does with none.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/reduction_lanes.h"
#include "passes/analyses/short_siblings.h"
#include "passes/analyses/varying_values.h"
#include "passes/analyses/vector_legality.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int64_t kFewIterations = 4;
// Elements of a step below which they are taken in order: fewer than a vector of doubles; fewer
// than waiting for single elements costs.
constexpr int64_t kShortStep = 8;
constexpr int64_t kShortStepOfSingles = 32;
constexpr int kMostOfShortStep = 32;  // Bindings: the elements are written twice.
constexpr int kMostOfShortSibling = 64;
// Of what a routine computes, of which lanes have another than scalars have.
constexpr int kLeastCostOfRoutine = 10;
// Of each access in lanes to places that data say, where some are stores, and where none is.
constexpr int kCostAScatter = 8;
constexpr int kCostAGather = 12;
// Of each access in lanes down a column, where some are stores.
constexpr int kCostAColumn = 4;
// Bytes are gathered one by one anywhere. Their lanes are many, but some processors put them
// together slowly: those whose instructions gather fast.
constexpr int kCostANarrowGather = 10;
constexpr int kCostAFastGather = 4;

class Scheduler : public ir::Mutator {
 public:
  Scheduler(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        patterns_(function),
        roots_(function),
        siblings_(FindShortSiblings(function)),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    switch (b->op) {
      case OpCode::kImap:
      case OpCode::kForeach: return ScheduleNest(*b);
      case OpCode::kContract:
      case OpCode::kIreduce:
      case OpCode::kIscan:
        return Inside(*b, {}, b->op != OpCode::kIreduce || b->attrs.Int(Attr::kBlock) > 0);
      case OpCode::kIfilter: return Inside(*b, {}, true);
      case OpCode::kFor:
      case OpCode::kWhile: {
        // Those that passes have made, of blocks that histograms have, say no reason.
        const bool is_of_user = b->op == OpCode::kWhile || b->attrs.Has(Attr::kWhy);
        const Binding* outermost = std::exchange(loop_, loop_ == nullptr && is_of_user ? b : loop_);
        const Binding* outer = std::exchange(innermost_, b);
        Mutator::Visit(b);
        loop_ = outermost;
        innermost_ = outer;
        return;
      }
      default: return Mutator::Visit(b);
    }
  }

 private:
  void ScheduleNest(const Binding& b) {
    ir::Attributes attrs;
    const bool may_have_lanes =
        !in_lanes_ && !context_.options.kernels && b.attrs.Int(Attr::kLanes) != 1;
    const int axis = may_have_lanes ? VectorAxis(b) : -1;
    if (axis >= 0) attrs = attrs.With(Attr::kVector, int64_t{axis});
    if (const int64_t least = axis >= 0 ? ShortStepOf(b) : 0; least > 0)
      attrs = attrs.With(Attr::kShort, least);
    const bool outer_lanes = std::exchange(in_lanes_, in_lanes_ || axis >= 0);
    const Binding* outer = std::exchange(around_, axis >= 0 ? nullptr : &b);
    Inside(b, attrs, true);
    around_ = outer;
    in_lanes_ = outer_lanes;
  }

  // Appends `b` with `attrs` added, and `parallel` where it may be and nothing around it is.
  void Inside(const Binding& b, const ir::Attributes& attrs, bool may_be_parallel) {
    const bool parallel = may_be_parallel && !in_parallel_;
    const bool outer = std::exchange(in_parallel_, true);
    Binding copy = *Rewrite(&b);
    in_parallel_ = outer;
    for (const auto& [attr, value] : attrs.entries()) copy.attrs = copy.attrs.With(attr, value);
    if (parallel) copy.attrs = copy.attrs.With(Attr::kParallel, int64_t{1});
    NoteSchedule(copy);
    builder().Append(arena()->New(std::move(copy)));
  }

  // True where lanes have the bits of scalars: a value does not depend on its place in a row.
  static bool IsSameAlone(const Binding& b) {
    if (!ir::IsScalarOp(b.op)) return false;
    const ir::DType dtype = b.result()->type.dtype();
    const bool is_sum = b.op == OpCode::kAdd || b.op == OpCode::kSub || b.op == OpCode::kMul;
    if (ir::IsComplex(dtype))
      return is_sum || b.op == OpCode::kConj || b.op == OpCode::kMakeComplex;
    return ir::IsInteger(dtype) || dtype == ir::DType::kBool ||
           (ir::IsFloat(dtype) && InfoOf(b.op).cost < kLeastCostOfRoutine);
  }

  // Below how many elements a nest of a few scalars takes them in order, where the loop around, or
  // a loop in order beside it, reads them again, so that they are loaded soon after they are stored
  // where there are few; or where the loop stores one by one what lanes would read, or reads so
  // what they would store; or beside a reduction that does. 0: lanes take them always.
  int64_t ShortStepOf(const Binding& nest) const {
    if (loop_ == nullptr && around_ == nullptr) return 0;
    size_t count = 0;
    bool is_plain = true;
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      ++count;
      is_plain &= IsSameAlone(b) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                  b.op == OpCode::kCheck;
    });
    const auto sibling = siblings_.find(&nest);
    if (is_plain && count <= kMostOfShortSibling && sibling != siblings_.end())
      return sibling->second.reduction->attrs.Int(Attr::kShort);
    if (!is_plain || count > kMostOfShortStep) return 0;
    if (loop_ == nullptr) return IsWorkedOn(nest) ? kShortStep : 0;
    const ir::Block& step = *loop_->blocks.back();
    const Effects effects = EffectsOf(*nest.blocks[0], roots_);
    ir::VarSet stored = effects.writes;
    for (const Var* result : nest.results) stored.insert(result);
    if (StoresWhereItDid(nest) &&
        (Intersects(effects.reads, StoredOneByOne(step)) || Intersects(stored, ReadInOrder(step))))
      return kShortStepOfSingles;
    return Intersects(EffectsOf(step, roots_).reads, stored) ? kShortStep : 0;
  }

  // True for what an iteration of the nest around makes, and a loop in order then stores to.
  bool IsWorkedOn(const Binding& nest) const {
    const ir::VarSet made(nest.results.begin(), nest.results.end());
    return Intersects(made, StoredOneByOne(*around_->blocks.back()));
  }

  // True where something is stored at places that are those of the iteration before, too.
  bool StoresWhereItDid(const Binding& nest) const {
    const ir::VarSet inside = ir::DefinedVars(*nest.blocks[0]);
    const ir::VarSet made = ir::DefinedVars(*innermost_->blocks.back());
    const auto stays = [&](const Operand& index) {
      return !index.IsVar() || inside.contains(index.var()) || !made.contains(index.var());
    };
    bool does = !nest.results.empty();
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      does |= b.op == OpCode::kStore &&
              std::all_of(b.operands.begin() + 1, b.operands.end() - 1, stays);
    });
    return does;
  }

  // The roots that short reductions read, in order.
  ir::VarSet ReadInOrder(const ir::Block& block) const {
    ir::VarSet read;
    ir::ForEachBinding(block, [&](const Binding& b) {
      if (b.op == OpCode::kIreduce && b.attrs.Has(Attr::kShort))
        read.merge(EffectsOf(*b.blocks[0], roots_).reads);
    });
    return read;
  }

  // The roots of which something stores no neighbours, where branches go as they are likely to.
  ir::VarSet StoredOneByOne(const ir::Block& block, const Var* index = nullptr) const {
    ir::VarSet stored;
    for (const Binding* b : block.bindings) {
      const bool is_nest = InfoOf(b->op).format == ir::OpFormat::kIndices;
      if (b->op == OpCode::kStore && (index == nullptr || !patterns_.LiesNext(*b, index)))
        for (const Var* root : roots_.Of(b->operands[0].var())) stored.insert(root);
      const size_t likely = b->attrs.Has(Attr::kLikely) ? 1 : b->blocks.size();
      for (size_t k = 0; k < likely; ++k) {
        const ir::Block& inner = *b->blocks[k];
        stored.merge(StoredOneByOne(inner, is_nest ? inner.params.back() : index));
      }
    }
    return stored;
  }

  void NoteSchedule(const Binding& b) {
    const bool parallel = b.attrs.Has(Attr::kParallel);
    const bool lanes = b.attrs.Has(Attr::kVector) || b.attrs.Int(Attr::kLanes) > 1;
    if (parallel)
      context_.Note(b.span, lanes ? "spread over threads and lanes" : "spread over threads",
                    Topic::kThreads, Verdict::kDone);
    if (!parallel && lanes)
      context_.Note(b.span, "spread over lanes", Topic::kLanes, Verdict::kDone);
  }

  // The index that lanes take; -1 for none.
  int VectorAxis(const Binding& b) {
    const int best = patterns_.VectorAxis(b);
    if (best < 0 || (in_parallel_ && IsShort(b))) return -1;
    std::string reason = WhyNotVector(*b.blocks[0], b.blocks[0]->params[best]);
    if (reason.empty() && !SuitsAllInside(b)) reason = "a loop in it takes the lanes";
    if (reason.empty() && MostlyScatters(b, b.blocks[0]->params[best]))
      reason = "it does little but go to places that data say";
    if (reason.empty() && MostlyColumns(b, b.blocks[0]->params[best]))
      reason = "it does little but go down columns";
    if (reason.empty() && SearchesAlone(*b.blocks[0], b.blocks[0]->params[best], patterns_))
      reason = "a loop in it searches, and some are long done before others";
    if (reason.empty()) return best;
    context_.Note(b.span, "not vectorised: " + reason, Topic::kLanes, Verdict::kRefused);
    return -1;
  }

  // True where none of the loops inside would do better with the lanes.
  bool SuitsAllInside(const Binding& nest) const {
    bool suits = true;
    ir::ForEachBinding(*nest.blocks[0], [&](const Binding& b) {
      suits &= b.op != OpCode::kForeach || IsShort(b) || SuitsIndexAround(b, nest, patterns_);
    });
    return suits;
  }

  // True where lanes would cost more than they save: they go to such places one after the other.
  bool MostlyScatters(const Binding& nest, const Var* index) const {
    const ir::Block& element = *nest.blocks[0];
    int scattered = 0, stores = 0;
    const ir::VarSet wandering = WanderingPlaces(element, index);
    const auto see = [&](const Binding& b) {
      if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return 0;
      const bool is_scattered = patterns_.IsScattered(b, index) || IsAt(b, wandering);
      scattered += is_scattered;
      stores += is_scattered && b.op == OpCode::kStore;
      return is_scattered ? CostOfGather(b) : 0;
    };
    // What a reduction gathers, it gathers as often as it takes an element; other loops in it are
    // nests of their own.
    int gathers = 0;
    for (const Binding* b : element.bindings) {
      const ir::Block alone{{}, {b}, {}};
      if (b->op == OpCode::kIreduce) gathers += CostOf(alone, see);
      else ir::ForEachBinding(alone, [&](const Binding& inner) { gathers += see(inner); });
    }
    if (!wandering.empty()) {  // as often as loops inside go there
      const auto moved = [&](const Binding& b) {
        const bool is_access = b.op == OpCode::kLoad || b.op == OpCode::kStore;
        return is_access && IsAt(b, wandering) ? kCostAScatter : 0;
      };
      return CostUnchecked(element) < CostOf(element, moved);
    }
    if (stores > 0) return CostUnchecked(element) < kCostAScatter * scattered;
    return CostOf(element) < gathers;
  }

  static bool IsAt(const Binding& access, const ir::VarSet& places) {
    if (places.empty()) return false;
    const auto first = access.operands.begin() + 1;
    return std::any_of(first, first + access.operands[0].var()->type.rank(),
                       [&](const Operand& at) { return at.IsVar() && places.contains(at.var()); });
  }

  // What loops carry that go on in some lanes only, and what is computed of it, where something is
  // stored at such places: an insertion moves elements in each lane as far as they go; or where
  // elements there say how long they go on.
  static ir::VarSet WanderingPlaces(const ir::Block& element, const Var* index) {
    ir::VarSet places;
    bool loops = false;
    ir::ForEachBinding(element, [&](const Binding& b) { loops |= b.op == OpCode::kWhile; });
    if (!loops) return places;
    const ir::VarSet varying = VaryingValues(element, index);
    const auto varies = [&](const Var* value) { return varying.contains(value); };
    const auto add = [&](const std::vector<const Var*>& values) {
      for (const Var* value : values) {
        if (value->type == ir::Type(ir::DType::kI64)) places.insert(value);
      }
    };
    bool stores = false;
    ir::ForEachBinding(element, [&](const Binding& b) {
      if (b.op == OpCode::kWhile && std::any_of(b.results.begin(), b.results.end(), varies)) {
        for (const ir::Block* block : b.blocks) add(block->params);
        add(b.results);
      }
      const auto is_place = [&](const Operand& o) { return o.IsVar() && places.contains(o.var()); };
      const bool follows = std::any_of(b.operands.begin(), b.operands.end(), is_place);
      if (ir::IsScalarOp(b.op) && follows) add(b.results);
      stores |= b.op == OpCode::kStore && IsAt(b, places);
    });
    return stores || FollowsElements(element, index) ? places : ir::VarSet{};
  }

  // True where all that is read or stored anew lies in columns, which lanes read and store one by
  // one, and little is done with it. Lanes hide what a loop inside waits for where it carries
  // something of each lane, but not where what it carries is the same in all.
  bool MostlyColumns(const Binding& nest, const Var* index) const {
    const ir::Block& element = *nest.blocks[0];
    const ir::VarSet varying = VaryingValues(element, index);
    const auto varies = [&](const Var* value) { return varying.contains(value); };
    const auto is_column = [&](const Binding& b) {
      return patterns_.IsInColumn(b, index) || patterns_.IsFarApart(b, index);
    };
    int stores = 0, others = 0;
    ir::ForEachBinding(element, [&](const Binding& b) {
      const bool is_loop = b.op == OpCode::kFor && !b.results.empty() &&
                           std::none_of(b.results.begin(), b.results.end(), varies);
      others += !b.blocks.empty() && !is_loop;
      if (b.op != OpCode::kLoad && b.op != OpCode::kStore) return;
      stores += is_column(b) && b.op == OpCode::kStore;
      others += !is_column(b) && patterns_.AlongIndex({{}, {&b}, {}}, {index}, index).next > 0;
    });
    if (stores == 0 || others > 0 || !nest.results.empty()) return false;
    const auto moved = [&](const Binding& b) {
      const bool is_access = b.op == OpCode::kLoad || b.op == OpCode::kStore;
      return is_access && is_column(b) ? kCostAColumn : 0;
    };
    return CostUnchecked(element) < CostOf(element, moved);
  }

  int CostOfGather(const Binding& access) const {
    const bool is_fast = context_.options.fast_gathers;
    if (ir::SizeInBytes(ir::DTypeOf(access.operands[0])) <= 2)
      return is_fast ? kCostAGather : kCostANarrowGather;
    return is_fast ? kCostAFastGather : kCostAGather;
  }

  // Without what only checks ask: lanes save little of branches that nobody takes.
  static int CostUnchecked(const ir::Block& block) {
    ir::VarSet needed;
    for (const Operand& result : block.results) needed.insert(result.var());
    const auto is_needed = [&](const Binding& b) {
      const auto is_read = [&](const Var* result) { return needed.contains(result); };
      return b.op != OpCode::kCheck &&
             (b.results.empty() || std::any_of(b.results.begin(), b.results.end(), is_read));
    };
    size_t known = 0;
    do {
      known = needed.size();
      ir::ForEachBinding(block, [&](const Binding& b) {
        if (!is_needed(b)) return;
        ir::ForEachUse(b, [&](const Var* value) { needed.insert(value); });
      });
    } while (needed.size() > known);
    return CostOf(block, [&](const Binding& b) { return is_needed(b) ? InfoOf(b.op).cost : 0; });
  }

  // True where so few iterations are known that they are written out.
  static bool IsShort(const Binding& nest) {
    int64_t count = 1;
    for (size_t axis = 0; axis < nest.blocks[0]->params.size(); ++axis) {
      const Operand& extent = nest.operands[axis];
      if (!extent.IsConstant() || extent.constant().integer > kFewIterations) return false;
      count *= extent.constant().integer;
    }
    return count <= kFewIterations;
  }

  AccessPatterns patterns_;
  Roots roots_;
  std::unordered_map<const Binding*, ShortSiblings> siblings_;
  Context& context_;
  const Binding* loop_ = nullptr;    // The outermost around that goes in order,
  const Binding* around_ = nullptr;  // The nest around that lanes do not take.
  const Binding* innermost_ = nullptr;
  bool in_parallel_ = false;
  bool in_lanes_ = false;
};

}  // namespace

ir::Program Schedule(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Scheduler(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
