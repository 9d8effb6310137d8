#include "passes/analyses/index_scalars.h"

#include <algorithm>
#include <vector>

#include "ir/dtype.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Type;
using ir::Var;
using ir::VarSet;

namespace {

constexpr int kManyFactors = 5;     // of what is no index
constexpr int kBitsOfProduct = 58;  // Sums of several do not wrap around.

bool IsPositive(const Operand& operand) {
  return operand.IsConstant() && operand.constant().integer > 0;
}

}  // namespace

bool IsIndexExpression(const Binding& b) {
  const bool is_value = b.results.size() == 1 && (b.result()->type == Type(DType::kI64) ||
                                                  b.result()->type == Type(DType::kBool));
  switch (b.op) {
    case OpCode::kAdd:
    case OpCode::kSub:
    case OpCode::kMul:
    case OpCode::kMin:
    case OpCode::kMax:
    case OpCode::kNeg:
    case OpCode::kSelect:
    case OpCode::kEq:
    case OpCode::kNe:
    case OpCode::kLt:
    case OpCode::kLe:
    case OpCode::kGt:
    case OpCode::kGe:
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kNot: return is_value;
    case OpCode::kFloorDiv:
    case OpCode::kMod: return is_value && IsPositive(b.operands[1]);
    default: return false;
  }
}

void AddIndexRanges(const Binding& b, IndexRanges* ranges) {
  if (b.op == OpCode::kFor) {
    ranges->insert_or_assign(
        b.blocks[0]->params[0],
        IndexRange{b.operands[0], b.operands[1], b.operands[2].constant().integer > 0});
  }
  if (b.op != OpCode::kImap) return;
  for (size_t axis = 0; axis < b.operands.size(); ++axis)
    ranges->insert_or_assign(b.blocks[0]->params[axis],
                             IndexRange{Operand::Int(0), b.operands[axis]});
}

std::optional<int64_t> IndexScalars::MostOfFactor(const Var* factor) const {
  const auto found = factors_around_.find(factor);
  if (found == factors_around_.end() || found->second >= kManyFactors) return std::nullopt;
  return int64_t{1} << (kBitsOfProduct / found->second);
}

VarSet IndexScalars::LoopsIn(const Var* value) const {
  VarSet loops, seen;
  std::vector<const Var*> parts = {value};
  while (!parts.empty()) {
    const Var* part = parts.back();
    parts.pop_back();
    if (!seen.insert(part).second) continue;
    if (loops_.contains(part)) loops.insert(part);
    const auto found = definitions_.find(part);
    if (found == definitions_.end() || !IsIndexExpression(*found->second)) continue;
    for (const Operand& operand : found->second->operands) {
      if (operand.IsVar()) parts.push_back(operand.var());
    }
  }
  return loops;
}

void IndexScalars::FindIndexes(const Block& block, bool repeats) {
  for (const Binding* b : block.bindings) {
    const bool is_branch = b->op == OpCode::kIf;
    for (const Block* inner : b->blocks) FindIndexes(*inner, repeats || !is_branch);
    if (b->op == OpCode::kCheck && repeats) FindIndex(b->operands[0]);
    if (b->op != OpCode::kSlice || !repeats) continue;
    for (size_t k = 1; k < b->operands.size(); ++k)
      FindFactors(b->operands[k], FactorsIn(b->operands[k]), false);
  }
}

// Of a condition that says of an index that it is in range.
void IndexScalars::FindIndex(const Operand& condition) {
  if (const Binding* both = DefinitionOf(condition, OpCode::kAnd)) {
    for (const Operand& part : both->operands) FindIndex(part);
  } else if (const Binding* below = DefinitionOf(condition, OpCode::kLt)) {
    FindScalars(below->operands[0]);
    FindFactors(below->operands[0], FactorsIn(below->operands[0]), false);
  }
}

// How many values are multiplied in the value at most.
int IndexScalars::FactorsIn(const Operand& operand) {
  if (operand.IsConstant()) return 0;
  const auto known = factors_in_.find(operand.var());
  if (known != factors_in_.end()) return known->second;
  int factors = 1;
  const auto loop = loops_.find(operand.var());
  const auto found = definitions_.find(operand.var());
  if (loop != loops_.end()) {
    for (const Operand& end : {loop->second.begin, loop->second.end})
      factors = std::max(factors, FactorsIn(end));
  } else if (found != definitions_.end() && IsIndexExpression(*found->second)) {
    const bool is_product = found->second->op == OpCode::kMul;
    int sum = 0, most = 0;
    for (const Operand& part : found->second->operands) {
      sum += FactorsIn(part);
      most = std::max(most, FactorsIn(part));
    }
    factors = std::min(is_product ? sum : most, kManyFactors);
  }
  factors_in_.emplace(operand.var(), factors);
  return factors;
}

// What is given and stands in a product, of so many at most.
void IndexScalars::FindFactors(const Operand& operand, int factors, bool in_product) {
  if (factors < 2 || !operand.IsVar()) return;
  int& known = (in_product ? factors_around_ : factors_below_)[operand.var()];
  if (known >= factors) return;
  known = factors;
  const auto loop = loops_.find(operand.var());
  const auto found = definitions_.find(operand.var());
  if (loop != loops_.end()) {
    for (const Operand& end : {loop->second.begin, loop->second.end})
      FindFactors(end, factors, in_product);
  } else if (found != definitions_.end() && IsIndexExpression(*found->second)) {
    const std::vector<Operand>& parts = found->second->operands;
    const bool multiplies =
        found->second->op == OpCode::kMul && parts[0].IsVar() && parts[1].IsVar();
    for (const Operand& part : parts) FindFactors(part, factors, in_product || multiplies);
  }
}

// What the index or the ends of its loops are made of.
void IndexScalars::FindScalars(const Operand& operand) {
  if (!operand.IsVar() || !seen_.insert(operand.var()).second) return;
  const auto loop = loops_.find(operand.var());
  const auto found = definitions_.find(operand.var());
  if (loop != loops_.end()) {
    for (const Operand& end : {loop->second.begin, loop->second.end}) FindScalars(end);
  } else if (found != definitions_.end() && IsIndexExpression(*found->second)) {
    for (const Operand& part : found->second->operands) FindScalars(part);
  }
}

const Binding* IndexScalars::DefinitionOf(const Operand& operand, OpCode op) const {
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  return found == definitions_.end() || found->second->op != op ? nullptr : found->second;
}

}  // namespace parakeet::passes
