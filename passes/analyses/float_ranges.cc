#include "passes/analyses/float_ranges.h"

#include <algorithm>
#include <cmath>

#include "ir/dtype.h"

namespace parakeet::passes {

using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kLargestWhole = 281474976710656.0;  // 2^48
// How far a result may be rounded, as a part of it: more than once, and by others' functions.
constexpr double kPartOfDouble = 1e-12;
constexpr double kPartOfFloat = 1e-5;

bool IsFloat(const ir::Type& type) {
  return type.IsScalar() && (type.dtype() == DType::kF32 || type.dtype() == DType::kF64);
}

FloatRange Rounded(double lo, double hi, DType dtype) {
  const double part = dtype == DType::kF32 ? kPartOfFloat : kPartOfDouble;
  const double most =
      dtype == DType::kF32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const auto moved = [&](double bound, double by) {
    const double rounded = bound + by * std::abs(bound) * part;
    return std::abs(rounded) < most / 2 ? rounded : by * kUnbounded;
  };
  return {moved(lo, -1.0), moved(hi, 1.0), false};
}

FloatRange Union(const FloatRange& a, const FloatRange& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), a.may_be_nan || b.may_be_nan};
}

// What is least and largest at the ends of both.
template <typename Operation>
FloatRange AtEnds(const FloatRange& x, const FloatRange& y, DType dtype, Operation operation) {
  if (!x.IsFinite() || !y.IsFinite()) return {};
  const double ends[] = {operation(x.lo, y.lo), operation(x.lo, y.hi), operation(x.hi, y.lo),
                         operation(x.hi, y.hi)};
  return Rounded(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4), dtype);
}

FloatRange Quotient(const FloatRange& x, const FloatRange& y, DType dtype) {
  if (y.lo <= 0.0 && y.hi >= 0.0) return {};
  return AtEnds(x, y, dtype, [](double a, double c) { return a / c; });
}

// `a op b` as `b op a`.
OpCode Turned(OpCode op) {
  switch (op) {
    case OpCode::kLt: return OpCode::kGt;
    case OpCode::kLe: return OpCode::kGe;
    case OpCode::kGt: return OpCode::kLt;
    case OpCode::kGe: return OpCode::kLe;
    default: return op;
  }
}

}  // namespace

void FloatRanges::Define(const Binding& b, const Ranges& integers) {
  if (b.op == OpCode::kIf) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!IsFloat(b.results[k]->type)) continue;
      ranges_[b.results[k]] =
          OfChoice(b.operands[0], b.blocks[0]->results[k], b.blocks[1]->results[k]);
    }
    return;
  }
  if (!ir::IsScalarOp(b.op) || b.results.size() != 1) return;
  if (b.result()->type == ir::Type(DType::kBool)) conditions_[b.result()] = &b;
  if (b.op == OpCode::kCast) casts_[b.result()] = &b;
  if (IsFloat(b.result()->type)) ranges_[b.result()] = RangeOf(b, integers);
}

FloatRange FloatRanges::Of(const Operand& value) const {
  if (value.IsConstant()) {
    const double number = value.constant().real;
    return std::isnan(number) ? FloatRange{} : FloatRange{number, number, false};
  }
  const auto found = ranges_.find(value.var());
  return found == ranges_.end() ? FloatRange{} : found->second;
}

std::optional<std::pair<int64_t, int64_t>> FloatRanges::WholeOf(const Operand& value) const {
  const FloatRange range = Of(value);
  if (range.may_be_nan || range.lo < -kLargestWhole || range.hi > kLargestWhole)
    return std::nullopt;
  return std::pair(static_cast<int64_t>(range.lo), static_cast<int64_t>(range.hi));
}

