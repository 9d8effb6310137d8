#include "passes/analyses/short_rows.h"

#include <algorithm>

#include "passes/analyses/carried_values.h"
#include "passes/other_shapes.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kMostElements = 16;         // of an array, or a map, of several axes
constexpr int64_t kMostOfOneAxis = 8;         // of one axis
constexpr int64_t kMostSummed = 4;            // of a reduction
constexpr int64_t kMostCostWrittenOut = 256;  // of an operator
constexpr int kMostSteps = 6;                 // from what is known to an index

bool IsOperator(const Binding& b) {
  return b.op == OpCode::kImap || b.op == OpCode::kIreduce || b.op == OpCode::kForeach;
}

std::vector<Operand> ExtentsOf(const Binding& b) {
  return {b.operands.begin(), b.operands.begin() + int64_t(b.blocks[0]->params.size())};
}

bool IsStoreOfConstantPlace(const Binding& b, const Var* array) {
  return b.op == OpCode::kStore && b.operands[0] == Operand(array) &&
         std::all_of(b.operands.begin() + 1, b.operands.end() - 1,
                     [](const Operand& index) { return index.IsConstant(); });
}

// Of what is short, or looked at as if it were.
int64_t CountOf(const std::vector<Operand>& extents) {
  int64_t count = 1;
  for (const Operand& extent : extents)
    count *= extent.IsVar() ? kLongestShortAxis : extent.constant().integer;
  return count;
}

bool Uses(const Binding& b, const Var* array) {
  bool uses = false;
  ir::ForEachUse(b, [&](const Var* used) { uses |= used == array; });
  return uses;
}

}  // namespace

ShortRows::ShortRows(const ir::Function& function, ir::VarSet supposed)
    : function_(function),
      supposed_(std::move(supposed)),
      roots_(function),
      definitions_(ir::Definitions(*function.body)) {
  See(*function.body, nullptr);
  for (const Binding* b : bindings_) Suppose(*b);
  FindStored();
  while (Narrow()) {
  }
  const bool is_worth_it = std::any_of(bindings_.begin(), bindings_.end(),
                                       [&](const Binding* b) { return IsReason(*b); });
  if (!is_worth_it) {
    written_out_.clear();
    elements_.clear();
  }
  for (const Binding* b : written_out_) {
    for (const Operand& extent : ExtentsOf(*b)) {
      if (extent.IsVar()) lengths_.insert(extent.var());
    }
  }
}

void ShortRows::See(const Block& block, const Binding* around) {
  for (size_t k = 0; k < block.bindings.size(); ++k) {
    const Binding* b = block.bindings[k];
    bindings_.push_back(b);
    around_[b] = around;
    if (b->op == OpCode::kAlloc) SupposeLiteral(block, k);
    if (IsOperator(*b)) {
      for (const Var* index : b->blocks[0]->params) operator_of_[index] = b;
    }
    for (const Block* inner : b->blocks) See(*inner, b);
  }
}

void ShortRows::Suppose(const Binding& b) {
  const bool has_short = std::any_of(b.results.begin(), b.results.end(),
                                     [&](const Var* result) { return IsShortArray(result); });
  if (IsOperator(b) && IsShortOperator(b)) {
    written_out_.insert(&b);
    elements_.insert(b.results.begin(), b.results.end());
  } else if (has_short && (IsLoop(b.op) || b.op == OpCode::kIf)) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      joined_.insert(b.results[k]);
      if (!IsShortArray(b.results[k])) continue;
      elements_.insert(b.results[k]);
      if (b.op == OpCode::kIf) continue;
      for (const Block* block : b.blocks) {
        const Var* param = block->params[FirstCarried(b) + k];
        if (IsShortArray(param)) elements_.insert(param);
      }
    }
  }
}

// An array whose elements are stored right behind where it is made, each once, and that nothing
// stores to from then on.
void ShortRows::SupposeLiteral(const Block& block, size_t at) {
  const Var* array = block.bindings[at]->result();
  const std::vector<Operand>& dims = array->type.dims();
  const bool is_known =
      std::all_of(dims.begin(), dims.end(), [](const Operand& size) { return size.IsConstant(); });
  if (!is_known || !IsShortArray(array)) return;
  const int64_t count = CountOf(dims);
  std::vector<const Binding*> stores;
  for (size_t k = at + 1; k < block.bindings.size() && int64_t(stores.size()) < count; ++k) {
    const Binding& b = *block.bindings[k];
    if (!Uses(b, array)) continue;
    const bool is_new = std::none_of(stores.begin(), stores.end(), [&](const Binding* store) {
      return std::equal(store->operands.begin(), store->operands.end() - 1, b.operands.begin());
    });
    if (!IsStoreOfConstantPlace(b, array) || !is_new) return;
    stores.push_back(&b);
  }
  if (int64_t(stores.size()) < count) return;
  elements_.insert(array);
  initial_stores_.insert(stores.begin(), stores.end());
}

