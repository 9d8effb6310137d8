#include "passes/analyses/first_iteration.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

FirstIteration::FirstIteration(const Binding& loop) {
  for (const ir::Block* block : loop.blocks) inside_.merge(ir::DefinedVars(*block));
  const std::vector<const Var*>& params = loop.blocks[0]->params;
  if (loop.op == OpCode::kWhile) {
    for (size_t k = 0; k < params.size(); ++k) start_[params[k]] = loop.operands[k];
    return;
  }
  const bool has_lo = loop.op == OpCode::kFor || loop.op == OpCode::kLanes;
  for (size_t axis = 0; axis < (has_lo ? 1 : params.size()); ++axis)
    start_[params[axis]] = has_lo ? loop.operands[0] : Operand::Int(0);
}

bool FirstIteration::IsInvariant(const Binding& binding) const {
  return std::none_of(binding.operands.begin(), binding.operands.end(),
                      [&](const Operand& operand) { return IsInside(operand); });
}

bool FirstIteration::IsKnown(const Operand& value) const {
  if (!IsInside(value) || start_.contains(value.var())) return true;
  const auto code = scalars_.find(value.var());
  if (code == scalars_.end()) return false;
  const std::vector<Operand>& in = code->second->operands;
  return std::all_of(in.begin(), in.end(), [&](const Operand& o) { return IsKnown(o); });
}

Operand FirstIteration::Write(ir::Builder& builder, const Operand& value) const {
  if (!IsInside(value)) return value;
  if (const auto index = start_.find(value.var()); index != start_.end()) return index->second;
  const Binding& code = *scalars_.at(value.var());
  std::vector<Operand> operands;
  for (const Operand& in : code.operands) operands.push_back(Write(builder, in));
  const auto to = code.result()->type.dtype();
  if (code.op == OpCode::kCast) return builder.Cast(operands[0], to, code.result()->hint);
  if (code.op == OpCode::kBitcast) return builder.Bitcast(operands[0], to, code.result()->hint);
  return builder.Scalar(code.op, std::move(operands), code.result()->hint);
}

}  // namespace parakeet::passes
