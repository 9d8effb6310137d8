#include "passes/analyses/size_factors.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using Operands = SizeFactors::Operands;

namespace {

std::optional<Operands> Remove(Operands product, const Operands& part) {
  for (const Operand& factor : part) {
    const auto found = std::find(product.begin(), product.end(), factor);
    if (found == product.end()) return std::nullopt;
    product.erase(found);
  }
  return product;
}

}  // namespace

SizeFactors::SizeFactors(const ir::Function& function)
    : definitions_(ir::Definitions(*function.body)) {
  for (const ir::Param& param : function.params) {
    for (const Operand& dim : param.var->type.dims()) {
      if (dim.IsVar()) sizes_.insert(dim.var());
    }
  }
}

const Binding* SizeFactors::DefinitionOf(const Operand& operand) const {
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  return found == definitions_.end() ? nullptr : found->second;
}

Operands SizeFactors::Of(const Operand& size) const {
  const Binding* b = DefinitionOf(size);
  if (b != nullptr && b->op == OpCode::kFloorDiv) return OfQuotient(*b).value_or(Operands{size});
  if (b == nullptr || b->op != OpCode::kMul) return {size};
  Operands factors = Of(b->operands[0]);
  for (const Operand& factor : Of(b->operands[1])) factors.push_back(factor);
  return factors;
}

// Of sizes of arrays alone, whose products do not wrap around. What is divided by 0 has raised.
std::optional<Operands> SizeFactors::OfQuotient(const Binding& b) const {
  const Operands factors = Of(b.operands[0]);
  return AreOfArrays(factors) ? Remove(factors, Of(b.operands[1])) : std::nullopt;
}

bool SizeFactors::AreOfArrays(const Operands& factors) const {
  return std::all_of(factors.begin(), factors.end(), [&](const Operand& factor) {
    return factor.IsVar() && (sizes_.contains(factor.var()) ||
                              std::find(made_.begin(), made_.end(), factor) != made_.end());
  });
}

std::optional<Operands> SizeFactors::Without(const Operands& product, const Operand& part) const {
  if (auto rest = Remove(product, Of(part))) return rest;
  for (const auto& [side, other] : equal_) {
    auto same = Remove(product, side);
    if (!same) continue;
    same->insert(same->end(), other.begin(), other.end());
    if (auto rest = Remove(*same, Of(part))) return rest;
  }
  return std::nullopt;
}

bool SizeFactors::IsSize(const Operand& operand) const {
  if (operand.IsConstant()) return operand.constant().integer >= 0;
  if (sizes_.contains(operand.var())) return true;
  if (std::find(checked_.begin(), checked_.end(), operand) != checked_.end()) return true;
  const Binding* b = DefinitionOf(operand);
  if (b == nullptr) return false;
  const auto is_size = [&](size_t k) { return IsSize(b->operands[k]); };
  switch (b->op) {
    case OpCode::kMul:
    case OpCode::kMin:
    case OpCode::kMod:
    case OpCode::kFloorDiv: return is_size(0) && is_size(1);
    case OpCode::kMax: return is_size(0) || is_size(1);
    case OpCode::kPow: return is_size(0);
    case OpCode::kSelect: return is_size(1) && (is_size(2) || TakesOtherWhereNegative(b->operands));
    default: return false;
  }
}

// Whether `select %c, %a, %b` takes %a where %b is negative.
bool SizeFactors::TakesOtherWhereNegative(const Operands& select) const {
  const Binding* b = DefinitionOf(select[0]);
  return b != nullptr && b->op == OpCode::kLt && b->operands[0] == select[2] &&
         b->operands[1].IsInt(0);
}

bool SizeFactors::AreEqual(const Operand& a, const Operand& b) const {
  return a == b || std::find(equal_.begin(), equal_.end(), std::pair(Operands{a}, Operands{b})) !=
                       equal_.end();
}

void SizeFactors::Learn(const Binding& b) {
  if (b.op == OpCode::kCheck) return LearnCheck(b);
  for (const ir::Var* result : b.results) {
    if (!result->type.IsArray()) continue;
    for (const Operand& dim : result->type.dims()) made_.push_back(dim);
  }
}

void SizeFactors::LearnCheck(const Binding& check) {
  const Binding* b = DefinitionOf(check.operands[0]);
  if (b == nullptr || b->operands.size() != 2) return;
  if (ir::DTypeOf(b->operands[0]) != ir::DType::kI64) return;
  if (b->op == OpCode::kLe && b->operands[0].IsInt(0)) checked_.push_back(b->operands[1]);
  if (b->op == OpCode::kGe && b->operands[1].IsInt(0)) checked_.push_back(b->operands[0]);
  if (b->op != OpCode::kEq) return;
  const Operands a = Of(b->operands[0]), other = Of(b->operands[1]);
  equal_.emplace_back(a, other);
  equal_.emplace_back(other, a);
}

void SizeFactors::Forget(const Known& known) {
  equal_.resize(known.equal);
  checked_.resize(known.sizes);
  made_.resize(known.made);
}

}  // namespace parakeet::passes
