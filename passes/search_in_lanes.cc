// Asks lanes how far a search goes before it asks one by one.
//
// Before:
//   %j: i64 = while (%k: i64 = %from) {
//     %ok = lt %k, %n
//     %go = if %ok { %a = load %x[%k]  %is = ne %a, %v  yield %is } else { yield false }
//     yield %go } do (%i: i64) { %next = add %i, 1  yield %next }
// After:
//   %far: i64, %more: bool = while (%k.1: i64 = %from, %go: bool = true) {
//     yield %go } do (%i.1: i64, %was: bool) {
//     %end = sub %n, 7  %ok = lt %i.1, %end  ... and 0 <= %i.1 ...
//     %count = if %ok { %a: f64x8 = load_lanes %x[%i.1]  %is: boolx8 = ne %a, %v
//       %stop: boolx8 = not %is  ... 8 if no lane stops, else first_lane %stop ... } else {
//       yield 0 }
//     %next = add %i.1, %count  %all = eq %count, 8  yield %next, %all }
//   ... the loop as it was, from %far on ...
// An iteration that is passed over does nothing but move on what goes by even steps: all else that
// the loop carries is behind it what it was. The loop itself ends the search, raises what is to be
// raised, and goes on where too few elements are left for lanes. Flags of a `for` that breaks are
// carried so, and what is found with them. In a loop, where the next search may end as soon as it
// has begun, the first four iterations are in order, and %go begins as what is known in front of
// all loops of whether lanes are inside: a pattern may be shorter than they are.
//
// A loop that goes on behind what it finds asks lanes behind each iteration: a pattern that is
// looked for at every place of a text, or a row that is added for few elements.
//
// Before:
//   %c, %i = while (...) { ... } do (%c.1: i64, %i.1: i64) {
//     %k = while (%k.1: i64 = 0) { ... %x[%i.1 + %k.1] and %p[%k.1] are the same ... }
//     %all = eq %k, %m
//     %c.2, %i.2 = if %all { ... } else { %next = add %i.1, 1  yield %c.1, %next }
//     yield %c.2, %i.2 }
// After:
//   ... as it was ...
//     %asks = ge %i.2, %resume.1
//     %i.3, %gain.2, %rest.2, %resume.2 = if %asks { ... the search above, from %i.2, for
//       iterations in which %x[%i] is not %p[0] ... } else { ... as they were ... }
//     yield %c.2, %i.3, %gain.2, %rest.2, %resume.2 }
// An iteration that is passed over takes the sides of branches that only move on, and of the loops
// inside no more than the first element. Since lanes are asked behind an iteration, what it stores
// is there. Where lanes have little to pass over, they rest, longer each time.
//
// Assumes: index form has been lowered; lanes have taken what they could. Integers of Python's do
// not get past 2^63.
// Refuses: iterations passed over that would store, call or go through loops; places that move by
// more than one element, or not along the last axis; what may trap, or be undefined, of elements
// behind the one that ends the search. Behind each iteration: arrays that are carried, and loops
// that do little besides where elements are wide, since one by one is as fast for them.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/dtype.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/chosen_sides.h"
#include "passes/analyses/holds_op.h"
#include "passes/lowering/lane_values.h"
#include "passes/lowering/while_forms.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;

using Operands = std::vector<Operand>;

constexpr int kMostLanes = 32;
constexpr int kBytesOfLanes = 64;
constexpr int64_t kFirstSteps = 4;
constexpr int kFewestLanes = 8;

// Asking lanes takes as long as this many iterations that only move on. What has been gained by it
// is counted, up to so much; where it is lost, so many iterations go on one by one.
constexpr int64_t kPriceOfSkip = 2;
constexpr int64_t kMostGain = 16;
constexpr int64_t kLeastRest = 32;
constexpr int64_t kMostRest = 1024;

// What neither traps nor is undefined, whatever the operands are.
bool IsHarmless(const Binding& b) {
  switch (b.op) {
    case OpCode::kAdd:
    case OpCode::kSub:
    case OpCode::kMul:
    case OpCode::kMin:
    case OpCode::kMax:
    case OpCode::kNeg:
    case OpCode::kAbs:
    case OpCode::kNot:
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kXor:
    case OpCode::kSelect:
    case OpCode::kIsNan:
    case OpCode::kIsFinite: return true;
    case OpCode::kCast:
      return !ir::IsFloat(ir::DTypeOf(b.operands[0])) || ir::IsFloat(b.result()->type.dtype());
    default: return ir::IsComparison(b.op);
  }
}

bool IsWhole(const Operand& operand) {
  const DType dtype = ir::DTypeOf(operand);
  return dtype == DType::kBool || ir::IsInteger(dtype);
}
bool IsI64(const Operand& operand) { return ir::TypeOf(operand) == Type(DType::kI64); }

