// Decides comparisons of indexes and sizes by what their ranges prove, so that checks, wraps and
// clips disappear; and whether floats that are known to be small are finite.
//
// Before:
//   imap (%i) in (%n) { %ok: bool = lt %i, %n  check %ok, site 0 at (1, %i) with (%i, %n)  %a =
//   load %x[%i]  yield %a }
// After:
//   imap (%i) in (%n) { %a = load %x[%i]  yield %a }
//
// What a check or a branch has said counts after it, or inside it. An element of an array that is
// never stored to lies between the least and the largest of all, where these have been made. What a
// loop carries has the limits that its body keeps, which copies of the loop are walked to find;
// where it surely runs and never reads what it is given, it is given a constant.
//
// Assumes: what ranges.h says of the sizes of arrays; it runs at every stage before loops are
// written.
// Refuses: what linear forms of indexes, sizes, constants, min, max and select do not show; those
// comparisons stay.
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ir/fold.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_limits.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/float_ranges.h"
#include "passes/analyses/ranges.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kMostTrials = 2;    // One inside the other: each walks what is inside again.
constexpr int kMostNested = 256;  // Bindings that such walks inside a walk go through.
constexpr int kMostWalks = 8;
constexpr int64_t kFewestAround = 16;  // Of a known number of places with an edge to go around.

class BoundsProver : public ir::Mutator {
 public:
  BoundsProver(ir::Arena* arena, const ir::Function& function, bool fastmath)
      : Mutator(arena), floats_(fastmath) {
    for (const Var* size : function.Sizes()) ranges_.IsSize(size);
    FindWhatNeverChanges(function);
  }

 protected:
  void Visit(const Binding* b) override {
    if (IsLoop(b->op)) b = WithoutUnreadInits(b);
    if (b->results.size() == 1 && b->blocks.empty()) {
      std::vector<Operand> operands = Apply(b->operands);
      if (b->op == OpCode::kSelect) operands[0] = DecidedHere(operands[0]);
      if (auto value = Folded(*b, operands)) return Replace(b->result(), *value);
      if (auto value = Decide(b->op, operands)) return Replace(b->result(), *value);
      if (b->op == OpCode::kMod && IsI64(operands) &&
          (WrapOnce(*b, operands) || TurnOnce(*b, operands)))
        return;
    }
    if (b->op == OpCode::kCheck || b->op == OpCode::kIf) {
      const Operand condition = DecidedHere(Apply(b->operands[0]));
      if (b->op == OpCode::kCheck && condition.IsInt(1)) return;
      if (b->op == OpCode::kIf && condition.IsConstant())
        return VisitTaken(*b->blocks[condition.IsInt(1) ? 0 : 1], b->results);
    }
    const CarriedLimits limits = FindCarriedLimits(*b);
    const Binding* rewritten = Walk(*b, limits);
    builder().Append(rewritten);
    ranges_.Define(*rewritten);
    floats_.Define(*rewritten, ranges_);
    if (b->op == OpCode::kCast) BoundWhole(*rewritten);
    if (IsComparison(b->op)) compared_[rewritten->result()] = depth_;
    limits.Conclude(*rewritten, ranges_);
    if (IsLoop(b->op)) ReplaceConstants(*b, *rewritten);
    if (b->op == OpCode::kWhile) AssumeBehind(*rewritten);
    if (b->op == OpCode::kCheck) ranges_.Assume(rewritten->operands[0], true);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t mark = ranges_.Enter();
    ++depth_;
    if (const auto known = assumed_.find(block); known != assumed_.end()) {
      const Assumption assumption = known->second;
      ranges_.Assume(Apply(assumption.condition), assumption.value, assumption.renames);
    }
    const bool is_tried = trial_ != nullptr && block == trial_->loop.blocks.back();
    if (is_tried) trial_->limits.GuessAtStart(trial_->loop, ranges_);
    const Block* rewritten = Mutator::VisitBlock(block);
    if (is_tried)
      trial_->holds = trial_->limits.KeepAtEnd(trial_->loop, rewritten->results, ranges_);
    ranges_.EndBlock(*rewritten);
    ranges_.Leave(mark);
    --depth_;
    return rewritten;
  }

