#include "passes/analyses/values_in_front.h"

#include <algorithm>
#include <vector>

#include "passes/analyses/index_scalars.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Builder;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;

namespace {

bool IsDivision(const Binding& b) { return b.op == OpCode::kFloorDiv || b.op == OpCode::kMod; }

}  // namespace

bool IsSizeExpression(const Binding& b) {
  if (IsIndexExpression(b)) return true;
  if (b.results.size() != 1) return false;
  const auto is_integer = [](const Type& type) {
    return type == Type(DType::kI64) || type == Type(DType::kBool);
  };
  const bool is_one =
      IsDivision(b) || b.op == OpCode::kCast || b.op == OpCode::kShr || b.op == OpCode::kShl;
  return is_one && is_integer(b.result()->type) &&
         std::all_of(b.operands.begin(), b.operands.end(),
                     [&](const Operand& operand) { return is_integer(ir::TypeOf(operand)); });
}

Operand WriteSizeExpression(Builder& builder, const Binding& b, std::vector<Operand> operands) {
  if (b.op == OpCode::kCast) return builder.Cast(operands[0], b.result()->type.dtype());
  if (IsDivision(b) && !operands[1].IsConstant()) {
    const Operand is_none = builder.Scalar(OpCode::kEq, {operands[1], Operand::Int(0)});
    operands[1] = builder.Scalar(OpCode::kSelect, {is_none, Operand::Int(1), operands[1]});
  } else if (IsDivision(b) && operands[1].IsInt(0)) {
    operands[1] = Operand::Int(1);
  }
  return builder.Scalar(b.op, std::move(operands));
}

ValuesInFront::ValuesInFront(const ir::Block& whole, const ir::DefinitionMap& outside)
    : definitions_(ir::Definitions(whole)), outside_(outside), inside_(ir::DefinedVars(whole)) {}

const Binding* ValuesInFront::DefinitionOf(const Operand& value) const {
  const ir::DefinitionMap& all = inside_.contains(value.var()) ? definitions_ : outside_;
  const auto found = all.find(value.var());
  return found == all.end() ? nullptr : found->second;
}

bool ValuesInFront::IsKnown(const Operand& value) const {
  if (value.IsConstant() || !inside_.contains(value.var())) return true;
  const auto found = known_.find(value.var());
  if (found != known_.end()) return found->second;
  return known_[value.var()] = FindKnown(value);
}

bool ValuesInFront::FindKnown(const Operand& value) const {
  const Binding* b = DefinitionOf(value);
  return b != nullptr && IsSizeExpression(*b) &&
         std::all_of(b->operands.begin(), b->operands.end(),
                     [&](const Operand& operand) { return IsKnown(operand); });
}

Operand ValuesInFront::Write(Builder& builder, const Operand& value) {
  if (value.IsConstant() || !inside_.contains(value.var())) return value;
  const auto found = written_.find(value.var());
  if (found != written_.end()) return found->second;
  const Binding& b = *DefinitionOf(value);
  std::vector<Operand> operands;
  for (const Operand& operand : b.operands) operands.push_back(Write(builder, operand));
  const Operand computed = WriteSizeExpression(builder, b, std::move(operands));
  return written_.emplace(value.var(), computed).first->second;
}

std::optional<ir::Constant> ValuesInFront::WhereSizesAre(int64_t size, const ir::VarSet& sizes,
                                                         const Operand& value,
                                                         ir::Arena* arena) const {
  if (value.IsConstant()) return value.constant();
  if (sizes.contains(value.var())) return Operand::Int(size).constant();
  const Binding* b = DefinitionOf(value);
  if (b == nullptr || !IsSizeExpression(*b)) return std::nullopt;
  std::vector<Operand> operands;
  for (const Operand& operand : b->operands) {
    const auto known = WhereSizesAre(size, sizes, operand, arena);
    if (!known) return std::nullopt;
    operands.push_back(Operand(*known));
  }
  Builder scratch(arena);
  const Operand computed = WriteSizeExpression(scratch, *b, std::move(operands));
  return computed.IsConstant() ? std::optional(computed.constant()) : std::nullopt;
}

}  // namespace parakeet::passes
