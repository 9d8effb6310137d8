#include <algorithm>
#include <limits>
#include <string>

#include "frontend/indexing.h"

// Slices cut as Python's slice.indices cuts them, in the simplest arithmetic that says so: equal
// slices of equally long axes then have sizes that later passes find equal.
namespace parakeet::frontend {
namespace {

using ir::OpCode;
using ir::Operand;

bool IsConstantAtLeast(const Operand& op, int64_t low) {
  return op.IsConstant() && op.constant().integer >= low;
}

bool IsNegativeConstant(const Operand& op) { return op.IsConstant() && op.constant().integer < 0; }

// Bounds of one slice, None or an i64 operand, on an axis of `size`.
class Cut {
 public:
  Cut(Evaluator* evaluator, const SliceValue& slice, const Operand& size)
      : builder_(evaluator->builder()), context_(evaluator->context()), size_(size) {
    start_ = Bound(evaluator, slice.start());
    stop_ = Bound(evaluator, slice.stop());
    step_ = Bound(evaluator, slice.step()).value_or(Operand::Int(1));
  }

  Range Make() {
    if (step_.IsInt(0)) context_.Raise("ValueError", "slice step cannot be zero");
    if (!start_ && !stop_ && step_.IsInt(1)) return {Operand::Int(0), size_, step_};
    if (IsConstantAtLeast(step_, 1)) return step_.IsInt(1) ? Contiguous() : Forward(step_);
    if (IsNegativeConstant(step_)) return Backward(step_);
    return EitherWay();
  }

 private:
  std::optional<Operand> Bound(Evaluator* evaluator, const Value& value) {
    if (value.IsNone()) return std::nullopt;
    const bool is_scalar = value.IsScalar() && !ir::IsFloat(ir::DTypeOf(value.op())) &&
                           !ir::IsComplex(ir::DTypeOf(value.op()));
    if (!is_scalar && !value.IsArray()) {
      context_.FailType("slice indices must be integers or None or have an __index__ method");
    }
    return evaluator->AsIndex(Near(value), "a bound of a slice");
  }

  // What is larger than all sizes ends where they do.
  Value Near(const Value& value) {
    if (!value.IsScalar() || ir::DTypeOf(value.op()) != ir::DType::kU64) return value;
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    const Operand most(ir::Constant::Int(kMost, ir::DType::kU64));
    return Value::NumPy(builder_.Scalar(OpCode::kMin, {value.op(), most}));
  }

  Operand Min(const Operand& a, const Operand& b) { return builder_.Scalar(OpCode::kMin, {a, b}); }
  Operand Max(const Operand& a, const Operand& b) { return builder_.Scalar(OpCode::kMax, {a, b}); }
  Operand NotNegative(const Operand& a) { return Max(a, Operand::Int(0)); }

  // Counted from the end where negative, then kept in [low, high].
  Operand Clip(const Operand& bound, const Operand& low, const Operand& high) {
    if (IsConstantAtLeast(bound, 0)) return Min(bound, high);
    if (IsNegativeConstant(bound)) return Max(builder_.Add(size_, bound), low);
    const Operand negative = builder_.Scalar(OpCode::kLt, {bound, Operand::Int(0)});
    const Operand place =
        builder_.Scalar(OpCode::kSelect, {negative, builder_.Add(bound, size_), bound});
    return Min(Max(place, low), high);
  }

  // x[a:b] with step 1. Constant bounds, one counted from each end, leave max(size - both, 0).
  Range Contiguous() {
    const Operand one = Operand::Int(1);
    const Operand zero = Operand::Int(0);
    const bool simple_start = !start_ || IsConstantAtLeast(*start_, 0);
    if (simple_start && (!stop_ || IsNegativeConstant(*stop_))) {
      const int64_t first = start_ ? start_->constant().integer : 0;
      const int64_t dropped = first + (stop_ ? -stop_->constant().integer : 0);
      const Operand left = NotNegative(builder_.Sub(size_, Operand::Int(dropped)));
      return {Operand::Int(first), left, one};
    }
    if (!start_) {
      const Operand size = Clip(*stop_, zero, size_);
      if (stop_->IsInt(1)) context_.AddNarrowSize(size);
      return {zero, size, one};
    }
    const Operand start = Clip(*start_, zero, size_);
    if (!stop_) {
      const Operand size = builder_.Sub(size_, start);
      if (start_->IsInt(-1)) context_.AddNarrowSize(size);
      return {start, size, one};
    }
    const Operand size = NotNegative(builder_.Sub(Clip(*stop_, zero, size_), start));
    if (IsAtMostOne()) context_.AddNarrowSize(size);
    return {start, size, one};
  }

  // Whether start:stop is one place by what it says itself: 2:3, -3:-2.
  bool IsAtMostOne() const {
    if (!start_->IsConstant() || !stop_->IsConstant()) return false;
    const int64_t start = start_->constant().integer;
    const int64_t stop = stop_->constant().integer;
    return (start < 0) == (stop < 0) && stop - start <= 1;
  }

  // ceil(distance / step) for distance >= 0.
  Operand Steps(const Operand& distance, const Operand& step) {
    if (step.IsInt(1)) return distance;
    const Operand rounded = builder_.Add(distance, builder_.Sub(step, Operand::Int(1)));
    return builder_.Scalar(OpCode::kFloorDiv, {rounded, step});
  }

  Range Forward(const Operand& step) {
    Range range = Contiguous();
    return {range.start, Steps(range.size, step), step};
  }

  Range Backward(const Operand& step) {
    const Operand low = Operand::Int(-1);
    const Operand high = builder_.Sub(size_, Operand::Int(1));
    const Operand start = start_ ? Clip(*start_, low, high) : high;
    const Operand stop = stop_ ? Clip(*stop_, low, high) : low;
    const Operand distance = !start_ && !stop_ ? size_ : NotNegative(builder_.Sub(start, stop));
    return {start, Steps(distance, builder_.Scalar(OpCode::kNeg, {step})), step};
  }

  // The sign of the step is known at run time only.
  Range EitherWay() {
    const Operand forwards = builder_.Scalar(OpCode::kGt, {step_, Operand::Int(0)});
    context_.Check(builder_.Scalar(OpCode::kNe, {step_, Operand::Int(0)}), "ValueError",
                   "slice step cannot be zero");
    const auto choose = [&](const Operand& a, const Operand& b) {
      return builder_.Scalar(OpCode::kSelect, {forwards, a, b});
    };
    const Range up = Forward(choose(step_, Operand::Int(1)));
    const Range down = Backward(choose(Operand::Int(-1), step_));
    return {choose(up.start, down.start), choose(up.size, down.size), step_};
  }

  ir::Builder& builder_;
  Context& context_;
  Operand size_;
  std::optional<Operand> start_;
  std::optional<Operand> stop_;
  Operand step_;
};

}  // namespace

Range NormaliseSlice(Evaluator* evaluator, const SliceValue& slice, const Operand& size) {
  return Cut(evaluator, slice, size).Make();
}

}  // namespace parakeet::frontend
