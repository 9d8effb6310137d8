#include "passes/assuming/place_assumptions.h"

#include <algorithm>

#include "passes/analyses/carried_values.h"
#include "passes/analyses/index_scalars.h"

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

void PlaceAssumptions::AssumeAlike() {
  ir::ForEachBinding(*function_.body, [&](const Binding& b) {
    if (IsLoop(b.op)) JoinCarried(b);
  });
  FindPlaces(*function_.body, false);
  for (const Var* place : order_) {
    const ir::VarSet& longer = longer_[place];
    const Bound* first = nullptr;
    for (const Bound& bound : bounds_[place]) {
      if (longer.contains(bound.size)) continue;
      if (first == nullptr) first = &bound;
      else if (bound.size != first->size) Assume(*bound.check, first->size, bound.size);
    }
  }
}

void PlaceAssumptions::AssumeCutAlike() {
  ir::ForEachBinding(*function_.body, [&](const Binding& b) {
    if (b.op != OpCode::kCheck) return;
    const Binding* differs = DefinitionOf(b.operands[0], OpCode::kNot);
    const Binding* compared = differs == nullptr ? DefinitionOf(b.operands[0], OpCode::kEq)
                                                 : DefinitionOf(differs->operands[0], OpCode::kNe);
    if (compared == nullptr) return;
    Cut cut;
    if (IsCutAlike(compared->operands[0], compared->operands[1], cut) && cut.by_elements &&
        cut.of_one != nullptr)
      Assume(b, cut.of_one, cut.of_other);
  });
}

bool PlaceAssumptions::IsCutAlike(const Operand& one, const Operand& other, Cut& cut) const {
  if (one == other) {
    Operand end = one;
    while (const Binding* cast = DefinitionOf(end, OpCode::kCast)) end = cast->operands[0];
    cut.by_elements = cut.by_elements || DefinitionOf(end, OpCode::kLoad) != nullptr;
    return true;
  }
  if (!one.IsVar() || !other.IsVar()) return false;
  const std::vector<const Var*> sizes = function_.Sizes();
  const auto is_size = [&](const Operand& a) {
    return std::find(sizes.begin(), sizes.end(), a.var()) != sizes.end();
  };
  if (is_size(one) && is_size(other)) {
    if (cut.of_one == nullptr) {
      cut.of_one = one.var();
      cut.of_other = other.var();
    }
    return cut.of_one == one.var() && cut.of_other == other.var();
  }
  const auto a = definitions_.find(one.var()), b = definitions_.find(other.var());
  if (a == definitions_.end() || b == definitions_.end()) return false;
  const Binding &made = *a->second, &alike = *b->second;
  if (made.op != alike.op || !IsIndexExpression(made) || !IsIndexExpression(alike)) return false;
  for (size_t k = 0; k < made.operands.size(); ++k) {
    if (!IsCutAlike(made.operands[k], alike.operands[k], cut)) return false;
  }
  return true;
}

void PlaceAssumptions::FindPlaces(const ir::Block& block, bool repeats) {
  for (const Binding* b : block.bindings) {
    const bool is_branch = b->op == OpCode::kIf;
    if (is_branch) asked_.push_back(b->operands[0]);
    for (const ir::Block* inner : b->blocks) FindPlaces(*inner, repeats || IsLoop(b->op));
    if (is_branch) asked_.pop_back();
    if (b->op == OpCode::kCheck && repeats) SeeBound(*b, b->operands[0]);
  }
}

