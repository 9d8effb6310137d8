#include "passes/analyses/find_demands.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostDemands = 6;
constexpr int64_t kFarthest = int64_t{1} << 40;

bool IsIndexType(const Operand& operand) {
  return ir::TypeOf(operand) == ir::Type(ir::DType::kI64);
}

LinearForm Multiple(const LinearForm& form, int64_t times) {
  LinearForm product;
  product.Add(form, times);
  return product;
}

// What is not negative where the comparison is true; none of other operations.
std::optional<std::pair<int, int>> SidesOfOrder(OpCode op) {
  switch (op) {
    case OpCode::kLt:
    case OpCode::kLe: return std::pair(1, 0);
    case OpCode::kGt:
    case OpCode::kGe: return std::pair(0, 1);
    default: return std::nullopt;
  }
}

bool IsStrictOrder(OpCode op) { return op == OpCode::kLt || op == OpCode::kGt; }

}  // namespace

DemandFinder::DemandFinder(const ir::Function& function)
    : forms_(function), definitions_(ir::Definitions(*function.body)) {}

std::optional<std::vector<LinearForm>> DemandFinder::Of(const Binding& loop) {
  inside_.clear();
  carried_.clear();
  for (const Block* block : loop.blocks) inside_.merge(ir::DefinedVars(*block));
  Demands demands;
  SeeCarried(loop, loop.blocks[0]->params);
  SeeChecks(*loop.blocks[0], demands);
  carried_.clear();
  SeeCarried(loop, loop.blocks[1]->params);
  SeeCondition(loop, loop.blocks[0]->results[0]);
  SeeChecks(*loop.blocks[1], demands);
  if (demands.empty() || demands.size() > kMostDemands) return std::nullopt;
  return demands;
}

void DemandFinder::SeeCarried(const Binding& loop, const std::vector<const Var*>& params) {
  const Block& body = *loop.blocks[1];
  for (size_t k = 0; k < params.size(); ++k) {
    if (!IsIndexType(params[k])) continue;
    Carried carried;
    carried.init = forms_.Of(loop.operands[k]);
    SeeMoves(body.results[k], body.params[k], carried);
    carried_[params[k]] = std::move(carried);
  }
}

void DemandFinder::SeeMoves(const Operand& next, const Var* param, Carried& carried) const {
  const LinearForm move = Difference(forms_.Of(next), LinearForm::Of(param));
  if (move.IsConstant()) {
    carried.rises &= move.constant >= 0;
    carried.falls &= move.constant <= 0;
    return;
  }
  const auto made = next.IsVar() ? definitions_.find(next.var()) : definitions_.end();
  const bool is_known = made != definitions_.end() && inside_.contains(next.var());
  if (is_known && made->second->op == OpCode::kSelect) {
    for (const int side : {1, 2}) SeeMoves(made->second->operands[side], param, carried);
  } else if (is_known && made->second->op == OpCode::kIf) {
    const std::vector<const Var*>& results = made->second->results;
    const size_t k = std::find(results.begin(), results.end(), next.var()) - results.begin();
    for (const Block* block : made->second->blocks) SeeMoves(block->results[k], param, carried);
  } else {
    carried.rises = carried.falls = false;
  }
}

// What the loop's condition says of what it carries, in its body.
void DemandFinder::SeeCondition(const Binding& loop, const Operand& condition) {
  const auto made = condition.IsVar() ? definitions_.find(condition.var()) : definitions_.end();
  if (made == definitions_.end() || !inside_.contains(condition.var())) return;
  const Binding& b = *made->second;
  if (b.op == OpCode::kAnd) {
    for (const Operand& part : b.operands) SeeCondition(loop, part);
  } else if (b.op == OpCode::kIf && b.blocks[1]->results[0].IsInt(0)) {
    SeeCondition(loop, b.operands[0]);
    SeeCondition(loop, b.blocks[0]->results[0]);
  }
  const auto sides = SidesOfOrder(b.op);
  if (!sides || !IsIndexType(b.operands[0])) return;
  const LinearForm room =
      Plus(Difference(forms_.Of(b.operands[sides->first]), forms_.Of(b.operands[sides->second])),
           IsStrictOrder(b.op) ? -1 : 0);
  for (size_t k = 0; k < loop.results.size(); ++k) {
    const int64_t times = room.Coefficient(loop.blocks[0]->params[k]);
    if (times != 1 && times != -1) continue;
    LinearForm limit = Multiple(room, -times);
    limit.Add(LinearForm::Of(loop.blocks[0]->params[k]), 1);
    if (!IsOutside(limit)) continue;
    Carried& carried = carried_[loop.blocks[1]->params[k]];
    (times == 1 ? carried.least : carried.most).push_back(std::move(limit));
  }
}

