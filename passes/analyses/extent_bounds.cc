#include "passes/analyses/extent_bounds.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Longer lists are not followed.
constexpr size_t kMostForms = 6;
// Of constants and of values, and times what: far from where i64 wraps around, all together.
constexpr int64_t kFarthest = int64_t{1} << 40;
constexpr int64_t kMostTimes = 1024;

LinearForm Sum(const LinearForm& a, const LinearForm& b, int64_t times) {
  LinearForm sum = a;
  sum.Add(b, times);
  return sum;
}

bool IsConstant(const Operand& value) {
  return value.IsConstant() && ir::TypeOf(value).dtype() == ir::DType::kI64;
}

bool IsNear(const LinearForm& form) {
  return form.constant > -kFarthest && form.constant < kFarthest &&
         std::all_of(
             form.terms.begin(), form.terms.end(),
             [](const auto& term) {
               return term.second >= -kMostTimes && term.second <= kMostTimes;
             });
}

}  // namespace

ExtentBounds::ExtentBounds(const ir::Function& function, const Binding& nest)
    : index_(nest.blocks[0]->params),
      extents_(nest.operands.begin(),
               nest.operands.begin() + static_cast<std::ptrdiff_t>(index_.size())) {
  for (const Binding* b : nest.blocks[0]->bindings) {
    for (const Var* result : b->results) makers_[result] = b;
  }
  for (const Operand& extent : extents_) lengths_.insert(extent.var());
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    for (const Operand& size : param.var->type.dims()) lengths_.insert(size.var());
  }
}

const Binding* ExtentBounds::MakerOf(const Operand& value) const {
  const auto maker = value.IsVar() ? makers_.find(value.var()) : makers_.end();
  return maker == makers_.end() ? nullptr : maker->second;
}

ExtentBounds::Bounds ExtentBounds::Of(const Operand& value, bool upper) const {
  if (IsConstant(value)) {
    const LinearForm form = LinearForm::Of(value.constant().integer);
    return IsNear(form) ? Bounds{{form}} : Bounds{};
  }
  if (!value.IsVar() || !ir::TypeOf(value).IsScalar() ||
      ir::TypeOf(value).dtype() != ir::DType::kI64)
    return {};
  const Binding* maker = MakerOf(value);
  if (maker == nullptr) return {{LinearForm::Of(value.var())}};
  // Of two lists, what `join` makes of each pair of forms, or both lists as one.
  const auto pairs = [](const Bounds& left, const Bounds& right, auto join) {
    Bounds all;
    for (const Forms& a : left) {
      for (const Forms& b : right) {
        const Forms joined = join(a, b);
        if (joined.size() <= kMostForms && all.size() < kMostForms) all.push_back(joined);
      }
    }
    return all;
  };
  const auto& in = maker->operands;
  switch (maker->op) {
    case OpCode::kAdd:
      return pairs(Of(in[0], upper), Of(in[1], upper), [](const Forms& a, const Forms& b) {
        Forms sums;
        for (const LinearForm& x : a)
          for (const LinearForm& y : b) sums.push_back(Sum(x, y, 1));
        return sums;
      });
    case OpCode::kSub: return OfDifference(*maker, upper);
    case OpCode::kMul: {
      const size_t times = IsConstant(in[0]) ? 0 : 1;
      if (!IsConstant(in[times])) return {};
      const int64_t factor = in[times].constant().integer;
      if (factor > kMostTimes || factor < -kMostTimes) return {};
      Bounds bounds = Of(in[1 - times], factor >= 0 ? upper : !upper);
      for (Forms& forms : bounds)
        for (LinearForm& form : forms) form = Sum(LinearForm::Of(int64_t{0}), form, factor);
      return bounds;
    }
    case OpCode::kMin:
    case OpCode::kMax: {
      // A maximum is at most one of both, and at least either.
      const Bounds left = Of(in[0], upper), right = Of(in[1], upper);
      if ((maker->op == OpCode::kMax) == upper) {
        return pairs(left, right, [](Forms a, const Forms& b) {
          a.insert(a.end(), b.begin(), b.end());
          return a;
        });
      }
      Bounds either = left;
      either.insert(either.end(), right.begin(), right.end());
      if (either.size() > kMostForms) either.resize(kMostForms);
      return either;
    }
    case OpCode::kMod: {
      if (!IsConstant(in[1]) || in[1].constant().integer <= 0) return {};
      return {{LinearForm::Of(upper ? in[1].constant().integer - 1 : int64_t{0})}};
    }
    default: return {};
  }
}

