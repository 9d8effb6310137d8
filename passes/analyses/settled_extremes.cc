#include "passes/analyses/settled_extremes.h"

#include <vector>

#include "ir/builder.h"
#include "ir/mutator.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// An index is far from where i64 wraps around, and so is what is added to it.
constexpr int64_t kFarthest = int64_t{1} << 48;

}  // namespace

Operand ExtremeDecision::Worst() const {
  const OpCode best = beats == OpCode::kGt ? OpCode::kMax : OpCode::kMin;
  return *ir::IdentityOf(best, ir::DTypeOf(held));
}

Operand ExtremeDecision::Nowhere() const {
  return *ir::IdentityOf(is_least ? OpCode::kMin : OpCode::kMax, ir::DType::kI64);
}

ExtremeReader::ExtremeReader(const Block& block, ir::VarSet near)
    : definitions_(ir::Definitions(block)), near_(std::move(near)) {
  ir::ForEachBinding(block, [&](const Binding& b) {
    const bool is_loop =
        b.op == OpCode::kLanes || (b.op == OpCode::kFor && b.operands[2].constant().integer > 0);
    if (is_loop && b.operands[0].IsInt(0)) ends_.emplace(b.blocks[0]->params[0], b.operands[1]);
    if (b.op == OpCode::kIreduce) ends_.emplace(b.blocks[0]->params[0], b.operands[0]);
  });
}

const Binding* ExtremeReader::DefinitionOf(const Operand& operand, OpCode op) const {
  const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
  return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
}

std::optional<ExtremeDecision> ExtremeReader::DecisionOf(const Operand& takes) const {
  const Binding* either = DefinitionOf(takes, OpCode::kOr);
  if (either == nullptr) return std::nullopt;
  const Binding* better = Comparison(either->operands[0]);
  const Binding* instead = DefinitionOf(either->operands[1], OpCode::kAnd);
  if (better == nullptr || instead == nullptr) return std::nullopt;
  const Binding* equal = DefinitionOf(instead->operands[0], OpCode::kEq);
  const Binding* sooner = Comparison(instead->operands[1]);
  if (equal == nullptr || sooner == nullptr || equal->operands != better->operands ||
      ir::DTypeOf(sooner->operands[0]) != ir::DType::kI64)
    return std::nullopt;
  return ExtremeDecision{better->op,          better->operands[0],
                         better->operands[1], sooner->op == OpCode::kLt,
                         sooner->operands[0], sooner->operands[1]};
}

std::optional<Operand> ExtremeReader::TakesOf(const Block& block, size_t k) const {
  const Binding* choice = DefinitionOf(block.results[k], OpCode::kSelect);
  return choice == nullptr ? std::nullopt : std::optional(choice->operands[0]);
}

bool ExtremeReader::IsChoice(const Block& block, size_t k, const Operand& takes,
                             const Operand& element, const Operand& held) const {
  const Binding* choice = DefinitionOf(block.results[k], OpCode::kSelect);
  return choice != nullptr && choice->operands == std::vector<Operand>{takes, element, held};
}

std::optional<SettledExtreme> ExtremeReader::Settle(const ExtremeDecision& decision,
                                                    Operand element, Operand place,
                                                    const Var* index) const {
  const Binding* at = DefinitionOf(place, OpCode::kSelect);
  const bool all_count = at == nullptr;
  bool keeps_first = false;
  if (at != nullptr) {
    const Binding* value = DefinitionOf(element, OpCode::kSelect);
    if (const Binding* counts = DefinitionOf(at->operands[0], decision.beats)) {
      // All integers are at least the worst one.
      const Operand& x = counts->operands[0];
      const bool is_it =
          value != nullptr &&
          value->operands == std::vector<Operand>{at->operands[0], x, decision.Worst()};
      if (counts->operands[1] != decision.Worst() || (!is_it && element != x) ||
          at->operands[2] != decision.Nowhere())
        return std::nullopt;
      keeps_first = true;
      element = x;
      place = at->operands[1];
    } else if (const Binding* is_nan = DefinitionOf(at->operands[0], OpCode::kIsNan)) {
      const Operand& x = is_nan->operands[0];
      if (value == nullptr || at->operands[1] != decision.Nowhere() ||
          value->operands != std::vector<Operand>{at->operands[0], decision.Worst(), x})
        return std::nullopt;
      element = x;
      place = at->operands[2];
    } else {
      return std::nullopt;
    }
  }
  const int slope = SlopeOf(place, index);
  if (slope == 0 || keeps_first != (decision.is_least == (slope > 0))) return std::nullopt;
  if (all_count && ir::IsFloat(ir::DTypeOf(element))) return std::nullopt;
  const OpCode or_equal = decision.beats == OpCode::kGt ? OpCode::kGe : OpCode::kLe;
  return SettledExtreme{keeps_first ? decision.beats : or_equal, element, place};
}