void DemandFinder::SeeChecks(const Block& block, Demands& all) {
  for (const Binding* b : block.bindings) {
    for (const Block* inner : b->blocks) SeeChecks(*inner, all);
    Demands demands;
    if (b->op != OpCode::kCheck || !Demand(b->operands[0], demands)) continue;
    for (LinearForm& demand : demands) {
      const auto is_same = [&](const LinearForm& other) { return SameForm(other, demand); };
      if (std::none_of(all.begin(), all.end(), is_same)) all.push_back(std::move(demand));
    }
  }
}

bool DemandFinder::Demand(const Operand& condition, Demands& demands) const {
  if (condition.IsConstant()) return condition.IsInt(1);
  const auto made = definitions_.find(condition.var());
  if (made == definitions_.end() || !inside_.contains(condition.var())) return false;
  const Binding& b = *made->second;
  if (b.op == OpCode::kAnd) {
    return std::all_of(b.operands.begin(), b.operands.end(),
                       [&](const Operand& part) { return Demand(part, demands); });
  }
  const auto sides = SidesOfOrder(b.op);
  if (!sides || !IsIndexType(b.operands[0])) return false;
  const LinearForm gap =
      Difference(forms_.Of(b.operands[sides->first]), forms_.Of(b.operands[sides->second]));
  return DemandNotNegative(Plus(gap, IsStrictOrder(b.op) ? -1 : 0), demands);
}

bool DemandFinder::DemandNotNegative(LinearForm form, Demands& demands) const {
  const std::vector<std::pair<const Var*, int64_t>> terms = form.terms;
  for (const auto& [var, times] : terms) {
    const Binding* wrap = WrapOf(var);
    if (wrap == nullptr) continue;
    const LinearForm place = forms_.Of(wrap->operands[2]);
    if (!DemandNotNegative(place, demands)) return false;
    form = form.With(var, place);
  }
  const Var* moving = nullptr;
  for (const auto& [var, times] : form.terms) {
    if (!inside_.contains(var)) continue;
    if (moving != nullptr || !carried_.contains(var) || (times != 1 && times != -1)) return false;
    moving = var;
  }
  if (moving != nullptr) {
    const Carried& carried = carried_.at(moving);
    const bool asks_least = form.Coefficient(moving) == 1;
    const std::vector<LinearForm>& limits = asks_least ? carried.least : carried.most;
    if (asks_least ? carried.rises : carried.falls) form = form.With(moving, carried.init);
    else if (!limits.empty()) form = form.With(moving, limits[0]);
    else return false;
  }
  if (!IsOutside(form) || std::abs(form.constant) > kFarthest) return false;
  if (form.IsConstant()) return form.constant >= 0;
  demands.push_back(std::move(form));
  return true;
}

const Binding* DemandFinder::WrapOf(const Var* var) const {
  const auto made = definitions_.find(var);
  if (made == definitions_.end() || made->second->op != OpCode::kSelect) return nullptr;
  const Binding& select = *made->second;
  const auto asks =
      select.operands[0].IsVar() ? definitions_.find(select.operands[0].var()) : definitions_.end();
  if (asks == definitions_.end() || asks->second->op != OpCode::kLt) return nullptr;
  const bool is_wrap = asks->second->operands[1].IsInt(0) &&
                       asks->second->operands[0] == select.operands[2] &&
                       IsIndexType(select.operands[2]);
  return is_wrap ? &select : nullptr;
}

bool DemandFinder::IsOutside(const LinearForm& form) const {
  return std::none_of(form.terms.begin(), form.terms.end(),
                      [&](const auto& term) { return inside_.contains(term.first); });
}

}  // namespace parakeet::passes