// Of max(a, b) - b too, which is the more of a - b and 0.
ExtentBounds::Bounds ExtentBounds::OfDifference(const Binding& difference, bool upper) const {
  Operand from = difference.operands[0];
  const Operand& what = difference.operands[1];
  const Binding* most = MakerOf(from);
  bool is_count = false;
  if (most != nullptr && most->op == OpCode::kMax) {
    for (const size_t k : {0, 1}) {
      if (most->operands[k] != what || is_count) continue;
      from = most->operands[1 - k];
      is_count = true;
    }
  }
  if (is_count && !upper) return {{LinearForm::Of(int64_t{0})}};
  Bounds all;
  for (const Forms& a : Of(from, upper)) {
    for (const Forms& b : Of(what, !upper)) {
      Forms forms;
      for (const LinearForm& x : a)
        for (const LinearForm& y : b) forms.push_back(Sum(x, y, -1));
      if (is_count) forms.push_back(LinearForm::Of(int64_t{0}));
      if (forms.size() <= kMostForms && all.size() < kMostForms) all.push_back(std::move(forms));
    }
  }
  return all;
}

// The form where each index is what makes it most.
std::optional<LinearForm> ExtentBounds::AtMost(const LinearForm& form) const {
  LinearForm most = form;
  for (size_t axis = 0; axis < index_.size(); ++axis) {
    const int64_t times = form.Coefficient(index_[axis]);
    if (times == 0) continue;
    LinearForm end = LinearForm::Of(int64_t{0});
    if (times > 0) {
      end = extents_[axis].IsVar() ? LinearForm::Of(extents_[axis].var())
                                   : LinearForm::Of(extents_[axis].constant().integer);
      end.constant -= 1;
    }
    most = most.With(index_[axis], end);
  }
  return IsNear(most) ? std::optional<LinearForm>(most) : std::nullopt;
}

std::optional<Operand> ExtentBounds::WriteForms(Builder& builder, const Forms& forms) {
  std::optional<Operand> most;
  for (const LinearForm& form : forms) {
    const std::optional<LinearForm> at_most = AtMost(form);
    if (!at_most) return std::nullopt;
    for (const auto& [var, times] : at_most->terms) {
      if (!lengths_.contains(var) && std::count(asked_.begin(), asked_.end(), var) == 0)
        asked_.push_back(var);
    }
    const Operand value = Written(builder, *at_most);
    most = most ? builder.Scalar(OpCode::kMax, {*most, value}) : value;
  }
  return most;
}

std::optional<Operand> ExtentBounds::Write(Builder& builder, const Operand& extent) {
  const Binding* maker = MakerOf(extent);
  if (maker != nullptr && maker->op == OpCode::kFloorDiv && IsConstant(maker->operands[1]) &&
      maker->operands[1].constant().integer > 0) {
    const std::optional<Operand> divided = Write(builder, maker->operands[0]);
    if (!divided) return std::nullopt;
    return builder.Scalar(OpCode::kFloorDiv, {*divided, maker->operands[1]});
  }
  std::optional<Operand> least;
  for (const Forms& forms : Of(extent, true)) {
    const std::optional<Operand> value = WriteForms(builder, forms);
    has_window_ |= value && least;
    if (value) least = least ? builder.Scalar(OpCode::kMin, {*least, *value}) : *value;
  }
  if (!least) return std::nullopt;
  return builder.Scalar(OpCode::kMax, {*least, Operand::Int(0)});
}

Operand ExtentBounds::Holds(Builder& builder) const {
  Operand holds = Operand::Bool(true);
  for (const Var* value : asked_) {
    const Operand above = builder.Scalar(OpCode::kGt, {value, Operand::Int(-kFarthest)});
    const Operand below = builder.Scalar(OpCode::kLt, {value, Operand::Int(kFarthest)});
    holds = builder.Scalar(OpCode::kAnd, {holds, above});
    holds = builder.Scalar(OpCode::kAnd, {holds, below});
  }
  return holds;
}

}  // namespace parakeet::passes
