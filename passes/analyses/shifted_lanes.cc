#include "passes/analyses/shifted_lanes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "ir/dtype.h"
#include "passes/analyses/binding_key.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kLargest = 1 << 16;  // of what is counted

void Put(std::string& key, const void* pointer) {
  key.append(reinterpret_cast<const char*>(&pointer), sizeof pointer);
}

void Put(std::string& key, int64_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void Put(std::string& key, LinearForm form) {
  std::sort(form.terms.begin(), form.terms.end());
  for (const auto& [var, times] : form.terms) {
    Put(key, var);
    Put(key, times);
  }
  Put(key, form.constant);
}

}  // namespace

ShiftedValues::ShiftedValues(const Binding& loop, const ir::DefinitionMap& definitions,
                             const WrappingForms& forms, const Roots& roots)
    : index_(loop.blocks[0]->params[0]),
      lanes_(loop.operands[2].constant().integer),
      definitions_(definitions),
      forms_(forms),
      roots_(roots),
      inside_(ir::DefinedVars(*loop.blocks[0])),
      writes_(EffectsOf(*loop.blocks[0], roots).writes) {
  for (const Binding* b : loop.blocks[0]->bindings) See(*b);
}

const ShiftedLanes* ShiftedValues::Of(const Operand& value) const {
  const auto found = value.IsVar() ? values_.find(value.var()) : values_.end();
  return found == values_.end() ? nullptr : &found->second;
}

void ShiftedValues::See(const Binding& b) {
  if (b.results.size() != 1 || b.result()->type.lanes() != lanes_) return;
  if (ir::IsComplex(b.result()->type.dtype())) return;
  if (b.op == OpCode::kLoadLanes) return SeeLoad(b);
  if (ir::IsScalarOp(b.op)) SeeOperation(b);
}

void ShiftedValues::SeeLoad(const Binding& load) {
  const Var* array = load.operands[0].var();
  if (load.attrs.entries().size() != 1 || !load.attrs.Has(Attr::kAxis)) return;
  if (inside_.contains(array) || Intersects(roots_.Of(array), writes_)) return;
  std::string key = "load";
  Put(key, array);
  ShiftedLanes lanes{0, 0, 1, 0};
  for (size_t axis = 0; axis + 1 < load.operands.size(); ++axis) {
    const bool goes_along = axis == static_cast<size_t>(load.attrs.Int(Attr::kAxis));
    LinearForm form = forms_.Of(load.operands[1 + axis]);
    if (form.Coefficient(index_) != int64_t{goes_along}) return;
    form.Add(LinearForm::Of(index_), -int64_t{goes_along});
    for (const auto& [var, times] : form.terms) {
      if (inside_.contains(var)) return;
    }
    if (goes_along) lanes.shift = std::exchange(form.constant, 0);
    Put(key, form);
    Put(key, int64_t{goes_along});
  }
  Keep(load.result(), key, lanes);
}

void ShiftedValues::SeeOperation(const Binding& operation) {
  ShiftedLanes lanes{0, 0, 0, 1};
  bool first = true;
  for (const Operand& operand : operation.operands) {
    const ShiftedLanes* of = Of(operand);
    if (of == nullptr && !IsUniform(operand)) return;
    if (of == nullptr) continue;
    lanes.shift = first ? of->shift : std::min(lanes.shift, of->shift);
    lanes.loads = std::min(lanes.loads + of->loads, kLargest);
    lanes.operations = std::min(lanes.operations + of->operations, kLargest);
    first = false;
  }
  if (first) return;
  // Of the same operands, with numbers in place of what is known of some.
  Binding named = operation;
  std::string key;
  for (Operand& operand : named.operands) {
    const ShiftedLanes* of = Of(operand);
    if (of == nullptr) {
      // Splats of one number are one function, wherever they stand.
      if (operand.IsVar()) operand = definitions_.find(operand.var())->second->operands[0];
      Put(key, int64_t{-1});
      continue;
    }
    Put(key, int64_t{of->function});
    Put(key, of->shift - lanes.shift);
    operand = Operand::Int(0);
  }
  Keep(operation.result(), key + KeyOf(named), lanes);
}

void ShiftedValues::Keep(const Var* value, const std::string& key, ShiftedLanes lanes) {
  lanes.function = functions_.emplace(key, static_cast<int>(functions_.size())).first->second;
  values_[value] = lanes;
}

bool ShiftedValues::IsUniform(const Operand& value) const {
  if (value.IsConstant()) return true;
  const auto found = definitions_.find(value.var());
  return found != definitions_.end() && found->second->op == OpCode::kSplat &&
         Stays(found->second->operands[0]);
}

bool ShiftedValues::Stays(const Operand& value) const {
  return value.IsConstant() || !inside_.contains(value.var());
}

}  // namespace parakeet::passes