void PlaceAssumptions::SeeBound(const Binding& check, const Operand& condition) {
  if (const Binding* both = DefinitionOf(condition, OpCode::kAnd)) {
    for (const Operand& part : both->operands) SeeBound(check, part);
    return;
  }
  const Binding* below = DefinitionOf(condition, OpCode::kLt);
  if (below == nullptr || !below->operands[0].IsVar() || !below->operands[1].IsVar()) return;
  const Var* size = below->operands[1].var();
  const std::vector<const Var*> sizes = function_.Sizes();
  if (std::find(sizes.begin(), sizes.end(), size) == sizes.end()) return;
  Operand index = below->operands[0];
  const Binding* select = DefinitionOf(index, OpCode::kSelect);
  if (select != nullptr && IsFromTheEnd(*select)) index = select->operands[2];
  bool is_moved = false;
  for (const OpCode op : {OpCode::kAdd, OpCode::kSub}) {
    const Binding* moved = DefinitionOf(index, op);
    if (moved == nullptr || !moved->operands[1].IsConstant()) continue;
    index = moved->operands[0];
    is_moved = true;
  }
  while (const Binding* cast = DefinitionOf(index, OpCode::kCast)) index = cast->operands[0];
  if (!index.IsVar()) return;
  const Var* place = PlaceOf(index.var());
  const bool is_place = joined_.contains(index.var()) || DefinitionOf(index, OpCode::kLoad);
  const bool counts = std::any_of(counters_.begin(), counters_.end(),
                                  [&](const Var* counter) { return PlaceOf(counter) == place; });
  if (!is_place || counts) return;
  if (is_moved) return void(longer_[place].insert(size));
  if (std::any_of(asked_.begin(), asked_.end(),
                  [&](const Operand& asked) { return IsAsked(asked, index.var()); }))
    return;
  if (bounds_[place].empty()) order_.push_back(place);
  bounds_[place].push_back({&check, size});
}

void PlaceAssumptions::JoinCarried(const Binding& loop) {
  const ir::Block& body = *loop.blocks.back();
  for (size_t k = 0; k < loop.results.size(); ++k) {
    const Var* param = body.params[FirstCarried(loop) + k];
    if (!(param->type == ir::Type(ir::DType::kI64))) continue;
    const Var* place = PlaceOf(param);
    const auto join = [&](const Var* other) {
      if (PlaceOf(other) != place) joined_[PlaceOf(other)] = place;
    };
    joined_.emplace(place, place);
    join(loop.results[k]);
    if (loop.op == OpCode::kWhile) join(loop.blocks[0]->params[k]);
    const Operand& init = loop.operands[FirstInit(loop) + k];
    if (init.IsVar() && !given_.contains(init.var()) && !loops_.contains(init.var()))
      join(init.var());
    if (Counts(body.results[k], param)) counters_.push_back(param);
  }
}

const Var* PlaceAssumptions::PlaceOf(const Var* value) {
  for (auto found = joined_.find(value); found != joined_.end() && found->second != value;
       found = joined_.find(value))
    value = found->second;
  return value;
}

bool PlaceAssumptions::Counts(const Operand& next, const Var* param) const {
  if (!next.IsVar()) return false;
  if (next.var() == param) return true;
  const auto found = definitions_.find(next.var());
  if (found == definitions_.end()) return false;
  const Binding& b = *found->second;
  if (b.op == OpCode::kAdd || b.op == OpCode::kSub)
    return b.operands[1].IsConstant() && b.operands[0] == Operand(param);
  if (b.op != OpCode::kIf) return false;
  const size_t result =
      std::find(b.results.begin(), b.results.end(), next.var()) - b.results.begin();
  return std::all_of(b.blocks.begin(), b.blocks.end(), [&](const ir::Block* branch) {
    return Counts(branch->results[result], param);
  });
}

bool PlaceAssumptions::IsAsked(const Operand& condition, const Var* place) const {
  const auto found = condition.IsVar() ? definitions_.find(condition.var()) : definitions_.end();
  if (found == definitions_.end()) return false;
  const Binding& b = *found->second;
  switch (b.op) {
    case OpCode::kLt:
    case OpCode::kLe:
    case OpCode::kGt:
    case OpCode::kGe:
      return std::any_of(b.operands.begin(), b.operands.end(), [&](const Operand& side) {
        ir::VarSet seen;
        const Operand& other = &side == &b.operands[0] ? b.operands[1] : b.operands[0];
        return !other.IsConstant() && IsMadeOf(side, place, true, &seen);
      });
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kNot:
      return std::any_of(b.operands.begin(), b.operands.end(),
                         [&](const Operand& part) { return IsAsked(part, place); });
    case OpCode::kIf:
      return IsAsked(b.operands[0], place) ||
             std::any_of(b.blocks.begin(), b.blocks.end(), [&](const ir::Block* branch) {
               return std::any_of(branch->results.begin(), branch->results.end(),
                                  [&](const Operand& part) { return IsAsked(part, place); });
             });
    default: return false;
  }
}

}  // namespace parakeet::passes
