#include "passes/analyses/carried_limits.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <utility>

#include "ir/uses.h"
#include "passes/analyses/carried_values.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kLargestMove = 1024;
constexpr int64_t kLargestSum = int64_t{1} << 32;    // Of all moves of a loop of known length.
constexpr int64_t kLargestStart = int64_t{1} << 31;  // Of a value that begins anew.
constexpr size_t kMostLimits = 8;                    // Of one value.
constexpr int kGuessingWalks = 2;  // A wrong guess hides from the first what conditions say.

// True where the block may yield the value: a loop's index as the place of an extreme.
bool MayBe(const ir::Block& block, const Operand& yielded, const Var* value) {
  if (yielded == Operand(value)) return true;
  for (const Binding* b : block.bindings) {
    const auto made = std::find(b->results.begin(), b->results.end(), yielded.var());
    if (made == b->results.end()) continue;
    if (b->op == OpCode::kSelect)
      return b->operands[1] == Operand(value) || b->operands[2] == Operand(value);
    return std::any_of(b->blocks.begin(), b->blocks.end(), [&](const ir::Block* inner) {
      const size_t k = made - b->results.begin();
      return k < inner->results.size() && MayBe(*inner, inner->results[k], value);
    });
  }
  return false;
}

// Calls of(X, B) for each `X < B` that the block checks.
void ForEachChecked(const ir::Block& block,
                    const std::function<void(const Operand&, const Operand&)>& of) {
  const ir::DefinitionMap makers = ir::Definitions(block);
  const std::function<void(const Operand&)> see = [&](const Operand& condition) {
    const auto found = condition.IsVar() ? makers.find(condition.var()) : makers.end();
    if (found == makers.end()) return;
    const Binding& made = *found->second;
    if (made.op == OpCode::kAnd) std::for_each(made.operands.begin(), made.operands.end(), see);
    if (made.op == OpCode::kLt) of(made.operands[0], made.operands[1]);
  };
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op == OpCode::kCheck) see(b.operands[0]);
  });
}

LinearForm At(const LinearForm& base, int64_t slope, const LinearForm& iterations) {
  LinearForm form = base;
  form.Add(iterations, slope);
  return form;
}

}  // namespace

CarriedLimits::CarriedLimits(const Binding& loop, std::vector<Operand> operands,
                             const Ranges& ranges)
    : largest_move_(kLargestMove) {
  if (loop.op == OpCode::kFor) {
    const int64_t step = operands[2].constant().integer;
    if (std::abs(step) == 1) step_ = step;
    lo_ = ranges.FormOf(operands[0]);
    hi_ = ranges.FormOf(operands[1]);
    const LinearForm count = Iterations(hi_);
    if (step_ != 0 && count.IsConstant() && count.constant > 0)
      largest_move_ = std::max(kLargestMove, kLargestSum / count.constant);
  }
  for (size_t k = 0; k < loop.results.size(); ++k) {
    if (loop.results[k]->type != ir::Type(ir::DType::kI64)) continue;
    const LinearForm init = ranges.FormOf(operands[FirstInit(loop) + k]);
    values_.push_back({k, init, ranges.IsNear(init), {}, {}});
    for (const bool high : {false, true}) Guess(values_.back(), {high, init});
    Guess(values_.back(), {false, LinearForm::Of(int64_t{0})});
    GuessByInit(values_.back(), operands[FirstInit(loop) + k], ranges);
    const ir::Block& body = *loop.blocks.back();
    if (step_ == 0 || !MayBe(body, body.results[k], body.params[0])) continue;
    Guess(values_.back(), {true, step_ > 0 ? Plus(hi_, -1) : lo_});
    Guess(values_.back(), {false, step_ > 0 ? lo_ : Plus(hi_, 1)});
  }
  GuessChecked(loop, ranges);
  Admit(ranges);
}

// What is checked before it is yielded is in range where the next iteration begins: a stack's top.
void CarriedLimits::GuessChecked(const Binding& loop, const Ranges& ranges) {
  if (values_.empty()) return;
  const ir::Block& body = *loop.blocks.back();
  const ir::VarSet inside = ir::DefinedVars(body);
  ForEachChecked(body, [&](const Operand& checked, const Operand& bound) {
    if (!checked.IsVar() || (bound.IsVar() && inside.contains(bound.var()))) return;
    for (Value& value : values_) {
      if (MayBe(body, body.results[value.place], checked.var()))
        Guess(value, {true, Plus(ranges.FormOf(bound), -1)});
    }
  });
}

// A place that begins as the index of a loop around stays in range where every move is guarded.
void CarriedLimits::GuessByInit(Value& value, const Operand& init, const Ranges& ranges) {
  if (!init.IsVar()) return;
  for (const LinearForm& limit : ranges.LimitsOf(init.var(), true)) {
    if (!limit.IsConstant()) Guess(value, {true, limit});
  }
}

bool CarriedLimits::IsEmpty() const {
  return std::all_of(values_.begin(), values_.end(),
                     [](const Value& value) { return value.limits.empty() && !value.is_near; });
}

LinearForm CarriedLimits::Iterations(const LinearForm& index) const {
  return step_ > 0 ? Difference(index, lo_) : Difference(lo_, index);
}

void CarriedLimits::Suppose(const Binding& loop, Ranges& ranges) const {
  for (const ir::Block* block : loop.blocks) {
    for (const Value& value : values_) {
      const Var* param = block->params[FirstCarried(loop) + value.place];
      if (value.is_near) ranges.IsNear(param);
      for (const Limit& limit : value.limits) {
        const LinearForm index = limit.slope == 0 ? lo_ : LinearForm::Of(block->params[0]);
        ranges.Limit(param, limit.high, At(limit.base, limit.slope, Iterations(index)));
      }
    }
  }
}