// As many lanes as fill one wide register with the widest of what is read and made of it; 0 where
// something takes none.
int LanesOf(const Binding& loop) {
  int64_t widest = kBytesOfLanes / kMostLanes;
  bool fits = true;
  ir::VarSet read;
  for (const Block* block : loop.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& b) {
      const bool follows = b.op == OpCode::kLoad ||
                           std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& o) {
                             return o.IsVar() && read.contains(o.var());
                           });
      if (!follows) return;
      for (const Var* result : b.results) {
        fits &= result->type.IsScalar() && !ir::IsComplex(result->type.dtype());
        if (!fits || b.op == OpCode::kIf) continue;
        read.insert(result);
        widest = std::max<int64_t>(widest, ir::SizeInBytes(result->type.dtype()));
      }
    });
  }
  return fits && !read.empty() ? static_cast<int>(kBytesOfLanes / widest) : 0;
}

class SearchWriter : public ir::Mutator {
 public:
  SearchWriter(ir::Arena* arena, Context& context, const ir::Function& function)
      : Mutator(arena), context_(context) {
    for (const ir::Param& param : function.params) {
      fixed_.insert(param.var);
      if (!param.var->type.IsArray()) continue;
      for (const Operand& dim : param.var->type.dims()) {
        if (dim.IsVar()) fixed_.insert(dim.var());
      }
    }
    for (const Binding* b : function.body->bindings)
      fixed_.insert(b->results.begin(), b->results.end());
  }

 protected:
  void Visit(const Binding* b) override {
    const bool may_search = b->op == OpCode::kWhile && !written_.contains(b);
    const Binding* rest = may_search ? WriteSearch(*b) : nullptr;
    if (rest == nullptr && may_search) rest = WriteSkips(*b);
    if (IsLongFor(*b)) rest = WriteSkips(*arena()->New(AsWhile(builder(), *b)));
    const bool is_loop = b->op == OpCode::kWhile || b->op == OpCode::kFor;
    loops_around_ += is_loop;
    Mutator::Visit(rest == nullptr ? b : rest);
    loops_around_ -= is_loop;
  }

 private:
  // What each iteration moves by the same number.
  struct Moved {
    size_t number;  // among what is carried
    int64_t step;
    Operand init;
    const Var* at;  // in lane 0
  };

  // Writes the search in lanes, and gives the loop from there on; null where there is no such
  // search.
  const Binding* WriteSearch(const Binding& loop) {
    const int count = LanesOf(loop);
    if (count == 0) return nullptr;
    LaneValues values(count);
    Builder early = builder().Nested(), late = builder().Nested();
    Begin(loop, false, values, early, late);
    const std::vector<Moved> moved = SetCarried(loop);
    const bool is_search = !moved.empty() && Take(*loop.blocks[0], true) &&
                           Demand(loop.blocks[0]->results[0]) && Take(*loop.blocks[1], true) &&
                           StaysAsItIs(loop) && reads_ && !demands_.empty();
    if (!is_search) return nullptr;
    context_.Note(loop.span, "searches in lanes", Topic::kLanes, Verdict::kDone);
    return loops_around_ == 0 ? From(loop, moved, WriteLoop(builder(), moved))
                              : WriteSearchOfSeveral(loop, moved);
  }

  // A loop around begins it again and again: it may mostly be short.
  const Binding* WriteSearchOfSeveral(const Binding& loop, const std::vector<Moved>& moved) {
    const Binding* first = arena()->New(FirstSteps(builder(), loop, kFirstSteps));
    Mutator::Visit(first);
    const Operand steps = first->results.back();
    const Operand goes_on = builder().Scalar(OpCode::kEq, {steps, Operand::Int(kFirstSteps)});
    Builder on = builder().Nested(), ends = builder().Nested();
    Binding behind = loop;
    behind.operands.assign(first->results.begin(), first->results.end() - 1);
    std::vector<Moved> behind_first = moved;
    for (Moved& one : behind_first) one.init = behind.operands[one.number];
    const Operand begins = MayBegin(on, loop, behind, moved);
    Binding rest = *From(behind, moved, WriteLoop(on, behind_first, begins));
    rest.results = NewResults(builder(), loop);
    const Operands found(rest.results.begin(), rest.results.end());
    on.Append(arena()->New(std::move(rest)));
    written_.insert(on.bindings().begin(), on.bindings().end());
    Binding either{OpCode::kIf, loop.results, {goes_on}, {}, {}, loop.span};
    either.blocks = {on.Finish({}, found), ends.Finish({}, behind.operands)};
    return arena()->New(std::move(either));
  }