const Binding* ExtremeReader::Comparison(const Operand& operand) const {
  const Binding* greater = DefinitionOf(operand, OpCode::kGt);
  return greater != nullptr ? greater : DefinitionOf(operand, OpCode::kLt);
}

// True where the index goes from 0 to max(end, operand) - operand, as along a row that elements
// bound: then their sum goes from the operand to the end, and does not wrap around.
bool ExtremeReader::IsBeginOf(const Var* index, const Operand& operand) const {
  const auto end = ends_.find(index);
  const Binding* length = end == ends_.end() ? nullptr : DefinitionOf(end->second, OpCode::kSub);
  if (length == nullptr || length->operands[1] != operand) return false;
  const Binding* last = DefinitionOf(length->operands[0], OpCode::kMax);
  return last != nullptr && (last->operands[0] == operand || last->operands[1] == operand);
}

// 1 where the operand rises as the loop goes on, -1 where it falls, 0 where that is not known.
int ExtremeReader::SlopeOf(const Operand& operand, const Var* index) const {
  if (operand == Operand(index)) return 1;
  if (const Binding* sum = DefinitionOf(operand, OpCode::kAdd)) {
    if (sum->operands[1] == Operand(index) && IsBeginOf(index, sum->operands[0])) return 1;
    if (StaysNear(sum->operands[0])) return SlopeOf(sum->operands[1], index);
    if (StaysNear(sum->operands[1])) return SlopeOf(sum->operands[0], index);
  }
  if (const Binding* difference = DefinitionOf(operand, OpCode::kSub)) {
    if (StaysNear(difference->operands[0])) return -SlopeOf(difference->operands[1], index);
    if (StaysNear(difference->operands[1])) return SlopeOf(difference->operands[0], index);
  }
  if (const Binding* product = DefinitionOf(operand, OpCode::kMul)) {
    const Operand& step = product->operands[1];
    if (step.IsConstant() && StaysNear(step) && product->operands[0] == Operand(index)) {
      return (step.constant().integer > 0) - (step.constant().integer < 0);
    }
  }
  return 0;
}

// A constant, the index of a loop around this one, a size, or a sum of these.
bool ExtremeReader::StaysNear(const Operand& operand, int depth) const {
  if (operand.IsVar()) {
    if (near_.contains(operand.var())) return true;
    for (const OpCode op : {OpCode::kAdd, OpCode::kSub, OpCode::kMax, OpCode::kMin}) {
      const Binding* b = depth > 0 ? DefinitionOf(operand, op) : nullptr;
      if (b == nullptr) continue;
      return StaysNear(b->operands[0], depth - 1) && StaysNear(b->operands[1], depth - 1);
    }
    return false;
  }
  const int64_t value = operand.constant().integer;
  return -kFarthest < value && value < kFarthest;
}

std::optional<SettledExtreme> SettledInOrder(const Block& around, const Binding& reduction) {
  const Block &element = *reduction.blocks[0], &combine = *reduction.blocks[1];
  if (element.params.size() != 1 || element.results.size() != 2 || reduction.operands.size() != 3)
    return std::nullopt;
  const ExtremeReader reader(around, {});
  const Binding* choice = reader.DefinitionOf(combine.results[0], OpCode::kSelect);
  if (choice == nullptr) return std::nullopt;
  const Operand& takes = choice->operands[0];
  const auto decision = reader.DecisionOf(takes);
  const std::vector<const Var*>& params = combine.params;
  if (!decision || decision->held != Operand(params[0]) ||
      decision->held_place != Operand(params[1]) || decision->element != Operand(params[2]) ||
      decision->place != Operand(params[3]) ||
      !reader.IsChoice(combine, 0, takes, decision->element, decision->held) ||
      !reader.IsChoice(combine, 1, takes, decision->place, decision->held_place) ||
      reduction.operands[1] != decision->Worst() || reduction.operands[2] != decision->Nowhere())
    return std::nullopt;
  return reader.Settle(*decision, element.results[0], element.results[1], element.params[0]);
}

