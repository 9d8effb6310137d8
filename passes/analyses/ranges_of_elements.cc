// What Ranges knows of the elements of arrays, and of what blocks yield.
#include <algorithm>

#include "ir/builder.h"
#include "passes/analyses/ranges.h"

namespace parakeet::passes {

using ir::Binding;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr size_t kMostSizes = 16;   // that a value is compared with
constexpr size_t kMostChoices = 4;  // of a value that a branch inside another chooses

bool IsI64(const ir::Type& type) { return type == ir::Type(DType::kI64); }

}  // namespace

void Ranges::EndBlock(const ir::Block& block) {
  std::vector<Yield>& yields = yields_[&block];
  ir::VarSet inside;
  for (const Operand& result : block.results) {
    Yield& yield = yields.emplace_back(Reaches{kInfinity, kInfinity});
    if (!IsI64(ir::TypeOf(result))) continue;
    const LinearForm form = FormOf(result);
    yield.one_of = ChoicesOf(form);
    yield.reach = {Reach(false, form), Reach(true, form)};
    if (yield.reach.below > 0.0 && ProvesLe(Operand::Int(0), result)) yield.reach.below = 0.0;
    if (inside.empty()) inside = ir::DefinedVars(block);
    for (size_t k = 0; k < std::min(sizes_.size(), kMostSizes); ++k) {
      const Var* size = sizes_[k];
      const auto gap = inside.contains(size) ? std::nullopt : GapOf(form, size, /*high=*/true);
      if (gap) yield.most.push_back(Plus(LinearForm::Of(size), *gap));
    }
  }
}

// What is known of a value that a branch inside has chosen ends with the block: what it was chosen
// of does not.
std::vector<LinearForm> Ranges::ChoicesOf(const LinearForm& form) const {
  const bool is_value = form.terms.size() == 1 && form.terms[0].second == 1 && form.constant == 0;
  const auto known = facts_.find(is_value ? form.terms[0].first : nullptr);
  const bool is_chosen = known != facts_.end() && !known->second.one_of.empty() &&
                         known->second.one_of.size() <= kMostChoices;
  return is_chosen ? known->second.one_of : std::vector<LinearForm>{form};
}

// The sizes that what each block yields is known to be close to, as a guard in the block says.
std::vector<LinearForm> Ranges::MostOfAll(const Binding& b, size_t result) const {
  std::vector<LinearForm> limits;
  for (size_t k = 0; k < b.blocks.size(); ++k) {
    const auto ended = yields_.find(b.blocks[k]);
    if (ended == yields_.end()) return {};
    const std::vector<LinearForm>& most = ended->second[result].most;
    if (k == 0) {
      limits = most;
      continue;
    }
    std::erase_if(limits, [&](LinearForm& limit) {
      for (const LinearForm& other : most) {
        const LinearForm gap = Difference(other, limit);
        if (!gap.IsConstant()) continue;
        if (gap.constant > 0) limit = other;
        return false;
      }
      return true;
    });
  }
  return limits;
}

// Elements are what the block of an imap yields; the least or largest of some is one of them, where
// there are any.
void Ranges::BoundByYields(const Binding& b) {
  const auto ended = yields_.find(b.blocks[0]);
  const bool is_reduction = b.op == OpCode::kIreduce;
  if (ended == yields_.end()) return;
  if (is_reduction) {
    if (b.operands.size() > b.blocks[0]->params.size()) return;  // It begins with more.
    const auto is_some = [&](const Operand& extent) { return ProvesLe(Operand::Int(1), extent); };
    if (!std::all_of(b.operands.begin(), b.operands.end(), is_some)) return;
  }
  for (size_t k = 0; k < b.results.size(); ++k) {
    const Var* result = b.results[k];
    if (is_reduction) {
      const auto op = ir::CombineOp(*b.blocks[1], static_cast<int>(k));
      if (op != OpCode::kMin && op != OpCode::kMax) continue;
    } else if (!never_change_.contains(result)) {
      continue;
    }
    const auto& [reach, most, choices] = ended->second[k];
    if (reach.below > kFar && reach.above > kFar && most.empty()) continue;
    for (const LinearForm& limit : most) Order(limit);
    Facts& facts = Change(result);
    if (reach.below <= kFar) facts.lower.push_back(LinearForm::Of(-int64_t(reach.below)));
    if (reach.above <= kFar) facts.upper.push_back(LinearForm::Of(int64_t(reach.above)));
    facts.upper.insert(facts.upper.end(), most.begin(), most.end());
  }
}

// The least and the largest of all elements, of an array that does not change, bound each of them.
void Ranges::BoundByExtremes(const Binding& b) {
  const ir::Block& block = *b.blocks[0];
  for (const Binding* load : block.bindings) {
    if (load->op != OpCode::kLoad || !IsI64(load->result()->type)) continue;
    const Var* array = load->operands[0].var();
    const std::vector<Operand>& dims = array->type.dims();
    if (!never_change_.contains(array) || dims.size() != block.params.size()) continue;
    bool has_all = true;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      has_all &= load->operands[1 + axis] == Operand(block.params[axis]);
      has_all &= b.operands[axis] == dims[axis];
    }
    for (size_t k = 0; has_all && k < b.results.size(); ++k) {
      const auto op = ir::CombineOp(*b.blocks[1], static_cast<int>(k));
      if (block.results[k] != Operand(load->result())) continue;
      OrderOf(b.results[k]);
      const LinearForm extreme = LinearForm::Of(b.results[k]);
      if (op == OpCode::kMin) Change(array).lower.push_back(extreme);
      if (op == OpCode::kMax) Change(array).upper.push_back(extreme);
    }
  }
}

void Ranges::BoundLoad(const Binding& b) {
  const auto found = facts_.find(b.operands[0].var());
  if (found == facts_.end()) return;
  Facts facts = found->second;
  Change(b.result()) = std::move(facts);
}

}  // namespace parakeet::passes