  // The loop from where the search in lanes has ended.
  const Binding* From(const Binding& loop, const std::vector<Moved>& moved,
                      const std::vector<const Var*>& places) {
    Binding rest = loop;
    for (size_t k = 0; k < moved.size(); ++k) rest.operands[moved[k].number] = places[k];
    return arena()->New(std::move(rest));
  }

  void Begin(const Binding& loop, bool skips, LaneValues& values, Builder& early, Builder& late) {
    lanes_ = &values, early_ = &early, late_ = &late;
    guards_.clear(), demands_.clear(), answers_.clear(), late_values_.clear(), relied_on_.clear();
    sides_ = ChosenSides(skips);
    skips_ = skips, reads_ = false;
    widest_ = kBytesOfLanes / kMostLanes;
    FindChecked(loop);
  }

  // In order, by ones, and over more than a few iterations, as far as is known.
  static bool IsLongFor(const Binding& b) {
    if (b.op != OpCode::kFor || !b.attrs.Text(Attr::kKind).empty() || !b.operands[2].IsInt(1))
      return false;
    return !b.operands[0].IsConstant() || !b.operands[1].IsConstant() ||
           b.operands[1].constant().integer - b.operands[0].constant().integer > kLeastRest;
  }

  // The loop, in which each iteration asks lanes how many of those behind it only move on; null
  // where lanes cannot say.
  const Binding* WriteSkips(const Binding& loop) {
    const bool is_of_scalars = std::all_of(loop.results.begin(), loop.results.end(),
                                           [](const Var* v) { return v->type.IsScalar(); });
    if (!is_of_scalars) return nullptr;
    const int fewest = HasLoops(*loop.blocks[1]) ? kFewestLanes : 2 * kFewestLanes;
    for (int count = kMostLanes; count >= fewest; count /= 2) {
      LaneValues values(count);
      Builder early = builder().Nested(), late = builder().Nested();
      Begin(loop, true, values, early, late);
      const std::vector<Moved> moved = SetCarried(loop);
      const auto by_ones = std::find_if(moved.begin(), moved.end(),
                                        [](const Moved& one) { return std::abs(one.step) == 1; });
      if (by_ones == moved.end()) return nullptr;
      const bool is_search = Take(*loop.blocks[0], true) && Demand(loop.blocks[0]->results[0]) &&
                             Take(*loop.blocks[1], true) && StaysAsItIs(loop) && reads_ &&
                             !demands_.empty() && widest_ * count <= kBytesOfLanes;
      if (!is_search) continue;
      context_.Note(loop.span, "passes over iterations in lanes", Topic::kLanes, Verdict::kDone);
      return WithSkips(loop, moved, *by_ones);
    }
    return nullptr;
  }

  // Behind each iteration lanes are asked, but for a while where they had little to pass over.
  const Binding* WithSkips(const Binding& loop, const std::vector<Moved>& moved,
                           const Moved& by_ones) {
    Builder end = builder().Nested(), yes = builder().Nested(), no = builder().Nested();
    std::vector<const Var*> places;
    Operands inits, results = loop.blocks[1]->results;
    for (const Moved& one : moved) {
      places.push_back(builder().NewVar(DType::kI64, one.at->hint));
      inits.push_back(one.init);
      results[one.number] = places.back();
    }
    Binding skipping = loop;
    Block asks = *loop.blocks[0], body = *loop.blocks[1];
    Operands known;
    for (const Operand& init :
         {Operand::Int(0), Operand::Int(kLeastRest), loop.operands[by_ones.number]}) {
      const std::string_view hint = known.empty() ? "gain" : known.size() == 1 ? "rest" : "resume";
      skipping.operands.push_back(init);
      skipping.results.push_back(builder().NewVar(DType::kI64, hint));
      asks.params.push_back(builder().NewVar(DType::kI64, hint));
      body.params.push_back(builder().NewVar(DType::kI64, hint));
      places.push_back(builder().NewVar(DType::kI64, hint));
      known.push_back(body.params.back());
      inits.push_back(known.back());
      results.push_back(places.back());
    }
    const Operand resumes =
        end.Scalar(by_ones.step > 0 ? OpCode::kGe : OpCode::kLe, {by_ones.init, known[2]});
    const std::vector<const Var*> found = WriteLoop(yes, moved);
    const Operand at = found[static_cast<size_t>(&by_ones - moved.data())];
    Operands of_yes(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(moved.size()));
    for (const Operand& next : NextGain(yes, known, by_ones, at)) of_yes.push_back(next);
    end.Emit(OpCode::kIf, places, {resumes}, {}, {yes.Finish({}, of_yes), no.Finish({}, inits)});
    body.bindings.insert(body.bindings.end(), end.bindings().begin(), end.bindings().end());
    body.results = results;
    skipping.blocks = {arena()->New(std::move(asks)), arena()->New(std::move(body))};
    return arena()->New(std::move(skipping));
  }

