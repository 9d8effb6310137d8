#include "passes/analyses/integer_intervals.h"

#include <algorithm>

#include "ir/dtype.h"
#include "passes/analyses/carried_values.h"

namespace parakeet::passes {

using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Interval = IntegerInterval;

namespace {

// Sums and products of numbers below this do not overflow; larger ones are not known.
constexpr int64_t kLargest = int64_t{1} << 31;

std::optional<Interval> Known(Interval interval) {
  if (interval.lo < -kLargest || interval.hi > kLargest) return std::nullopt;
  return interval;
}

bool IsWhole(DType dtype) { return ir::IsBool(dtype) || ir::IsInteger(dtype); }

bool IsNarrow(DType dtype) { return IsWhole(dtype) && ir::SizeInBits(dtype) <= 32; }

int64_t FloorOf(int64_t a, int64_t divisor) { return a / divisor - (a % divisor < 0 ? 1 : 0); }

// No more than a side that is not negative.
std::optional<Interval> IntervalOfAnd(const std::optional<Interval>& x,
                                      const std::optional<Interval>& y) {
  std::optional<Interval> bounds;
  for (const std::optional<Interval>& side : {x, y}) {
    if (!side || side->lo < 0) continue;
    bounds = Interval{0, std::min(side->hi, bounds ? bounds->hi : side->hi)};
  }
  return bounds;
}

// Between what the least and the most of both give: shifts to the right go towards 0 or -1.
std::optional<Interval> IntervalOfShift(OpCode op, const Interval& x, const Interval& by) {
  const bool is_left = op == OpCode::kShl;
  if ((is_left && !Known(x)) || by.lo < 0 || by.hi > 31) return std::nullopt;
  std::optional<Interval> all;
  for (const int64_t value : {x.lo, x.hi}) {
    for (const int64_t bits : {by.lo, by.hi}) {
      const int64_t end = is_left ? value * (int64_t{1} << bits) : value >> bits;
      all ? all->Include({end, end}) : void(all = Interval{end, end});
    }
  }
  return is_left ? Known(*all) : all;
}

// Of a loop that is gone through one by one.
constexpr int64_t kMostTrips = 16;
constexpr int kMostRounds = 3;

// How often the loop runs; -1 where that is not known.
int64_t TripsOf(const Binding& loop) {
  for (int k = 0; k < 3; ++k) {
    if (!loop.operands[k].IsConstant()) return -1;
  }
  const int64_t lo = loop.operands[0].constant().integer, hi = loop.operands[1].constant().integer;
  const int64_t step = loop.operands[2].constant().integer;
  constexpr int64_t kFar = kLargest;
  if (step != 1 || lo < -kFar || hi > kFar) return -1;
  return std::max<int64_t>(hi - lo, 0);
}

void Include(std::vector<std::optional<Interval>>& all,
             const std::vector<std::optional<Interval>>& more) {
  for (size_t k = 0; k < all.size(); ++k) {
    all[k] && more[k] ? all[k]->Include(*more[k]) : all[k].reset();
  }
}

bool IsSame(const std::optional<Interval>& x, const std::optional<Interval>& y) {
  return x.has_value() == y.has_value() && (!x || (x->lo == y->lo && x->hi == y->hi));
}

}  // namespace

void IntegerInterval::Include(const IntegerInterval& other) {
  lo = std::min(lo, other.lo);
  hi = std::max(hi, other.hi);
}

bool IntegerInterval::Fits(DType dtype) const {
  if (ir::IsBool(dtype)) return lo >= 0 && hi <= 1;
  const int bits = ir::SizeInBits(dtype);
  if (bits == 64) return !ir::IsUnsigned(dtype) || lo >= 0;
  if (ir::IsUnsigned(dtype)) return lo >= 0 && hi < int64_t{1} << bits;
  return lo >= -(int64_t{1} << (bits - 1)) && hi < int64_t{1} << (bits - 1);
}

IntegerInterval IntervalOf(DType dtype) {
  if (ir::IsBool(dtype)) return {0, 1};
  const int bits = ir::SizeInBits(dtype);
  if (ir::IsUnsigned(dtype)) return {0, (int64_t{1} << bits) - 1};
  return {-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1};
}

std::optional<IntegerInterval> IntervalOf(const ir::Constant& constant) {
  if (constant.integer < 0 && ir::IsUnsigned(constant.dtype)) return std::nullopt;
  return Known({constant.integer, constant.integer});
}

std::optional<IntegerInterval> IntervalOf(
    const Binding& b, const std::function<std::optional<Interval>(const Operand&)>& of) {
  const size_t first = b.op == OpCode::kSelect ? 1 : 0;
  const std::optional<Interval> x = of(b.operands[first]);
  if (b.op == OpCode::kNot && ir::IsBool(ir::DTypeOf(b.operands[0])))
    return x ? Known({1 - x->hi, 1 - x->lo}) : std::nullopt;
  if (b.op == OpCode::kNeg || b.op == OpCode::kNot) {
    const int64_t one = b.op == OpCode::kNot ? 1 : 0;
    return x ? Known({-x->hi - one, -x->lo - one}) : std::nullopt;
  }
  if (b.op == OpCode::kAbs) {
    if (!x || x->lo >= 0) return x;
    return Known({0, std::max(-x->lo, x->hi)});
  }
  if (b.operands.size() < first + 2) return std::nullopt;
  const std::optional<Interval> y = of(b.operands[first + 1]);
  if (b.op == OpCode::kAnd) return IntervalOfAnd(x, y);
  if (!x || !y) return std::nullopt;
  switch (b.op) {
    case OpCode::kAdd: return Known({x->lo + y->lo, x->hi + y->hi});
    case OpCode::kSub: return Known({x->lo - y->hi, x->hi - y->lo});
    case OpCode::kMul: {
      if (!Known(*x) || !Known(*y)) return std::nullopt;
      const int64_t ends[] = {x->lo * y->lo, x->lo * y->hi, x->hi * y->lo, x->hi * y->hi};
      return Known({*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4)});
    }
    case OpCode::kMin: return Interval{std::min(x->lo, y->lo), std::min(x->hi, y->hi)};
    case OpCode::kMax: return Interval{std::max(x->lo, y->lo), std::max(x->hi, y->hi)};
    case OpCode::kSelect: {
      Interval both = *x;
      both.Include(*y);
      return both;
    }
    case OpCode::kOr:
    case OpCode::kXor: {
      if (x->lo < 0 || y->lo < 0) return std::nullopt;
      int64_t ones = 1;
      while (ones <= std::max(x->hi, y->hi)) ones *= 2;
      return Known({0, ones - 1});
    }
    case OpCode::kFloorDiv:
      if (y->lo != y->hi || y->lo <= 0) return std::nullopt;
      return Interval{FloorOf(x->lo, y->lo), FloorOf(x->hi, y->lo)};
    case OpCode::kMod:
      if (y->lo != y->hi || y->lo <= 0) return std::nullopt;
      return Interval{0, y->lo - 1};
    case OpCode::kShr:
    case OpCode::kShl: return IntervalOfShift(b.op, *x, *y);
    default: return std::nullopt;
  }
}

