#include "passes/analyses/read_ahead.h"

#include <algorithm>
#include <cstdlib>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

constexpr int64_t kLargestDistance = 1 << 15;

int64_t StepOf(const Binding& loop) {
  return loop.op == ir::OpCode::kFor ? loop.operands[2].constant().integer : 1;
}

LinearForm Renamed(const LinearForm& form, const Var* from, const Var* to) {
  LinearForm renamed = LinearForm::Of(form.constant);
  for (const auto& [var, times] : form.terms)
    renamed.Add(LinearForm::Of(var == from ? to : var), times);
  return renamed;
}

}  // namespace

std::optional<int64_t> DistanceAhead(const WrappingForms& forms, const Binding& storing,
                                     const Binding& store, const Binding& loading,
                                     const Binding& load) {
  const Var* index = storing.blocks[0]->params[0];
  const Var* other = loading.blocks[0]->params[0];
  const VarSet inside = ir::DefinedVars(*storing.blocks[0]);
  std::optional<int64_t> distance;
  for (size_t axis = 1; axis < load.operands.size(); ++axis) {
    const LinearForm place = forms.Of(store.operands[axis]);
    const LinearForm gap = Difference(Renamed(forms.Of(load.operands[axis]), other, index), place);
    const int64_t moves = place.Coefficient(index) * StepOf(storing);
    const bool is_fixed = std::all_of(place.terms.begin(), place.terms.end(), [&](auto& term) {
      return term.first == index || !inside.contains(term.first);
    });
    if (!is_fixed || !gap.IsConstant()) return std::nullopt;
    if (moves == 0 && gap.constant == 0) continue;
    const bool is_whole = std::abs(moves) == 1 && std::abs(gap.constant) <= kLargestDistance;
    if (!is_whole || distance) return std::nullopt;
    distance = gap.constant / moves;
  }
  return distance;
}

}  // namespace parakeet::passes