 private:
  // The side of a branch that is always taken stands in its place: what it yields is plain.
  void VisitTaken(const Block& taken, const std::vector<const Var*>& results) {
    for (const Binding* b : taken.bindings) Visit(b);
    for (size_t k = 0; k < results.size(); ++k) Replace(results[k], taken.results[k]);
  }

  static bool IsComparison(OpCode op) {
    return op == OpCode::kLt || op == OpCode::kLe || op == OpCode::kGt || op == OpCode::kGe ||
           op == OpCode::kEq || op == OpCode::kNe;
  }

  // A comparison that was made in front of a branch may be plain inside it: `i < 0` where a guard
  // has said that i is none of that.
  Operand DecidedHere(const Operand& condition) const {
    const auto made = condition.IsVar() ? compared_.find(condition.var()) : compared_.end();
    if (made == compared_.end() || made->second == depth_) return condition;
    const Binding* b = ranges_.DefinitionOf(condition);
    return b == nullptr ? condition : Decide(b->op, b->operands).value_or(condition);
  }

  // The binding with its blocks visited, where what a loop carries has these limits.
  const Binding* Walk(const Binding& b, const CarriedLimits& limits) {
    const size_t mark = ranges_.Enter();
    BoundIndexes(b);
    limits.Suppose(b, ranges_);
    AssumeInBlocks(b);
    const Binding* rewritten = Rewrite(&b);
    ranges_.Leave(mark);
    return rewritten;
  }

  // A walk of a loop's copy, whose values are its own, so that nothing is left of what was decided.
  struct Trial {
    const Binding& loop;
    CarriedLimits& limits;
    bool holds = false;
  };

  CarriedLimits FindCarriedLimits(const Binding& b) {
    if (!asks_ || !IsLoop(b.op) || trials_ == kMostTrials) return {};
    CarriedLimits limits(b, Apply(b.operands), ranges_);
    if (limits.IsEmpty()) return {};
    const int length = LengthOf(b);
    if (trials_ == 0) nested_ = 0;
    ++trials_;
    bool holds = false;
    for (int walk = 0; walk < kMostWalks && !holds && !limits.IsEmpty(); ++walk) {
      if (trials_ > 1 && (nested_ += length) > kMostNested) break;
      const Block alone{{}, {&b}, {}};
      Trial trial{*ir::CloneBlock(arena(), alone)->bindings[0], limits};
      Trial* const outer = std::exchange(trial_, &trial);
      Walk(trial.loop, limits);
      trial_ = outer;
      holds = trial.holds;
      if (limits.Admit(ranges_)) holds = false;
    }
    --trials_;
    if (!holds) limits.Clear();
    return limits;
  }

  static int LengthOf(const Binding& b) {
    int length = 0;
    ir::ForEachBinding(Block{{}, {&b}, {}}, [&](const Binding&) { ++length; });
    return length;
  }

  // What a loop carries but never reads, and surely makes, begins as anything: the counter of an
  // inner loop, read behind it, is none of an outer one's.
  const Binding* WithoutUnreadInits(const Binding* loop) {
    if (loop->results.empty() || !Runs(*loop)) return loop;
    ir::VarSet read;
    for (const Block* block : loop->blocks)
      ir::ForEachUse(*block, [&](const Var* var) { read.insert(var); });
    Binding copy = *loop;
    bool changed = false;
    for (size_t k = 0; k < loop->results.size(); ++k) {
      const bool is_read =
          std::any_of(loop->blocks.begin(), loop->blocks.end(), [&](const Block* block) {
            return read.contains(block->params[FirstCarried(*loop) + k]);
          });
      Operand& init = copy.operands[FirstInit(*loop) + k];
      if (is_read || !ir::TypeOf(init).IsScalar()) continue;
      const Operand& next = loop->blocks.back()->results[k];
      const Operand any = next.IsConstant() ? next : Operand(ir::ZeroOf(ir::DTypeOf(init)));
      changed |= init != any;
      init = any;
    }
    return changed ? arena()->New(std::move(copy)) : loop;
  }

