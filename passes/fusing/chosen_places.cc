#include "passes/fusing/chosen_places.h"

#include <algorithm>

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

bool IsPlaceOrAnswer(const Type& type) {
  return type == Type(DType::kI64) || type == Type(DType::kBool);
}

// True for scalar code of integers and bools, which is all that an index is made of.
bool IsPlain(const Binding& b) {
  if (!ir::IsScalarOp(b.op) && b.op != OpCode::kIf) return false;
  if (!std::all_of(b.results.begin(), b.results.end(),
                   [](const Var* result) { return IsPlaceOrAnswer(result->type); }))
    return false;
  return std::all_of(b.blocks.begin(), b.blocks.end(), [](const Block* block) {
    return std::all_of(block->bindings.begin(), block->bindings.end(),
                       [](const Binding* inner) { return IsPlain(*inner); });
  });
}

void AddUses(const Binding& b, VarSet& values) {
  const auto add = [&](const Operand& operand) {
    if (operand.IsVar()) values.insert(operand.var());
  };
  if (b.op != OpCode::kLoad) std::for_each(b.operands.begin(), b.operands.end(), add);
  for (const Block* block : b.blocks) {
    std::for_each(block->results.begin(), block->results.end(), add);
    for (const Binding* inner : block->bindings) AddUses(*inner, values);
  }
}

// What the element's values are made of, but for the indexes of what it loads.
VarSet ValuesOf(const Block& element) {
  VarSet values;
  for (const Operand& result : element.results) {
    if (result.IsVar()) values.insert(result.var());
  }
  for (size_t at = element.bindings.size(); at-- > 0;) {
    const Binding& b = *element.bindings[at];
    const bool is_value = std::any_of(b.results.begin(), b.results.end(),
                                      [&](const Var* result) { return values.contains(result); });
    if (is_value || !IsPlain(b)) AddUses(b, values);
  }
  return values;
}

}  // namespace

bool IsConditionOfPlaces(const Binding& b, VarSet& places) {
  const auto is_known = [&](const Operand& operand) {
    return operand.IsConstant() || places.contains(operand.var());
  };
  const auto are_known = [&](const auto& operands) {
    return std::all_of(operands.begin(), operands.end(), is_known);
  };
  if (ir::IsComparison(b.op)) {
    for (const Operand& operand : b.operands) {
      if (ir::TypeOf(operand) != Type(DType::kI64)) return false;
    }
  } else if (b.op == OpCode::kIf) {
    if (b.results.size() != 1 || b.result()->type != Type(DType::kBool) || !are_known(b.operands))
      return false;
    for (const Block* block : b.blocks) {
      for (const Binding* inner : block->bindings) {
        if (!IsConditionOfPlaces(*inner, places)) return false;
      }
      if (!are_known(block->results)) return false;
    }
  } else if (b.op != OpCode::kAnd && b.op != OpCode::kOr && b.op != OpCode::kNot) {
    return false;
  } else if (!are_known(b.operands)) {
    return false;
  }
  places.insert(b.result());
  return true;
}

std::unordered_set<const Binding*> ChosenPlaces(const Block& element) {
  std::unordered_set<const Binding*> chosen;
  const VarSet values = ValuesOf(element);
  VarSet conditions;
  for (const Binding* b : element.bindings) {
    if (IsConditionOfPlaces(*b, conditions) || !IsPlain(*b)) continue;
    const bool asks = b->op == OpCode::kIf || b->op == OpCode::kSelect;
    const bool chooses = asks ? b->operands[0].IsVar() && conditions.contains(b->operands[0].var())
                              : b->op == OpCode::kMin || b->op == OpCode::kMax;
    const bool is_value = std::any_of(b->results.begin(), b->results.end(),
                                      [&](const Var* result) { return values.contains(result); });
    if (!chooses || is_value) continue;
    chosen.insert(b);
    for (const Block* block : b->blocks)
      ir::ForEachBinding(*block, [&](const Binding& inner) { chosen.insert(&inner); });
  }
  return chosen;
}

}  // namespace parakeet::passes