// What is stored to is memory, by whatever name.
void ShortRows::FindStored() {
  ir::VarSet stored;
  for (const Binding* b : bindings_) {
    if (initial_stores_.contains(b)) continue;
    std::vector<size_t> operands = ir::StoredOperands(*b);
    for (size_t k = 0; b->op == OpCode::kCall && k < b->operands.size(); ++k) operands.push_back(k);
    for (const size_t k : operands) {
      const Operand& operand = b->operands[k];
      if (operand.IsVar() && operand.var()->type.IsArray()) stored.merge(roots_.Of(operand.var()));
    }
  }
  std::erase_if(elements_, [&](const Var* array) {
    return array->type.IsArray() && Intersects(roots_.Of(array), stored);
  });
}

bool ShortRows::IsShort(const Operand& extent, int64_t most) const {
  if (extent.IsVar()) return supposed_.contains(extent.var());
  return extent.constant().integer >= 1 && extent.constant().integer <= most;
}

bool ShortRows::AreShort(const std::vector<Operand>& extents, int64_t most) const {
  if (extents.size() == 1) return IsShort(extents[0], std::min(most, kMostOfOneAxis));
  const bool are_short = std::all_of(extents.begin(), extents.end(), [&](const Operand& extent) {
    return IsShort(extent, kLongestShortAxis);
  });
  return are_short && !extents.empty() && CountOf(extents) <= most;
}

bool ShortRows::IsShortArray(const Var* array) const {
  return array->type.IsArray() && AreShort(array->type.dims(), kMostElements);
}

bool ShortRows::IsShortOperator(const Binding& b) const {
  const bool reduces = b.op == OpCode::kIreduce;
  const bool has_results = std::all_of(b.results.begin(), b.results.end(), [&](const Var* result) {
    return reduces ? result->type.IsScalar() : IsShortArray(result);
  });
  if (!has_results || !AreShort(ExtentsOf(b), reduces ? kMostSummed : kMostElements)) return false;
  return CountOf(ExtentsOf(b)) * CostWrittenOut(*b.blocks[0]) <= kMostCostWrittenOut;
}

int64_t ShortRows::CostWrittenOut(const Block& block) const {
  int64_t cost = 0;
  for (const Binding* b : block.bindings) {
    const int64_t count = IsOperator(*b) ? CountOf(ExtentsOf(*b)) : 1;
    cost += ir::InfoOf(b->op).cost;
    for (const Block* inner : b->blocks) cost += count * CostWrittenOut(*inner);
  }
  return cost;
}

// A map of a few elements may stand outside all loops, and what is part of something written out.
bool ShortRows::StandsInLoop(const Binding& b) const {
  const Binding* around = around_.at(&b);
  while (around != nullptr && around->op == OpCode::kIf) around = around_.at(around);
  if (around == nullptr) return b.op == OpCode::kImap;
  return IsLoop(around->op) || written_out_.contains(around);
}

bool ShortRows::IsPlain(const Block& block, bool may_store) const {
  return std::all_of(block.bindings.begin(), block.bindings.end(), [&](const Binding* b) {
    switch (b->op) {
      case OpCode::kLoad:
      case OpCode::kCheck: return true;
      case OpCode::kStore: return may_store;
      case OpCode::kIf:
        return IsPlain(*b->blocks[0], may_store) && IsPlain(*b->blocks[1], may_store);
      case OpCode::kForeach: return may_store && written_out_.contains(b);
      default: return ir::IsScalarOp(b->op) || written_out_.contains(b);
    }
  });
}

bool ShortRows::IsKnown(const Operand& index, int depth) const {
  if (index.IsConstant()) return true;
  if (depth == kMostSteps) return false;
  if (const auto found = operator_of_.find(index.var()); found != operator_of_.end())
    return written_out_.contains(found->second);
  const auto found = definitions_.find(index.var());
  return found != definitions_.end() && ir::IsScalarOp(found->second->op) &&
         std::all_of(found->second->operands.begin(), found->second->operands.end(),
                     [&](const Operand& operand) { return IsKnown(operand, depth + 1); });
}