  // What begins as a constant, and is the same again behind every iteration, is that.
  void ReplaceConstants(const Binding& from, const Binding& loop) {
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Operand& next = loop.blocks.back()->results[k];
      if (next.IsConstant() && next == loop.operands[FirstInit(loop) + k])
        Replace(from.results[k], next);
    }
  }

  // True where the loop has a first iteration, whatever the values are.
  bool Runs(const Binding& loop) const {
    if (loop.op == OpCode::kFor) {
      const bool up = loop.operands[2].constant().integer > 0;
      const Operand lo = Apply(loop.operands[0]), hi = Apply(loop.operands[1]);
      return up ? ranges_.ProvesLt(lo, hi) : ranges_.ProvesLt(hi, lo);
    }
    const Block& condition = *loop.blocks[0];
    std::unordered_map<const Var*, Operand> first;  // values of the first time it is asked
    const std::vector<Operand> inits = Apply(loop.operands);
    for (size_t k = 0; k < condition.params.size(); ++k)
      first.emplace(condition.params[k], inits[k]);
    const auto at_first = [&](const Operand& operand) {
      const auto found = operand.IsVar() ? first.find(operand.var()) : first.end();
      return found == first.end() ? Apply(operand) : found->second;
    };
    for (const Binding* b : condition.bindings) {
      if (!ir::IsScalarOp(b->op)) return false;
      std::vector<Operand> operands;
      for (const Operand& operand : b->operands) operands.push_back(at_first(operand));
      std::optional<Operand> value = Folded(*b, operands);
      if (!value) value = Decide(b->op, operands);
      if (value) first.emplace(b->result(), *value);
    }
    return at_first(condition.results[0]) == Operand::Bool(true);
  }

  // The condition is false of what a loop ends with.
  void AssumeBehind(const Binding& loop) {
    Ranges::Renames renames;
    for (size_t k = 0; k < loop.results.size(); ++k) {
      renames.emplace_back(loop.blocks[0]->params[k], loop.results[k]);
    }
    ranges_.Assume(loop.blocks[0]->results[0], false, renames);
  }

  // Arguments that may overlap change by each other's names.
  void FindWhatNeverChanges(const ir::Function& function) {
    const Roots roots(function);
    const Effects effects = EffectsOf(*function.body, roots);
    const auto see = [&](const Var* var) {
      if (var->type.IsArray() && !Intersects(roots.Of(var), effects.writes))
        ranges_.NeverChanges(var);
    };
    for (const ir::Param& param : function.params) {
      if (!function.may_overlap) see(param.var);
    }
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      asks_ |= b.op == OpCode::kCheck || b.op == OpCode::kMod || b.op == OpCode::kMin ||
               b.op == OpCode::kMax;
      const bool makes = ir::InfoOf(b.op).format == ir::OpFormat::kIndices;
      for (const Var* result : b.results) {
        if (makes) see(result);
      }
    });
  }

  // What holds where a block begins.
  struct Assumption {
    Operand condition;
    bool value = true;
    Ranges::Renames renames;
  };

  // A branch knows its condition; a loop's body that the loop's condition was true of its values.
  void AssumeInBlocks(const Binding& b) {
    if (b.op == OpCode::kIf) {
      assumed_[b.blocks[0]] = {b.operands[0], true, {}};
      assumed_[b.blocks[1]] = {b.operands[0], false, {}};
    } else if (b.op == OpCode::kWhile) {
      Assumption assumption{b.blocks[0]->results[0], true, {}};
      for (size_t k = 0; k < b.blocks[0]->params.size(); ++k) {
        assumption.renames.emplace_back(b.blocks[0]->params[k], b.blocks[1]->params[k]);
      }
      assumed_[b.blocks[1]] = std::move(assumption);
    }
  }

  // Tells the ranges of the indexes that the binding's block runs over.
  void BoundIndexes(const Binding& b) {
    if (b.op == OpCode::kFor || b.op == OpCode::kLanes) {
      const int64_t step = b.op == OpCode::kFor ? b.operands[2].constant().integer : 1;
      ranges_.Bound(b.blocks[0]->params[0], Apply(b.operands[0]), Apply(b.operands[1]), step);
    } else if (InfoOf(b.op).format == ir::OpFormat::kIndices) {
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis) {
        ranges_.Bound(b.blocks[0]->params[axis], Operand::Int(0), Apply(b.operands[axis]), 1);
      }
    }
  }

  // What a decision makes plain is used at once: the next bound may rest on it.
  static std::optional<Operand> Folded(const Binding& b, const std::vector<Operand>& operands) {
    return ir::IsScalarOp(b.op) ? ir::Fold(b.op, operands, b.result()->type) : std::nullopt;
  }

  // An integer made of a float that is known to be small.
  void BoundWhole(const Binding& cast) {
    if (cast.result()->type != ir::Type(DType::kI64)) return;
    if (!ir::IsFloat(ir::DTypeOf(cast.operands[0]))) return;
    if (const auto bounds = floats_.WholeOf(cast.operands[0])) {
      ranges_.Limit(cast.result(), false, LinearForm::Of(bounds->first));
      ranges_.Limit(cast.result(), true, LinearForm::Of(bounds->second));
    }
  }

  static bool IsI64(const std::vector<Operand>& in) {
    return !in.empty() && TypeOf(in.back()).IsScalar() && ir::DTypeOf(in.back()) == DType::kI64;
  }

  // x mod n => x < 0 ? x + n : x for x in [-n, n), and x < n ? x : x - n for x in [0, 2n): a
  // neighbour around the edge. The index of a reshape stays what passes know it by.
  bool WrapOnce(const Binding& b, const std::vector<Operand>& in) {
    const LinearForm place = ranges_.FormOf(in[0]), size = ranges_.FormOf(in[1]);
    const auto is_one = [](const auto& term) { return std::abs(term.second) == 1; };
    const bool is_neighbour = place.terms.size() + (place.constant != 0) > 1 &&
                              std::all_of(place.terms.begin(), place.terms.end(), is_one);
    if (!is_neighbour) return false;
    // Of a few, parts of a loop between the borders would be as short.
    if (in[1].IsConstant() && in[1].constant().integer < kFewestAround) return false;
    const auto is_below = [&](int64_t times) {
      LinearForm gap = LinearForm::Of(int64_t{-1});
      gap.Add(size, times);
      gap.Add(place, -1);
      return ranges_.ProvesNonNegative(gap);
    };
    LinearForm above = place;
    above.Add(size, 1);
    const bool wraps_up = ranges_.ProvesNonNegative(above) && is_below(1);
    if (!wraps_up && !(ranges_.ProvesNonNegative(place) && is_below(2))) return false;
    Wrap(b, in[0], in[1], wraps_up);
    return true;
  }

  // (x + c) mod n of x in [0, n) => x + c mod n, less n where that is not below it, where c is
  // known before x: in a loop over x the division is the same every time.
  bool TurnOnce(const Binding& b, const std::vector<Operand>& in) {
    const Binding* sum = ranges_.DefinitionOf(in[0]);
    if (sum == nullptr || (sum->op != OpCode::kAdd && sum->op != OpCode::kSub)) return false;
    if (in[1].IsConstant() || !ranges_.IsExact(*sum)) return false;
    for (const int side : {0, 1}) {
      const Operand &x = sum->operands[side], &c = sum->operands[1 - side];
      if (sum->op == OpCode::kSub && side == 1) break;
      const bool is_index = x.IsVar() && ranges_.DefinitionOf(x) == nullptr;
      if (!is_index || !ranges_.IsKnownBefore(c, x.var()) || !IsBelow(x, in[1])) continue;
      const Operand by = sum->op == OpCode::kSub ? Make(OpCode::kSub, {Operand::Int(0), c}) : c;
      const Operand turned = Make(OpCode::kAdd, {x, Make(OpCode::kMod, {by, in[1]})});
      Wrap(b, turned, in[1], false);
      return true;
    }
    return false;
  }

  // Puts the place, moved by the size where it is outside, for what the binding makes.
  void Wrap(const Binding& b, const Operand& place, const Operand& size, bool up) {
    const Operand moved = Make(up ? OpCode::kAdd : OpCode::kSub, {place, size});
    const Operand is_inside =
        up ? Make(OpCode::kGe, {place, Operand::Int(0)}) : Make(OpCode::kLt, {place, size});
    const Operand value = Make(OpCode::kSelect, {is_inside, place, moved}, b.result()->hint);
    if (value.IsVar()) {
      ranges_.Limit(value.var(), false, LinearForm::Of(int64_t{0}));
      LinearForm last = ranges_.FormOf(size);
      last.constant -= 1;
      ranges_.Limit(value.var(), true, last);
    }
    Replace(b.result(), value);
  }

  Operand Make(OpCode op, std::vector<Operand> operands, std::string_view hint = "") {
    const size_t count = builder().bindings().size();
    const Operand value = builder().Scalar(op, std::move(operands), hint);
    if (builder().bindings().size() > count) ranges_.Define(*builder().bindings().back());
    return value;
  }

  std::optional<Operand> Decide(OpCode op, const std::vector<Operand>& in) const {
    if (op == OpCode::kIsNan && !floats_.Of(in[0]).may_be_nan) return Operand::Bool(false);
    if (op == OpCode::kIsFinite && floats_.Of(in[0]).IsFinite()) return Operand::Bool(true);
    if (!IsI64(in)) return std::nullopt;
    switch (op) {
      case OpCode::kLt: return Compare(in[0], in[1], true);
      case OpCode::kLe: return Compare(in[0], in[1], false);
      case OpCode::kGt: return Compare(in[1], in[0], true);
      case OpCode::kGe: return Compare(in[1], in[0], false);
      case OpCode::kEq: return Equal(in[0], in[1], true);
      case OpCode::kNe: return Equal(in[0], in[1], false);
      case OpCode::kMin: return Smaller(in[0], in[1]);
      case OpCode::kMax: return Larger(in[0], in[1]);
      case OpCode::kFloorDiv:
        return IsBelow(in[0], in[1]) ? std::optional(Operand::Int(0)) : std::nullopt;
      case OpCode::kMod: return IsBelow(in[0], in[1]) ? std::optional(in[0]) : std::nullopt;
      case OpCode::kAdd:
      case OpCode::kSub: return Normal(op, in);
      default: return std::nullopt;
    }
  }

  std::optional<Operand> Compare(const Operand& a, const Operand& b, bool strict) const {
    if (strict ? ranges_.ProvesLt(a, b) : ranges_.ProvesLe(a, b)) return Operand::Bool(true);
    if (strict ? ranges_.ProvesLe(b, a) : ranges_.ProvesLt(b, a)) return Operand::Bool(false);
    return std::nullopt;
  }

  // True for a place of an axis of that size: dividing by it changes nothing.
  bool IsBelow(const Operand& place, const Operand& size) const {
    return ranges_.ProvesLe(Operand::Int(0), place) && ranges_.ProvesLt(place, size);
  }

  std::optional<Operand> Equal(const Operand& a, const Operand& b, bool wanted) const {
    if (ranges_.ProvesLt(a, b) || ranges_.ProvesLt(b, a)) return Operand::Bool(!wanted);
    if (ranges_.ProvesLe(a, b) && ranges_.ProvesLe(b, a)) return Operand::Bool(wanted);
    return std::nullopt;
  }

  std::optional<Operand> Smaller(const Operand& a, const Operand& b) const {
    if (ranges_.ProvesLe(a, b)) return a;
    if (ranges_.ProvesLe(b, a)) return b;
    return std::nullopt;
  }

  std::optional<Operand> Larger(const Operand& a, const Operand& b) const {
    if (ranges_.ProvesLe(a, b)) return b;
    if (ranges_.ProvesLe(b, a)) return a;
    return std::nullopt;
  }

  // A sum whose terms cancel to a constant, or to one value: (i + 1) * n - i * n too.
  std::optional<Operand> Normal(OpCode op, const std::vector<Operand>& in) const {
    LinearForm form = ranges_.FormOf(in[0]);
    form.Add(ranges_.FormOf(in[1]), op == OpCode::kAdd ? 1 : -1);
    if (LinearForm expanded = ranges_.Expanded(form); !ranges_.HasProducts(expanded))
      form = std::move(expanded);
    if (form.IsConstant()) return Operand::Int(form.constant);
    const bool one_value =
        form.constant == 0 && form.terms.size() == 1 && form.terms[0].second == 1;
    return one_value ? std::optional<Operand>(form.terms[0].first) : std::nullopt;
  }

  Ranges ranges_;
  FloatRanges floats_;
  std::unordered_map<const Block*, Assumption> assumed_;
  std::unordered_map<const Var*, int> compared_;  // how deep in blocks a comparison was made
  int depth_ = 0;
  bool asks_ = false;       // There is something that limits of what is carried may decide.
  Trial* trial_ = nullptr;  // The innermost that is walked.
  int trials_ = 0;          // How many are walked inside each other.
  int nested_ = 0;          // Bindings that trials inside the outermost have gone through.
};

}  // namespace

ir::Program ProveBounds(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return BoundsProver(program.arena.get(), *function, context.options.fastmath).Run(function);
  });
}

}  // namespace parakeet::passes
