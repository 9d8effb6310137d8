#include "passes/analyses/access_patterns.h"

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

}  // namespace

AccessPatterns::AccessPatterns(const ir::Function& function)
    : definitions_(ir::Definitions(*function.body)) {
  for (const ir::Param& param : function.params) {
    if (param.layout == ir::Layout::kFortran) fortran_.insert(param.var);
  }
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.attrs.Int(ir::Attr::kFortran) != 0) fortran_.insert(b.results.begin(), b.results.end());
  });
}

int AccessPatterns::UnitStrides(const ir::Block& block, const Var* index) const {
  int count = 0;
  ir::ForEachBinding(block, [&](const Binding& b) {
    if (b.op == OpCode::kLoad || b.op == OpCode::kStore) count += IsNext(b, index);
  });
  return count;
}

bool AccessPatterns::IsNext(const Binding& access, const Var* index) const {
  const Var* array = access.operands[0].var();
  const int rank = array->type.rank();
  const int fastest = fortran_.contains(array) ? 0 : rank - 1;
  for (int axis = 0; axis < rank; ++axis) {
    bool known = true;
    const int64_t step = Coefficient(access.operands[1 + axis], index, known);
    if (!known || step != (axis == fastest ? 1 : 0)) return false;
  }
  return rank > 0;
}

int64_t AccessPatterns::Coefficient(const Operand& operand, const Var* index, bool& known) const {
  if (operand.var() == index) return 1;
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  if (found == definitions_.end()) return 0;
  const Binding& b = *found->second;
  if (!b.blocks.empty() || !ir::IsScalarOp(b.op)) {
    known &= !ir::FreeVars(b).contains(index);
    return 0;
  }
  std::vector<int64_t> parts;
  for (const Operand& inner : b.operands) parts.push_back(Coefficient(inner, index, known));
  if (b.op == OpCode::kAdd) return parts[0] + parts[1];
  if (b.op == OpCode::kSub) return parts[0] - parts[1];
  if (b.op == OpCode::kMul && b.operands[1].IsConstant())
    return parts[0] * b.operands[1].constant().integer;
  if (b.op == OpCode::kMul && b.operands[0].IsConstant())
    return parts[1] * b.operands[0].constant().integer;
  for (const int64_t part : parts) known &= part == 0;
  return 0;
}

}  // namespace parakeet::passes