  // Iterations that do little are soon done, one by one.
  static bool HasLoops(const Block& block) {
    return HoldsOp(block, OpCode::kWhile) || HoldsOp(block, OpCode::kFor) ||
           HoldsOp(block, OpCode::kCall);
  }

  // What is gained so far, how long lanes rest when it is lost, and where they are asked again.
  static Operands NextGain(Builder& writer, const Operands& known, const Moved& moved,
                           const Operand& at) {
    const Operand passed = moved.step > 0 ? writer.Sub(at, moved.init) : writer.Sub(moved.init, at);
    const Operand gain = writer.Add(known[0], writer.Sub(passed, Operand::Int(kPriceOfSkip)));
    const Operand is_lost = writer.Scalar(OpCode::kLt, {gain, Operand::Int(0)});
    const Operand is_full = writer.Scalar(OpCode::kGe, {gain, Operand::Int(kMostGain)});
    const auto choose = [&](const Operand& condition, const Operand& a, const Operand& b) {
      return Operand(writer.Scalar(OpCode::kSelect, {condition, a, b}));
    };
    const Operand longer = writer.Scalar(
        OpCode::kMin, {writer.Mul(known[1], Operand::Int(2)), Operand::Int(kMostRest)});
    const Operand rest = choose(is_full, Operand::Int(kLeastRest), known[1]);
    const Operand behind =
        writer.Scalar(moved.step > 0 ? OpCode::kAdd : OpCode::kSub, {at, known[1]});
    return {choose(is_lost, Operand::Int(0),
                   writer.Scalar(OpCode::kMin, {gain, Operand::Int(kMostGain)})),
            choose(is_lost, longer, rest), choose(is_lost, behind, at)};
  }

