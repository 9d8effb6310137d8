#include "passes/assuming/assumptions.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

Assumptions::Assumptions(ir::Arena* arena, const ir::Function& function, int64_t site,
                         Context& context)
    : builder_(arena), function_(function), site_(site), context_(context) {
  for (const Var* size : function.Sizes()) given_.insert(size);
  for (const ir::Param& param : function.params) {
    if (param.var->type == ir::Type(ir::DType::kI64)) given_.insert(param.var);
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    for (const Var* result : b.results) definitions_[result] = &b;
    AddIndexRanges(b, &loops_);
  });
}

void Assumptions::Require(const Operand& holds) {
  builder_.Emit(OpCode::kCheck, {}, {holds}, {{Attr::kSite, site_}, {Attr::kAt, 0}});
}

void Assumptions::Assume(const Binding& b, const Operand& n, const Operand& m) {
  cost_ = 0;
  const std::optional<Operand> left = AtEntry(n), right = AtEntry(m);
  if (!left || !right || *left == *right) return;
  builder_.set_span(b.span);
  const Operand equal = builder_.Scalar(OpCode::kEq, {*left, *right});
  if (equal.IsConstant()) return;
  Require(equal);
  context_.Note(b.span,
                b.op == OpCode::kSlice ? "taken to lie inside its array, which a call checks first"
                                       : "sizes taken to be equal, which a call checks first",
                Topic::kShapes, Verdict::kDone);
}

void Assumptions::AssumeEqual(const Binding& b, const Pair& pair) {
  const std::optional<LinearForm> gap = LikelyGap(pair);
  if (!gap || (gap->IsConstant() && gap->constant != 0)) return;
  if (!IsLikelyOne(pair.first) && !IsLikelyOne(pair.second)) Assume(b, pair.first, pair.second);
}

std::optional<Assumptions::Pair> Assumptions::CheckedPair(const Operand& condition) const {
  std::optional<Pair> pair;
  bool has_one = false;
  std::vector<Operand> parts = {condition};
  while (!parts.empty()) {
    const Operand part = parts.back();
    parts.pop_back();
    if (const Binding* either = DefinitionOf(part, OpCode::kOr)) {
      parts.insert(parts.end(), either->operands.begin(), either->operands.end());
      continue;
    }
    const Binding* equal = DefinitionOf(part, OpCode::kEq);
    if (equal == nullptr) return std::nullopt;
    const Operand& a = equal->operands[0];
    const Operand& b = equal->operands[1];
    if (a.IsInt(1) || b.IsInt(1)) {
      has_one = true;
    } else {
      if (pair) return std::nullopt;
      pair = {a, b};
    }
  }
  return has_one ? pair : std::nullopt;
}

std::optional<LinearForm> Assumptions::LikelyGap(const Pair& pair) {
  const std::optional<LinearForm> n = Likely(pair.first), m = Likely(pair.second);
  return n && m ? std::optional(Difference(*n, *m)) : std::nullopt;
}

const Binding* Assumptions::DefinitionOf(const Operand& operand, OpCode op) const {
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  return found == definitions_.end() || found->second->op != op ? nullptr : found->second;
}

std::optional<LinearForm> Assumptions::Likely(const Operand& operand) {
  if (operand.IsConstant()) return LinearForm::Of(operand.constant().integer);
  if (given_.contains(operand.var()) || loops_.contains(operand.var()))
    return LinearForm::Of(operand.var());
  const auto known = likely_.find(operand.var());
  if (known != likely_.end()) return known->second;
  const auto found = definitions_.find(operand.var());
  std::optional<LinearForm> form;
  if (found != definitions_.end()) form = LikelyResult(*found->second);
  likely_.emplace(operand.var(), form);
  return form;
}

bool Assumptions::IsLikelyOne(const Operand& operand) {
  const std::optional<LinearForm> form = Likely(operand);
  return form && form->IsConstant() && form->constant == 1;
}

