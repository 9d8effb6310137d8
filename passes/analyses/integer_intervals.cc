#include "passes/analyses/integer_intervals.h"

#include <algorithm>
#include <unordered_map>

#include "ir/dtype.h"

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

}  // namespace

void IntegerInterval::Include(const IntegerInterval& other) {
  lo = std::min(lo, other.lo);
  hi = std::max(hi, other.hi);
}

bool IntegerInterval::Fits(DType dtype) const {
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
      if (y->lo < 0 || y->hi > 31) return std::nullopt;
      return Interval{x->lo >> y->lo, x->hi >> y->lo};
    case OpCode::kShl:
      if (y->lo < 0 || y->hi > 31) return std::nullopt;
      return Known({x->lo * (int64_t{1} << y->lo), x->hi * (int64_t{1} << y->lo)});
    default: return std::nullopt;
  }
}

std::optional<IntegerInterval> IntervalIn(const ir::Block& block, const Operand& made) {
  std::unordered_map<const Var*, Interval> known;
  const auto of = [&](const Operand& operand) -> std::optional<Interval> {
    if (operand.IsConstant()) return IntervalOf(operand.constant());
    if (const auto found = known.find(operand.var()); found != known.end()) return found->second;
    const ir::Type& type = operand.var()->type;
    return type.IsScalar() && IsNarrow(type.dtype()) ? std::optional(IntervalOf(type.dtype()))
                                                     : std::nullopt;
  };
  const std::function<void(const ir::Block&)> walk = [&](const ir::Block& inside) {
    for (const Binding* b : inside.bindings) {
      for (const ir::Block* inner : b->blocks) walk(*inner);
      for (size_t k = 0; k < b->results.size(); ++k) {
        const Var* result = b->results[k];
        if (!result->type.IsScalar() || !ir::IsInteger(result->type.dtype())) continue;
        std::optional<Interval> interval;
        if (b->op == OpCode::kIf) {
          interval = of(b->blocks[0]->results[k]);
          const std::optional<Interval> other = of(b->blocks[1]->results[k]);
          other&& interval ? interval->Include(*other) : interval.reset();
        } else if (b->op == OpCode::kCast && IsWhole(ir::DTypeOf(b->operands[0]))) {
          interval = of(b->operands[0]);
        } else if (ir::IsScalarOp(b->op) &&
                   ir::DTypeOf(b->operands.back()) == ir::DTypeOf(result)) {
          interval = IntervalOf(*b, of);
        }
        if (interval && interval->Fits(result->type.dtype())) known[result] = *interval;
      }
    }
  };
  walk(block);
  return of(made);
}

}  // namespace parakeet::passes