std::optional<size_t> PlaceAmong(const std::vector<const Var*>& params, size_t first, size_t count,
                                 const Operand& operand) {
  for (size_t k = 0; k < count; ++k) {
    if (operand == Operand(params[first + k])) return k;
  }
  return std::nullopt;
}

namespace {

// Of accumulator `k` of a reduction, which is an extreme that is kept with its place.
struct FoundExtreme {
  ExtremeDecision decision;
  size_t place;
};

std::optional<FoundExtreme> FindExtreme(const ExtremeReader& reader, const Binding& reduction,
                                        size_t first_init, size_t k) {
  const Block& combine = *reduction.blocks[1];
  const size_t count = reduction.results.size();
  const std::optional<Operand> takes = reader.TakesOf(combine, k);
  const auto decision = takes ? reader.DecisionOf(*takes) : std::nullopt;
  if (!decision) return std::nullopt;
  const auto place = PlaceAmong(combine.params, 0, count, decision->held_place);
  const auto& inits = reduction.operands;
  const bool is_found =
      decision->held == Operand(combine.params[k]) && place &&
      inits[first_init + k] == decision->Worst() &&
      inits[first_init + *place] == decision->Nowhere() &&
      decision->element == Operand(combine.params[count + k]) &&
      decision->place == Operand(combine.params[count + *place]) &&
      reader.IsChoice(combine, k, *takes, decision->element, decision->held) &&
      reader.IsChoice(combine, *place, *takes, decision->place, decision->held_place);
  return is_found ? std::optional(FoundExtreme{*decision, *place}) : std::nullopt;
}

}  // namespace

std::optional<SettledExtremes> SettleExtremes(ir::Arena* arena, const ExtremeReader& reader,
                                              const Binding& reduction, size_t first_init) {
  const Block& element = *reduction.blocks[0];
  if (reduction.operands.size() != first_init + reduction.results.size()) return std::nullopt;
  SettledExtremes settled{element.results, nullptr};
  Block take = *reduction.blocks[1];
  for (size_t k = 0; k < reduction.results.size(); ++k) {
    const auto found = FindExtreme(reader, reduction, first_init, k);
    if (!found) continue;
    const auto in_order = reader.Settle(found->decision, element.results[k],
                                        element.results[found->place], element.params[0]);
    if (!in_order) continue;
    settled.elements[k] = in_order->element;
    settled.elements[found->place] = in_order->place;
    for (const Binding*& b : take.bindings) {
      if (Operand(b->results[0]) != *reader.TakesOf(*reduction.blocks[1], k)) continue;
      Binding decides = *b;
      decides.op = in_order->op;
      decides.operands = {found->decision.element, found->decision.held};
      b = arena->New(std::move(decides));
    }
  }
  if (settled.elements == element.results) return std::nullopt;
  settled.take = ir::CloneBlock(arena, take);
  return settled;
}

const Block* OrderedCombine(ir::Arena* arena, OpCode op, ir::DType dtype) {
  ir::Builder builder(arena);
  const Var *held = builder.NewVar(dtype, "a"), *next = builder.NewVar(dtype, "b");
  const Operand takes = builder.Scalar(op, {next, held});
  const Operand both = builder.Scalar(OpCode::kSelect, {takes, next, held});
  return builder.Finish({held, next}, {both});
}

std::optional<OpCode> OrderOf(const Block& combine) {
  if (combine.params.size() != 2 || combine.bindings.size() != 2 || combine.results.size() != 1)
    return std::nullopt;
  const Operand held(combine.params[0]), next(combine.params[1]);
  const Binding &takes = *combine.bindings[0], &choice = *combine.bindings[1];
  const bool is_choice = ir::IsComparison(takes.op) && choice.op == OpCode::kSelect &&
                         takes.operands == std::vector<Operand>{next, held} &&
                         choice.operands == std::vector<Operand>{takes.result(), next, held} &&
                         combine.results[0] == Operand(choice.result());
  return is_choice ? std::optional(takes.op) : std::nullopt;
}

}  // namespace parakeet::passes