bool ShortRows::Narrow() {
  bool narrows = false;
  for (const Binding* b : bindings_) {
    narrows |= NarrowOperator(*b);
    narrows |= NarrowOperands(*b);
    narrows |= NarrowYields(*b);
    narrows |= NarrowSlots(*b);
  }
  for (const Operand& result : function_.body->results) narrows |= NeedWhole(result);
  return narrows;
}

bool ShortRows::NarrowOperator(const Binding& b) {
  if (!written_out_.contains(&b)) return false;
  const bool stores = b.op == OpCode::kForeach;
  const bool is_plain = std::all_of(b.blocks.begin(), b.blocks.end(),
                                    [&](const Block* block) { return IsPlain(*block, stores); });
  const bool has_results =
      b.op != OpCode::kImap || std::all_of(b.results.begin(), b.results.end(),
                                           [&](const Var* result) { return IsElements(result); });
  if (is_plain && has_results && StandsInLoop(b)) return false;
  for (const Var* result : b.results) Drop(result);
  return written_out_.erase(&b) > 0;
}

bool ShortRows::NarrowOperands(const Binding& b) {
  bool narrows = false;
  if (b.op == OpCode::kLoad) {
    const bool is_known = std::all_of(b.operands.begin() + 1, b.operands.end(),
                                      [&](const Operand& index) { return IsKnown(index); });
    return !is_known && Drop(b.operands[0].var());
  }
  if (initial_stores_.contains(&b)) return false;
  const bool carries = IsLoop(b.op);
  for (size_t k = 0; k < b.operands.size(); ++k) {
    const bool is_init = carries && k >= FirstInit(b);
    if (is_init && IsElements(b.results[k - FirstInit(b)])) continue;
    narrows |= NeedWhole(b.operands[k]);
  }
  return narrows;
}

bool ShortRows::NarrowYields(const Binding& b) {
  bool narrows = false;
  const bool joins = IsLoop(b.op) || b.op == OpCode::kIf || written_out_.contains(&b);
  for (const Block* block : b.blocks) {
    for (size_t k = 0; k < block->results.size(); ++k) {
      const bool goes_on = joins && k < b.results.size() && IsElements(b.results[k]);
      if (!goes_on) narrows |= NeedWhole(block->results[k]);
    }
  }
  return narrows;
}

// Of what a loop carries, all of its names are elements or none is.
bool ShortRows::NarrowSlots(const Binding& b) {
  if (!IsLoop(b.op)) return false;
  bool narrows = false;
  for (size_t k = 0; k < b.results.size(); ++k) {
    bool all = IsElements(b.results[k]);
    for (const Block* block : b.blocks) all &= IsElements(block->params[FirstCarried(b) + k]);
    if (all) continue;
    narrows |= Drop(b.results[k]);
    for (const Block* block : b.blocks) narrows |= Drop(block->params[FirstCarried(b) + k]);
  }
  return narrows;
}

// The result of a loop or a branch can be made of its elements, where nobody could tell it from
// what it begins with: none of those is there any more.
bool ShortRows::NeedWhole(const Operand& array) {
  if (!array.IsVar() || !array.var()->type.IsArray() || !IsElements(array.var())) return false;
  const ir::VarSet& roots = roots_.Of(array.var());
  const bool can_be_made =
      joined_.contains(array.var()) &&
      std::all_of(roots.begin(), roots.end(), [&](const Var* root) { return IsElements(root); });
  if (!can_be_made) return Drop(array.var());
  made_too_.insert(array.var());
  return false;
}

// Row by row, memory is better gone through as it lies: something takes a row's elements apart.
bool ShortRows::IsReason(const Binding& b) const {
  if (b.op == OpCode::kIreduce) return written_out_.contains(&b);
  if (IsLoop(b.op)) {
    return std::any_of(b.results.begin(), b.results.end(),
                       [&](const Var* result) { return IsElements(result); });
  }
  return b.op == OpCode::kLoad && IsElements(b.operands[0].var()) &&
         std::all_of(b.operands.begin() + 1, b.operands.end(),
                     [](const Operand& index) { return index.IsConstant(); });
}

}  // namespace parakeet::passes