bool Assumptions::IsLikelyNatural(const LinearForm& form) const {
  if (form.IsConstant()) return form.constant >= 0;
  const std::vector<const Var*> sizes = function_.Sizes();
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
    return term.second > 0 && std::find(sizes.begin(), sizes.end(), term.first) != sizes.end();
  });
}

std::optional<LinearForm> Assumptions::LeastOf(const LinearForm& form) {
  LinearForm least = LinearForm::Of(form.constant);
  for (const auto& [var, times] : form.terms) {
    const auto loop = loops_.find(var);
    std::optional<LinearForm> part = LinearForm::Of(var);
    if (loop != loops_.end()) {
      const bool up = loop->second.rises, is_end = up == (times < 0);
      part = Likely(is_end ? loop->second.end : loop->second.begin);
      if (part && is_end) part->constant += up ? -1 : 1;
    }
    if (!part) return std::nullopt;
    least.Add(*part, times);
  }
  const bool is_given = std::all_of(least.terms.begin(), least.terms.end(),
                                    [&](const auto& t) { return given_.contains(t.first); });
  return is_given ? std::optional(least) : std::nullopt;
}

bool Assumptions::IsNeverNegative(const LinearForm& form) {
  const std::optional<LinearForm> least = LeastOf(form);
  return least && least->IsConstant() && least->constant >= 0;
}

void Assumptions::Suppose(const Var* value, const Operand& other) {
  cost_ = 0;
  const std::optional<LinearForm> form = Likely(other);
  const std::optional<Operand> known = AtEntry(other);
  if (!form || !known) return;
  Suppose(value, *form);
  made_.insert_or_assign(value, *known);
}

std::optional<Operand> Assumptions::AtEntry(const Operand& operand) {
  if (operand.IsConstant() || given_.contains(operand.var())) return operand;
  const auto made = made_.find(operand.var());
  if (made != made_.end()) return made->second;
  const auto found = definitions_.find(operand.var());
  if (found == definitions_.end() || ++cost_ > kLargestExpression) return std::nullopt;
  const Binding& b = *found->second;
  std::optional<Operand> value;
  if (const auto pair = ChosenPair(b)) {
    value = AtEntry(IsLikelyOne(pair->first) ? pair->second : pair->first);
  } else if (IsShapeEntry(b)) {
    value = AtEntry(b.operands[2]);
  } else if (IsIndexExpression(b)) {
    std::vector<Operand> operands;
    for (const Operand& part : b.operands) {
      const std::optional<Operand> known = AtEntry(part);
      if (!known) return std::nullopt;
      operands.push_back(*known);
    }
    value = builder_.Scalar(b.op, std::move(operands));
  }
  if (value) made_.emplace(operand.var(), *value);
  return value;
}

bool Assumptions::IsKnownAtEntry(const Operand& operand) {
  cost_ = 0;
  return AtEntry(operand).has_value();
}

std::optional<Operand> Assumptions::ExtremeOf(const LinearForm& form, bool largest) {
  Operand value = Operand::Int(form.constant);
  for (const auto& [var, times] : form.terms) {
    const bool is_largest = largest == (times > 0);
    const auto loop = loops_.find(var);
    const std::optional<Operand> extreme = loop != loops_.end() ? EndOf(loop->second, is_largest)
                                           : scalars_.LoopsIn(var).empty()
                                               ? AtEntry(Operand(var))
                                               : ExtremeOfProduct(var, is_largest);
    if (!extreme) return std::nullopt;
    value = builder_.Add(value, builder_.Mul(*extreme, Operand::Int(times)));
  }
  return value;
}

Operand Assumptions::WriteScalar(const LinearForm& form) {
  for (const auto& term : form.terms) scalars_.Add(term.first);
  return Written(builder_, form);
}

bool Assumptions::IsFromTheEnd(const Binding& select) const {
  const Binding* is_negative = DefinitionOf(select.operands[0], OpCode::kLt);
  return is_negative != nullptr && is_negative->operands[0] == select.operands[2] &&
         is_negative->operands[1].IsInt(0);
}

bool Assumptions::IsShapeEntry(const Binding& b) const {
  return b.op == OpCode::kSelect && IsFromTheEnd(b) &&
         DefinitionOf(b.operands[1], OpCode::kFloorDiv) != nullptr;
}