FloatRange FloatRanges::RangeOf(const Binding& b, const Ranges& integers) const {
  const DType dtype = b.result()->type.dtype();
  if (b.op == OpCode::kCast) return OfCast(b, integers);
  if (b.op == OpCode::kSelect) return OfChoice(b.operands[0], b.operands[1], b.operands[2]);
  if (b.operands.empty() || !IsFloat(ir::TypeOf(b.operands[0]))) return {};
  const FloatRange x = Of(b.operands[0]);
  const FloatRange y = b.operands.size() > 1 ? Of(b.operands[1]) : FloatRange{};
  switch (b.op) {
    case OpCode::kNeg: return {-x.hi, -x.lo, x.may_be_nan};
    case OpCode::kAbs: {
      const double least = x.lo > 0.0 ? x.lo : x.hi < 0.0 ? -x.hi : 0.0;
      return {least, std::max(-x.lo, x.hi), x.may_be_nan};
    }
    case OpCode::kFloor: return {std::floor(x.lo), std::floor(x.hi), x.may_be_nan};
    case OpCode::kCeil: return {std::ceil(x.lo), std::ceil(x.hi), x.may_be_nan};
    case OpCode::kTrunc: return {std::trunc(x.lo), std::trunc(x.hi), x.may_be_nan};
    case OpCode::kRint: return {std::nearbyint(x.lo), std::nearbyint(x.hi), x.may_be_nan};
    case OpCode::kSqrt:
      if (x.may_be_nan || x.lo < 0.0) return {};
      return Rounded(std::sqrt(x.lo), std::sqrt(x.hi), dtype);
    case OpCode::kSin:
    case OpCode::kCos: return x.IsFinite() ? Rounded(-1.0, 1.0, dtype) : FloatRange{};
    case OpCode::kAdd: return AtEnds(x, y, dtype, [](double a, double c) { return a + c; });
    case OpCode::kSub: return AtEnds(x, y, dtype, [](double a, double c) { return a - c; });
    case OpCode::kMul: return AtEnds(x, y, dtype, [](double a, double c) { return a * c; });
    case OpCode::kDiv: return Quotient(x, OfDivisor(b.operands[1], integers), dtype);
    case OpCode::kMin:
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi), x.may_be_nan || y.may_be_nan};
    case OpCode::kMax:
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi), x.may_be_nan || y.may_be_nan};
    default: return {};
  }
}

// What a divisor is made of may be known to be positive only here: a size, where its loop runs.
FloatRange FloatRanges::OfDivisor(const Operand& divisor, const Ranges& integers) const {
  FloatRange range = Of(divisor);
  const auto cast = divisor.IsVar() ? casts_.find(divisor.var()) : casts_.end();
  if (cast == casts_.end()) return range;
  const Operand& from = cast->second->operands[0];
  if (ir::TypeOf(from) == ir::Type(DType::kI64) && integers.ProvesLe(Operand::Int(1), from))
    range.lo = std::max(range.lo, 1.0);
  return range;
}

FloatRange FloatRanges::OfCast(const Binding& b, const Ranges& integers) const {
  const Operand& from = b.operands[0];
  const DType dtype = ir::DTypeOf(from), to = b.result()->type.dtype();
  if (IsFloat(ir::TypeOf(from))) {
    const FloatRange range = Of(from);
    if (dtype == to || to == DType::kF64) return range;
    return range.IsFinite() ? Rounded(range.lo, range.hi, to) : FloatRange{};
  }
  if (ir::IsBool(dtype)) return {0.0, 1.0, false};
  if (!ir::IsInteger(dtype)) return {};
  if (ir::SizeInBits(dtype) <= 32) {
    const double half = std::ldexp(1.0, ir::SizeInBits(dtype) - 1);
    return ir::IsUnsigned(dtype) ? Rounded(0.0, 2.0 * half - 1.0, to)
                                 : Rounded(-half, half - 1.0, to);
  }
  if (dtype != DType::kI64) return Rounded(0.0, std::ldexp(1.0, 64), to);
  const auto [lo, hi] = integers.BoundsOf(from);
  return Rounded(std::max(lo, -std::ldexp(1.0, 63)), std::min(hi, std::ldexp(1.0, 63)), to);
}

FloatRange FloatRanges::OfChoice(const Operand& condition, const Operand& then,
                                 const Operand& otherwise) const {
  return Union(Where(condition, true, then), Where(condition, false, otherwise));
}

FloatRange FloatRanges::Where(const Operand& condition, bool sense, const Operand& value) const {
  FloatRange range = Of(value);
  const auto found = condition.IsVar() ? conditions_.find(condition.var()) : conditions_.end();
  if (found == conditions_.end() || value.IsConstant()) return range;
  const Binding& b = *found->second;
  if (b.operands.size() != 2 || !IsFloat(ir::TypeOf(b.operands[0]))) return range;
  if (b.operands[0] == value) Compare(b.op, sense, b.operands[1], range);
  if (b.operands[1] == value) Compare(Turned(b.op), sense, b.operands[0], range);
  return range;
}

// What compares with nan is false, so that only a true comparison says that there is none.
void FloatRanges::Compare(OpCode op, bool sense, const Operand& other, FloatRange& range) const {
  const FloatRange limit = Of(other);
  if (!sense && limit.may_be_nan) return;
  const bool is_below = op == OpCode::kLt || op == OpCode::kLe;
  const bool is_above = op == OpCode::kGt || op == OpCode::kGe;
  if (!is_below && !is_above) return;
  if (is_below == sense) {
    range.hi = std::min(range.hi, limit.hi);
  } else {
    range.lo = std::max(range.lo, limit.lo);
  }
  if (sense && !fastmath_) range.may_be_nan = false;
}

}  // namespace parakeet::passes
