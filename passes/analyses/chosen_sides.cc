#include "passes/analyses/chosen_sides.h"

#include <algorithm>
#include <cstdlib>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kLongestOfSteps = 1024;

// True where a block does what lanes do not.
bool Works(const Block& block) {
  bool works = false;
  ir::ForEachBinding(block, [&](const Binding& b) {
    works |= !ir::IsScalarOp(b.op) && b.op != OpCode::kLoad && b.op != OpCode::kIf &&
             b.op != OpCode::kCheck;
  });
  return works;
}

}  // namespace

void ChosenSides::ChooseForced(const Block& body) {
  may_choose_ = false;
  for (size_t k = 0; k < body.results.size(); ++k) StepOf(body, k);
  may_choose_ = true;
}

std::optional<int64_t> ChosenSides::StepOf(const Block& body, size_t k) {
  if (body.params[k]->type != ir::Type(DType::kI64)) return std::nullopt;
  const std::optional<int64_t> step = StepIn(body, body.results[k], body.params[k]);
  const bool is_short = step && *step != 0 && std::abs(*step) <= kLongestOfSteps;
  return is_short ? step : std::nullopt;
}

std::optional<size_t> ChosenSides::SideOf(const Binding& branch) {
  if (!of_branches_) return std::nullopt;
  if (!sides_.contains(&branch)) {
    const bool first = Works(*branch.blocks[0]), second = Works(*branch.blocks[1]);
    if (first == second) return std::nullopt;
    sides_[&branch] = first ? 1 : 0;
  }
  return sides_[&branch];
}

std::optional<int64_t> ChosenSides::StepIn(const Block& block, const Operand& next,
                                           const Var* own) {
  if (next == Operand(own)) return 0;
  for (const Binding* b : block.bindings) {
    const auto result = std::find_if(b->results.begin(), b->results.end(),
                                     [&](const Var* v) { return Operand(v) == next; });
    if (result == b->results.end()) continue;
    if (b->op == OpCode::kIf && of_branches_)
      return StepOfSides(*b, static_cast<size_t>(result - b->results.begin()), own);
    if (b->op != OpCode::kAdd && b->op != OpCode::kSub) return std::nullopt;
    const bool swapped = b->op == OpCode::kAdd && b->operands[1] == Operand(own);
    if (b->operands[swapped ? 1 : 0] != Operand(own)) return std::nullopt;
    const Operand& by = b->operands[swapped ? 0 : 1];
    if (!by.IsConstant()) return std::nullopt;
    return b->op == OpCode::kAdd ? by.constant().integer : -by.constant().integer;
  }
  return std::nullopt;
}

std::optional<int64_t> ChosenSides::StepOfSides(const Binding& branch, size_t result,
                                                const Var* own) {
  if (!SideOf(branch)) {
    std::optional<int64_t> steps[2];
    for (const size_t side : {0, 1})
      steps[side] = StepIn(*branch.blocks[side], branch.blocks[side]->results[result], own);
    if (steps[0] == steps[1]) return steps[0];
    if (steps[0] && steps[1] && !may_choose_) return std::nullopt;
    const auto is = [&](size_t side, int64_t step) {
      return steps[side] && std::abs(*steps[side]) == step;
    };
    const bool first = is(0, 0) || !steps[1] || (is(0, 1) && !is(1, 0));
    sides_[&branch] = first ? 0 : 1;
  }
  const Block& side = *branch.blocks[sides_[&branch]];
  return StepIn(side, side.results[result], own);
}

}  // namespace parakeet::passes