std::optional<Assumptions::Pair> Assumptions::ChosenPair(const Binding& b) const {
  if (b.op == OpCode::kBroadcastSize) return Pair{b.operands[0], b.operands[1]};
  if (b.op != OpCode::kSelect) return std::nullopt;
  const Binding* is_one = DefinitionOf(b.operands[0], OpCode::kEq);
  const Operand& n = b.operands[2];
  const bool asks =
      is_one != nullptr && ((is_one->operands[0] == n && is_one->operands[1].IsInt(1)) ||
                            (is_one->operands[1] == n && is_one->operands[0].IsInt(1)));
  return asks ? std::optional(Pair{n, b.operands[1]}) : std::nullopt;
}

std::optional<LinearForm> Assumptions::LikelyResult(const Binding& b) {
  if (const auto pair = ChosenPair(b)) {
    return Likely(IsLikelyOne(pair->first) ? pair->second : pair->first);
  }
  if (b.op == OpCode::kSelect && IsFromTheEnd(b)) return Likely(b.operands[2]);
  if (!IsIndexExpression(b)) return std::nullopt;
  std::vector<LinearForm> parts;
  for (const Operand& operand : b.operands) {
    std::optional<LinearForm> part = Likely(operand);
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
  }
  switch (b.op) {
    case OpCode::kMin: return parts[0];
    case OpCode::kMax: return parts[b.operands[0].IsInt(0)];
    case OpCode::kAdd: parts[0].Add(parts[1], 1); return parts[0];
    case OpCode::kSub: parts[0].Add(parts[1], -1); return parts[0];
    case OpCode::kMul:
      for (const int side : {0, 1}) {
        if (!parts[side].IsConstant()) continue;
        LinearForm product;
        product.Add(parts[1 - side], parts[side].constant);
        return product;
      }
      [[fallthrough]];
    default: return LinearForm::Of(b.result());
  }
}

std::optional<Operand> Assumptions::ExtremeOfProduct(const Var* product, bool largest) {
  const Binding* of_two = DefinitionOf(product, OpCode::kMul);
  for (const int side : {0, 1}) {
    if (of_two == nullptr) break;
    const Operand& other = of_two->operands[1 - side];
    if (other.IsVar() && !scalars_.LoopsIn(other.var()).empty()) continue;
    const std::optional<LinearForm> moves = Likely(of_two->operands[side]);
    const std::optional<Operand> factor = AtEntry(other);
    std::optional<Operand> extreme;
    if (moves && factor) extreme = ExtremeOf(*moves, largest);
    if (extreme) return builder_.Mul(*extreme, *factor);
  }
  return std::nullopt;
}

// Of a triangle's loops, as from `i + 1` on.
bool Assumptions::IsNearIndex(const Operand& bound) const {
  if (!bound.IsVar() || loops_.contains(bound.var())) return bound.IsVar();
  const Binding* sum = DefinitionOf(bound, OpCode::kAdd);
  if (sum == nullptr) sum = DefinitionOf(bound, OpCode::kSub);
  return sum != nullptr && sum->operands[1].IsConstant() && sum->operands[0].IsVar() &&
         loops_.contains(sum->operands[0].var());
}

std::optional<Operand> Assumptions::EndOf(const IndexRange& loop, bool largest) {
  const bool up = loop.rises;
  const Operand& bound = up == largest ? loop.end : loop.begin;
  std::optional<Operand> end = AtEntry(bound);
  if (!end && IsNearIndex(bound)) end = ExtremeOf(*Likely(bound), largest);
  // As a block's loop, to min(i + 32, n): it goes no farther than either.
  const Binding* nearer = DefinitionOf(bound, largest ? OpCode::kMin : OpCode::kMax);
  for (size_t side = 0; nearer != nullptr && !end && side < 2; ++side)
    end = AtEntry(nearer->operands[side]);
  if (!end || up != largest) return end;
  return builder_.Add(*end, Operand::Int(up ? -1 : 1));
}

}  // namespace parakeet::passes