std::optional<Interval> BlockIntervals::Of(const Operand& operand) const {
  if (operand.IsConstant()) return IntervalOf(operand.constant());
  if (const auto found = known_.find(operand.var()); found != known_.end()) return found->second;
  const std::optional<Interval> outside =
      outside_ ? outside_(operand.var()) : std::optional<Interval>();
  if (outside) return outside;
  const ir::Type& type = operand.var()->type;
  return type.IsScalar() && IsNarrow(type.dtype()) ? std::optional(IntervalOf(type.dtype()))
                                                   : std::nullopt;
}

void BlockIntervals::Set(const Var* var, const std::optional<Interval>& interval) {
  interval ? void(known_.insert_or_assign(var, *interval)) : void(known_.erase(var));
}

void BlockIntervals::See(const ir::Block& block) {
  for (const Binding* b : block.bindings) See(*b);
}

void BlockIntervals::See(const Binding& b) {
  if (b.op == OpCode::kFor) {
    const Carried carried = CarriedBy(b);
    for (size_t k = 0; k < b.results.size(); ++k) Set(b.results[k], carried.results[k]);
    return;
  }
  for (const ir::Block* inner : b.blocks) See(*inner);
  for (size_t k = 0; k < b.results.size(); ++k) {
    const Var* result = b.results[k];
    if (!result->type.IsScalar() || !ir::IsInteger(result->type.dtype())) continue;
    std::optional<Interval> interval;
    if (b.op == OpCode::kIf) {
      interval = Of(b.blocks[0]->results[k]);
      const std::optional<Interval> other = Of(b.blocks[1]->results[k]);
      other&& interval ? interval->Include(*other) : interval.reset();
    } else if (b.op == OpCode::kCast && IsWhole(ir::DTypeOf(b.operands[0]))) {
      interval = Of(b.operands[0]);
    } else if (ir::IsScalarOp(b.op) && ir::DTypeOf(b.operands.back()) == ir::DTypeOf(result)) {
      interval = IntervalOf(b, [&](const Operand& operand) { return Of(operand); });
    }
    Set(result, interval && interval->Fits(result->type.dtype()) ? interval : std::nullopt);
  }
}

BlockIntervals::Carried BlockIntervals::CarriedBy(const Binding& loop) {
  const ir::Block& body = *loop.blocks[0];
  const size_t count = loop.results.size();
  std::vector<std::optional<Interval>> now, all;
  for (size_t k = 0; k < count; ++k) now.push_back(Of(loop.operands[FirstInit(loop) + k]));
  all = now;
  const auto walk = [&](const std::vector<std::optional<Interval>>& from) {
    Set(body.params[0], std::nullopt);
    for (size_t k = 0; k < count; ++k) Set(body.params[FirstCarried(loop) + k], from[k]);
    See(body);
    std::vector<std::optional<Interval>> yielded;
    for (const Operand& result : body.results) yielded.push_back(Of(result));
    return yielded;
  };
  // A few iterations are gone through one by one.
  if (const int64_t trips = TripsOf(loop); trips >= 0 && trips <= kMostTrips && depth_ == 0) {
    ++depth_;
    for (int64_t trip = 0; trip < trips; ++trip) {
      now = walk(now);
      if (trip + 1 < trips) Include(all, now);
    }
    --depth_;
    return {all, now};
  }
  // What any iteration may leave; what has not settled then is not known.
  for (int round = 0;; ++round) {
    std::vector<std::optional<Interval>> larger = all;
    Include(larger, walk(all));
    bool settled = true;
    for (size_t k = 0; k < count; ++k) {
      if (IsSame(larger[k], all[k])) continue;
      settled = false;
      if (round >= kMostRounds) larger[k].reset();
    }
    if (settled) return {all, all};
    all = larger;
  }
}

std::optional<IntegerInterval> IntervalIn(const ir::Block& block, const Operand& made) {
  BlockIntervals intervals(nullptr);
  intervals.See(block);
  return intervals.Of(made);
}

}  // namespace parakeet::passes