  void FindChecked(const Binding& loop) {
    checked_.clear();
    for (const Block* block : loop.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& b) {
        if (b.op == OpCode::kCheck && b.operands[0].IsVar()) checked_.insert(b.operands[0].var());
      });
    }
  }

  // --- What the loop carries. ---

  std::vector<Moved> SetCarried(const Binding& loop) {
    std::vector<Moved> moved;
    sides_.ChooseForced(*loop.blocks[1]);
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Operand init = InitOf(loop, k);
      LaneValue value{LaneValue::kUniform, init, 0};
      if (const std::optional<int64_t> step = sides_.StepOf(*loop.blocks[1], k)) {
        const Var* at = builder().NewVar(DType::kI64, loop.results[k]->hint);
        moved.push_back({k, *step, init, at});
        value = {LaneValue::kLinear, at, *step};
      }
      lanes_->Set(loop.blocks[0]->params[k], value);
      lanes_->Set(loop.blocks[1]->params[k], value);
      const Operand& next = loop.blocks[1]->results[k];
      if (IsFlag(loop, k) && next.IsVar()) answers_[next.var()] = loop.operands[k].IsInt(1);
    }
    return moved;
  }

  // What is carried into the search.
  Operand InitOf(const Binding& loop, size_t k) const {
    return Apply(skips_ ? loop.blocks[1]->results[k] : loop.operands[k]);
  }
  static bool IsFlag(const Binding& loop, size_t k) {
    return loop.operands[k].IsConstant() && loop.results[k]->type == Type(DType::kBool);
  }

  // True where what does not go by steps is behind an iteration what it was, as far as is demanded.
  bool StaysAsItIs(const Binding& loop) {
    for (size_t k = 0; k < loop.results.size(); ++k) {
      const Operand init = InitOf(loop, k);
      if (lanes_->Of(loop.blocks[1]->params[k]).kind == LaneValue::kLinear) continue;
      const Operand& result = loop.blocks[1]->results[k];
      const LaneValue next = ValueOf(result);
      const bool is_relied_on = skips_ && result.IsVar() && relied_on_.contains(result.var());
      const bool is_one = next.kind == LaneValue::kUniform && !is_relied_on;
      if (is_one && next.value == init) continue;
      if (skips_ && is_one && next.value.IsConstant() && IsWhole(next.value)) {
        Guard(OpCode::kEq, init, next.value);
      } else if (IsFlag(loop, k) && (skips_ || next.kind == LaneValue::kVarying)) {
        const bool flag = loop.operands[k].IsInt(1);
        if (skips_) Guard(IsOf(*early_, init, flag));
        if (!DemandIs(result, flag)) return false;
      } else {
        return false;
      }
    }
    return true;
  }

  static Operand IsOf(Builder& writer, const Operand& condition, bool answer) {
    return answer ? condition : Operand(writer.Scalar(OpCode::kNot, {condition}));
  }

  // --- The code of an iteration, in lanes. ---

  LaneValue ValueOf(const Operand& operand) const { return lanes_->Of(Apply(operand)); }
  bool IsLate(const Operand& operand) const {
    return operand.IsVar() && late_values_.contains(operand.var());
  }
  void Set(const Var* var, const LaneValue& value, bool is_late) {
    lanes_->Set(var, value);
    if (is_late) late_values_.insert(var);
    if (!is_late) late_values_.erase(var);
    if (value.kind == LaneValue::kVarying)
      widest_ = std::max<int64_t>(widest_, ir::SizeInBytes(ir::DTypeOf(value.value)));
  }

  bool Take(const Block& block, bool is_certain) {
    return std::all_of(block.bindings.begin(), block.bindings.end(), [&](const Binding* b) {
      if (ir::IsScalarOp(b->op)) return TakeScalar(*b);
      switch (b->op) {
        case OpCode::kLoad: return TakeLoad(*b);
        case OpCode::kIf: return TakeIf(*b, is_certain);
        case OpCode::kWhile: return skips_ && is_certain && TakeWhile(*b);
        case OpCode::kCheck: return is_certain && Demand(b->operands[0]);
        default: return false;
      }
    });
  }

  bool TakeScalar(const Binding& b) {
    if (!IsHarmless(b) || !b.result()->type.IsScalar()) return false;
    if (const std::optional<bool> answer = BorderOf(b)) {
      Set(b.result(), {LaneValue::kUniform, Operand::Bool(*answer), 0}, false);
      return true;
    }
    if (const Operand* same = Decided(b)) {
      Set(b.result(), ValueOf(*same), IsLate(*same));
      return true;
    }
    const bool is_late = std::any_of(b.operands.begin(), b.operands.end(),
                                     [&](const Operand& o) { return IsLate(o); });
    Builder& writer = is_late ? *late_ : *early_;
    Operands in;
    bool is_uniform = true;
    for (const Operand& operand : b.operands) {
      const LaneValue value = ValueOf(operand);
      is_uniform &= value.kind == LaneValue::kUniform;
      in.push_back(value.value);
    }
    if (is_uniform) {
      const Operand value = b.op == OpCode::kCast ? writer.Cast(in[0], b.result()->type.dtype())
                                                  : writer.Scalar(b.op, in);
      Set(b.result(), {LaneValue::kUniform, value, 0}, is_late);
      return true;
    }
    Binding applied = b;
    applied.operands = Apply(b.operands);
    const LaneValue value = lanes_->Apply(is_late ? *late_ : *early_, applied);
    const bool is_of_indexes = value.kind == LaneValue::kVarying && !is_late;
    if (is_of_indexes && (skips_ || !FitLanes(b))) return false;
    Set(b.result(), value, is_late || value.kind == LaneValue::kVarying);
    return true;
  }

  // True where what is made of indexes alone has as many lanes as a register has room for.
  bool FitLanes(const Binding& b) const {
    int64_t widest = ir::SizeInBytes(b.result()->type.dtype());
    for (const Operand& operand : b.operands)
      widest = std::max<int64_t>(widest, ir::SizeInBytes(ir::DTypeOf(operand)));
    return widest * lanes_->lanes() <= kBytesOfLanes;
  }

  // The operand that is the result, where a condition is known that decides it; else null.
  const Operand* Decided(const Binding& b) const {
    if (b.op == OpCode::kSelect) {
      const std::optional<bool> answer = KnownOf(b.operands[0]);
      return answer ? &b.operands[*answer ? 1 : 2] : nullptr;
    }
    if (b.op != OpCode::kAnd && b.op != OpCode::kOr) return nullptr;
    for (const int side : {0, 1}) {
      const std::optional<bool> known = KnownOf(b.operands[side]);
      if (known) return &b.operands[*known == (b.op == OpCode::kOr) ? side : 1 - side];
    }
    return nullptr;
  }

  std::optional<bool> KnownOf(const Operand& condition) const {
    const LaneValue value = ValueOf(condition);
    const bool is_known = value.kind == LaneValue::kUniform && value.value.IsConstant() &&
                          ir::TypeOf(value.value) == Type(DType::kBool);
    return is_known ? std::optional(value.value.IsInt(1)) : std::nullopt;
  }

  // What a comparison of a place that moves says up to a border, which all lanes are to be before.
  std::optional<bool> BorderOf(const Binding& b) {
    const bool is_order =
        b.op == OpCode::kLt || b.op == OpCode::kLe || b.op == OpCode::kGt || b.op == OpCode::kGe;
    if (!is_order || !IsI64(b.operands[0])) return std::nullopt;
    const LaneValue in[2] = {ValueOf(b.operands[0]), ValueOf(b.operands[1])};
    const int side = in[0].kind == LaneValue::kLinear ? 0 : 1;
    const LaneValue &place = in[side], &border = in[1 - side];
    if (place.kind != LaneValue::kLinear || border.kind != LaneValue::kUniform ||
        IsLate(b.operands[0]) || IsLate(b.operands[1]))
      return std::nullopt;
    // Towards the border it goes, or away from a constant that it began behind; of indexes from the
    // end there are few.
    const bool is_less = (b.op == OpCode::kLt || b.op == OpCode::kLe) == (side == 0);
    const bool nears = is_less == (place.step > 0), is_constant = border.value.IsConstant();
    const bool is_first = is_constant && border.value.constant().integer <= 0;
    const bool answer = is_first ? !is_less : nears || is_constant || checked_.contains(b.result());
    const int64_t to_last = place.step * (lanes_->lanes() - 1);
    for (const int64_t lane : {int64_t{0}, to_last}) {
      const Operand at = early_->Add(place.value, Operand::Int(lane));
      const Operand holds = early_->Scalar(b.op, {side == 0 ? at : border.value,  //
                                                  side == 0 ? border.value : at});
      Guard(answer ? holds : early_->Scalar(OpCode::kNot, {holds}));
    }
    return answer;
  }

  void Guard(const Operand& condition) {
    if (!condition.IsInt(1)) guards_.push_back(condition);
  }
  void Guard(OpCode op, const Operand& a, const Operand& b) { Guard(early_->Scalar(op, {a, b})); }

  // All lanes are to be inside the array, whatever else says that they are: those behind the one
  // that ends the search are none of it.
  bool TakeLoad(const Binding& b) {
    const Operand array = Apply(b.operands[0]);
    const int rank = ir::TypeOf(array).rank();
    Operands operands = {array};
    bool moves = false;
    for (int axis = 0; axis < rank; ++axis) {
      const Operand& index = b.operands[1 + axis];
      const LaneValue at = ValueOf(index);
      if (at.kind == LaneValue::kVarying || IsLate(index)) return false;
      const Operand size = Apply(ir::TypeOf(array).dims()[axis]);
      operands.push_back(at.value);
      const int64_t others = std::abs(at.step) * (lanes_->lanes() - 1);
      Guard(OpCode::kGe, at.value, Operand::Int(at.step < 0 ? others : 0));
      Guard(OpCode::kLt, at.value, early_->Sub(size, Operand::Int(at.step > 0 ? others : 0)));
      if (at.kind == LaneValue::kUniform) continue;
      if (axis + 1 != rank || std::abs(at.step) != 1) return false;
      moves = true;
    }
    if (!moves) {
      const Operand value = late_->Load(array, {operands.begin() + 1, operands.end()});
      Set(b.result(), {LaneValue::kUniform, value, 0}, true);
      return true;
    }
    reads_ = true;
    ir::Attributes attrs{{Attr::kAxis, int64_t{rank - 1}}};
    const int64_t step = ValueOf(b.operands.back()).step;
    if (step != 1) attrs = attrs.With(Attr::kStep, step);
    const Type type = Type::Vector(b.result()->type.dtype(), lanes_->lanes());
    const Operand value = late_->EmitOne(OpCode::kLoadLanes, type, std::move(operands), attrs);
    Set(b.result(), {LaneValue::kVarying, value, 0}, true);
    return true;
  }

  // The side that is known to be taken, or what lanes choose of both.
  bool TakeIf(const Binding& b, bool is_certain) {
    if (const std::optional<bool> answer = AnswerOf(b.operands[0])) {
      const size_t side = *answer ? 0 : 1;
      const Block& taken = *b.blocks[side];
      // Steps are those of the side that has been chosen.
      if (sides_.IsChosen(b) && *sides_.SideOf(b) != side) return false;
      if (!Take(taken, is_certain)) return false;
      SetAll(b.results, taken.results);
      return true;
    }
    if (const std::optional<size_t> side = is_certain ? SideOf(b) : std::nullopt) {
      const Block& taken = *b.blocks[*side];
      if (!DemandIs(b.operands[0], *side == 0) || !Take(taken, true)) return false;
      SetAll(b.results, taken.results);
      return true;
    }
    if (sides_.IsChosen(b)) return false;
    if (!Take(*b.blocks[0], false) || !Take(*b.blocks[1], false)) return false;
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!b.results[k]->type.IsScalar()) return false;
      const Binding choice{OpCode::kSelect,
                           {b.results[k]},
                           {b.operands[0], b.blocks[0]->results[k], b.blocks[1]->results[k]},
                           {},
                           {},
                           b.span};
      if (!Choose(choice)) return false;
    }
    return true;
  }

  void SetAll(const std::vector<const Var*>& vars, const Operands& operands) {
    std::vector<std::pair<LaneValue, bool>> values;
    for (const Operand& operand : operands) values.emplace_back(ValueOf(operand), IsLate(operand));
    for (size_t k = 0; k < vars.size(); ++k) Set(vars[k], values[k].first, values[k].second);
  }

  // The side that iterations take that are passed over, where they are not to take both.
  std::optional<size_t> SideOf(const Binding& b) {
    if (const std::optional<size_t> side = sides_.SideOf(b)) return side;
    if (!skips_) return std::nullopt;
    // What is the same in all lanes is asked in front of what it guards.
    const LaneValue asked = ValueOf(b.operands[0]);
    if (asked.kind != LaneValue::kUniform || IsLate(b.operands[0])) return std::nullopt;
    bool checks[2] = {false, false};
    for (const size_t side : {0, 1}) {
      ir::ForEachBinding(*b.blocks[side],
                         [&](const Binding& inner) { checks[side] |= inner.op == OpCode::kCheck; });
    }
    return checks[0] == checks[1] ? std::nullopt : std::optional<size_t>(checks[0] ? 0 : 1);
  }

  // A loop that has found at its first element, or behind it, that there is nothing to go on with.
  bool TakeWhile(const Binding& b) {
    const Block &asks = *b.blocks[0], &body = *b.blocks[1];
    Operands carried = b.operands;
    for (const Var* result : b.results) {
      if (!result->type.IsScalar()) return false;
    }
    for (const bool is_first : {true, false}) {
      SetAll(b.results, carried);
      SetAll(asks.params, carried);
      if (!Take(asks, true)) return false;
      const Operand goes_on = asks.results[0];
      const LaneValue more = ValueOf(goes_on);
      const bool is_settled = more.kind == LaneValue::kUniform && !more.value.IsInt(0);
      if (!is_settled) return DemandIs(goes_on, false);
      if (!is_first || IsLate(goes_on) || !Demand(goes_on)) return false;
      SetAll(body.params, carried);
      if (!Take(body, true)) return false;
      carried = body.results;
    }
    return false;
  }

  std::optional<bool> AnswerOf(const Operand& condition) {
    const auto found = condition.IsVar() ? answers_.find(condition.var()) : answers_.end();
    if (found == answers_.end()) return KnownOf(condition);
    relied_on_.insert(found->first);
    return found->second;
  }

  bool Choose(const Binding& choice) {
    const LaneValue one = ValueOf(choice.operands[1]), other = ValueOf(choice.operands[2]);
    if (one.kind == LaneValue::kUniform && other.kind == LaneValue::kUniform &&
        one.value == other.value) {
      Set(choice.result(), one, IsLate(choice.operands[1]) || IsLate(choice.operands[2]));
      return true;
    }
    const auto is = [](const LaneValue& value, bool constant) {
      return value.kind == LaneValue::kUniform && value.value == Operand::Bool(constant);
    };
    Binding simple = choice;
    if (choice.result()->type == Type(DType::kBool) && is(other, false)) {
      simple.op = OpCode::kAnd;
      simple.operands = {choice.operands[0], choice.operands[1]};
    } else if (choice.result()->type == Type(DType::kBool) && is(one, true)) {
      simple.op = OpCode::kOr;
      simple.operands = {choice.operands[0], choice.operands[2]};
    }
    return TakeScalar(simple);
  }

  // Lanes in which the value is another end the search, or it does not begin.
  bool DemandIs(const Operand& condition, bool answer) {
    const LaneValue value = ValueOf(condition);
    if (value.kind == LaneValue::kVarying) {
      demands_.push_back(IsOf(*late_, value.value, answer));
    } else if (value.value.IsConstant()) {
      return value.value.IsInt(answer ? 1 : 0);
    } else if (IsLate(condition)) {
      demands_.push_back(lanes_->Vector(*late_, {value.kind, IsOf(*late_, value.value, answer)}));
    } else {
      Guard(IsOf(*early_, value.value, answer));
    }
    return true;
  }
  bool Demand(const Operand& condition) { return DemandIs(condition, true); }

  // --- The loop. ---

  // Writes the search in lanes where `begins` says so; where each of what moves is when it ends.
  std::vector<const Var*> WriteLoop(Builder& writer, const std::vector<Moved>& moved,
                                    const Operand& begins = Operand::Bool(true)) {
    const int lanes = lanes_->lanes();
    Operand inside = Operand::Bool(true);
    for (const Operand& guard : guards_) inside = early_->Scalar(OpCode::kAnd, {inside, guard});
    Operand stays = demands_[0];
    for (size_t k = 1; k < demands_.size(); ++k)
      stays = late_->Scalar(OpCode::kAnd, {stays, demands_[k]});
    // A branch: the next lanes are read before it is known that all of these stay.
    const Operand stops = late_->Scalar(OpCode::kNot, {stays});
    const Operand some_stop = late_->EmitOne(OpCode::kAny, DType::kBool, {stops});
    Builder all = builder().Nested(), some = builder().Nested(), none = builder().Nested();
    const Operand lane = some.EmitOne(OpCode::kFirstLane, DType::kI64, {stops});
    const Operand passed =
        late_->EmitOne(OpCode::kIf, DType::kI64, {late_->Scalar(OpCode::kNot, {some_stop})},
                       ir::Attributes{{Attr::kLikely, int64_t{1}}},
                       {all.Finish({}, {Operand::Int(lanes)}), some.Finish({}, {lane})});
    const Operand count =
        early_->EmitOne(OpCode::kIf, DType::kI64, {inside}, {},
                        {late_->Finish({}, {passed}), none.Finish({}, {Operand::Int(0)})}, "count");
    std::vector<const Var*> results, asked, at;
    Operands inits, next;
    for (const Moved& one : moved) {
      inits.push_back(one.init);
      results.push_back(builder().NewVar(DType::kI64, one.at->hint));
      asked.push_back(builder().NewVar(DType::kI64));
      at.push_back(one.at);
      next.push_back(early_->Add(one.at, early_->Mul(count, Operand::Int(one.step))));
    }
    next.push_back(early_->Scalar(OpCode::kEq, {count, Operand::Int(lanes)}));
    for (std::vector<const Var*>* vars : {&results, &asked, &at})
      vars->push_back(builder().NewVar(DType::kBool, "more"));
    Builder condition = builder().Nested();
    const Block* asks = condition.Finish(asked, {asked.back()});
    inits.push_back(begins);
    writer.Emit(OpCode::kWhile, results, inits, {}, {asks, early_->Finish(at, next)});
    return results;
  }

  // Whether the last of the first iterations has not ended the search, and lanes are inside as far
  // as that is the same each time it begins, in front of all loops around it: a text is searched
  // for a pattern that is shorter than lanes.
  Operand MayBegin(Builder& writer, const Binding& loop, const Binding& behind,
                   const std::vector<Moved>& moved) {
    Operand begins = Operand::Bool(true);
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (!IsFlag(loop, k)) continue;
      const Operand flag = behind.operands[k];
      const Operand stays = loop.operands[k].IsInt(1) ? flag : writer.Scalar(OpCode::kNot, {flag});
      begins = writer.Scalar(OpCode::kAnd, {begins, stays});
    }
    ir::DefinitionMap definitions;
    for (const Binding* b : early_->bindings())
      for (const Var* result : b->results) definitions[result] = b;
    for (const Operand& guard : guards_) {
      if (const std::optional<Operand> holds = AtStart(writer, guard, moved, definitions))
        begins = writer.Scalar(OpCode::kAnd, {begins, *holds});
    }
    return begins;
  }

  // What a value of the search is in its first iteration, where that is the same each time.
  std::optional<Operand> AtStart(Builder& writer, const Operand& value,
                                 const std::vector<Moved>& moved,
                                 const ir::DefinitionMap& definitions) {
    if (value.IsConstant() || fixed_.contains(value.var())) return value;
    for (const Moved& one : moved) {
      if (one.at == value.var())
        return one.init.IsConstant() || fixed_.contains(one.init.var()) ? std::optional(one.init)
                                                                        : std::nullopt;
    }
    const auto found = definitions.find(value.var());
    if (found == definitions.end() || !ir::IsScalarOp(found->second->op) ||
        found->second->op == OpCode::kCast)
      return std::nullopt;
    Operands operands;
    for (const Operand& operand : found->second->operands) {
      const std::optional<Operand> start = AtStart(writer, operand, moved, definitions);
      if (!start) return std::nullopt;
      operands.push_back(*start);
    }
    return writer.Scalar(found->second->op, operands);
  }

  Context& context_;
  std::unordered_set<const Binding*> written_;  // loops that are searches as they are
  ir::VarSet fixed_;      // what the function is given, or makes outside of its loops
  int loops_around_ = 0;  // the loop that is looked at

  // Of that loop.
  LaneValues* lanes_ = nullptr;
  Builder* early_ = nullptr;  // what is known before anything is read,
  Builder* late_ = nullptr;   // and what is made of what is read
  ir::VarSet checked_;        // what checks ask
  ir::VarSet late_values_;
  Operands guards_;   // what is to hold before anything is read
  Operands demands_;  // masks of the lanes whose iterations only move on
  std::unordered_map<const Var*, bool> answers_;  // of such iterations,
  ir::VarSet relied_on_;                          // and those that have been made use of
  bool reads_ = false;                            // along an array
  bool skips_ = false;                            // behind each iteration, not in front of all
  int64_t widest_ = 0;                            // element of lanes, in bytes
  ChosenSides sides_;                             // of branches, in iterations that only move on
};

}  // namespace

ir::Program SearchInLanes(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return SearchWriter(program.arena.get(), context, *function).Run(function);
  });
}

}  // namespace parakeet::passes