void CarriedLimits::Guess(Value& value, const Limit& limit) {
  const auto is_same = [&](const Limit& other) {
    return other.high == limit.high && other.slope == limit.slope &&
           SameForm(other.base, limit.base);
  };
  for (const std::vector<Limit>* known : {&value.limits, &value.guesses}) {
    if (std::any_of(known->begin(), known->end(), is_same)) return;
  }
  value.guesses.push_back(limit);
}

bool CarriedLimits::Admit(const Ranges& ranges) {
  bool some = false;
  const LinearForm more = Plus(Iterations(hi_), -1);  // iterations behind the first
  for (Value& value : values_) {
    for (Limit limit : std::exchange(value.guesses, {})) {
      const LinearForm gap =
          limit.high ? Difference(limit.base, value.init) : Difference(value.init, limit.base);
      limit.inside = !ranges.ProvesNonNegative(gap);
      if (limit.inside && (step_ == 0 || !ranges.ProvesNonNegative(Difference(gap, more))))
        continue;
      if (value.limits.size() >= kMostLimits) continue;
      value.limits.push_back(limit);
      some = true;
    }
  }
  return some;
}

// A condition leaves a value where the body moves it on from: `i < n` lets it become n.
void CarriedLimits::GuessAtStart(const Binding& loop, const Ranges& ranges) {
  if (walks_ >= kGuessingWalks) return;
  const ir::Block& body = *loop.blocks.back();
  ir::VarSet inside = ir::DefinedVars(body);
  inside.merge(ir::DefinedVars(*loop.blocks.front()));
  const auto is_outside = [&](const LinearForm& form) {
    return std::none_of(form.terms.begin(), form.terms.end(),
                        [&](const auto& term) { return inside.contains(term.first); });
  };
  for (Value& value : values_) {
    const Var* param = body.params[FirstCarried(loop) + value.place];
    for (const bool high : {false, true}) {
      for (const LinearForm& limit : ranges.LimitsOf(param, high)) {
        if (is_outside(limit)) Guess(value, {high, Plus(limit, high ? 1 : -1)});
      }
    }
  }
}

bool CarriedLimits::KeepAtEnd(const Binding& loop, const std::vector<Operand>& results,
                              const Ranges& ranges) {
  const ir::Block& body = *loop.blocks.back();
  bool is_settled = true;
  for (Value& value : values_) {
    const Var* param = body.params[FirstCarried(loop) + value.place];
    const LinearForm next = ranges.FormOf(results[value.place]);
    is_settled &= std::erase_if(value.limits, [&](const Limit& limit) {
                    return !IsKept(limit, next, body.params[0], ranges);
                  }) == 0;
    const bool is_steady =
        IsSteady(next, param, true, ranges) && IsSteady(next, param, false, ranges);
    is_settled &= is_steady || !value.is_near;
    value.is_near &= is_steady;
    if (walks_ == 0) GuessMoves(value, param, next, ranges);
  }
  ++walks_;
  return is_settled;
}

// A value that now and then begins anew gets no farther than one that always moves on.
bool CarriedLimits::IsSteady(const LinearForm& next, const Var* param, bool high,
                             const Ranges& ranges) const {
  const LinearForm start = LinearForm::Of(high ? kLargestStart : -kLargestStart);
  const auto is_steady = [&](const LinearForm& form) {
    const std::optional<int64_t> gap = ranges.GapOf(form, param, high);
    if (gap && (high ? *gap <= largest_move_ : *gap >= -largest_move_)) return true;
    return ranges.ProvesNonNegative(high ? Difference(start, form) : Difference(form, start));
  };
  if (is_steady(next)) return true;
  const std::vector<LinearForm> choices = ranges.ChoicesOf(next);
  return choices.size() > 1 && std::all_of(choices.begin(), choices.end(), is_steady);
}

void CarriedLimits::GuessMoves(Value& value, const Var* param, const LinearForm& next,
                               const Ranges& ranges) {
  if (step_ == 0) return;
  for (const bool high : {false, true}) {
    const std::optional<int64_t> slope = ranges.GapOf(next, param, high);
    if (slope && *slope != 0 && std::abs(*slope) <= largest_move_)
      Guess(value, {high, value.init, *slope});
  }
}

bool CarriedLimits::IsKept(const Limit& limit, const LinearForm& next, const Var* index,
                           const Ranges& ranges) const {
  LinearForm bound = limit.base;
  if (limit.slope != 0) bound = At(bound, limit.slope, Plus(Iterations(LinearForm::Of(index)), 1));
  return ranges.ProvesNonNegative(limit.high ? Difference(bound, next) : Difference(next, bound));
}

// A loop that may run backwards, and so not at all, has not moved by what lies between its ends.
void CarriedLimits::Conclude(const Binding& loop, Ranges& ranges) const {
  const LinearForm count = Iterations(hi_);
  const bool is_counted = step_ != 0 && ranges.ProvesNonNegative(count);
  for (const Value& value : values_) {
    const Var* result = loop.results[value.place];
    if (value.is_near) ranges.IsNear(result);
    for (const Limit& limit : value.limits) {
      if (!limit.inside && (limit.slope == 0 || is_counted))
        ranges.Limit(result, limit.high, At(limit.base, limit.slope, count));
    }
  }
}

}  // namespace parakeet::passes
