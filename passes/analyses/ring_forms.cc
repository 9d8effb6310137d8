#include "passes/analyses/ring_forms.h"

#include <vector>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;

constexpr int kDeepest = 6;  // Indexes that are rolled again: each doubles what is looked at.

}  // namespace

// Of what is rolled, either part.
LinearForm RingForms::Of(const Operand& index, const Operand& length, int depth) const {
  const LinearForm form = forms_.Of(index);
  LinearForm ring = LinearForm::Of(form.constant);
  for (const auto& [value, times] : form.terms) {
    if (Operand(value) == length) continue;
    const Binding* b = DefinitionOf(value);
    LinearForm part = LinearForm::Of(value);
    if (b != nullptr && b->op == OpCode::kSelect && depth < kDeepest) {
      const LinearForm one = Of(b->operands[1], length, depth + 1);
      if (SameForm(one, Of(b->operands[2], length, depth + 1))) part = one;
    } else if (b != nullptr && b->op == OpCode::kMod && IsLength(b->operands[1], length)) {
      part = Of(b->operands[0], length, depth + 1);
    }
    ring.Add(part, times);
  }
  return ring;
}

const Binding* RingForms::DefinitionOf(const Operand& operand) const {
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  return found == definitions_.end() ? nullptr : found->second;
}

// True for the length of the axis, if there is anything along it.
bool RingForms::IsLength(const Operand& value, const Operand& length) const {
  if (value == length) return true;
  const Binding* b = DefinitionOf(value);
  if (b == nullptr || b->op != OpCode::kMax) return false;
  const std::vector<Operand>& of = b->operands;
  return (of[0].IsInt(1) && of[1] == length) || (of[1].IsInt(1) && of[0] == length);
}

}  // namespace parakeet::passes
