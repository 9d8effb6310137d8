#include "passes/analyses/find_contractions.h"

#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

namespace {

// True where some of `a` is not in `b`.
bool Exceeds(const VarSet& a, const VarSet& b) {
  return std::any_of(a.begin(), a.end(), [&](const Var* index) { return !b.contains(index); });
}

}  // namespace

const Binding* OnlyReduction(const Block& body) {
  if (body.bindings.size() != 1 || body.bindings[0]->op != OpCode::kIreduce) return nullptr;
  const Binding* reduction = body.bindings[0];
  const bool is_all = body.results.size() == 1 && body.results[0] == Operand(reduction->results[0]);
  return is_all ? reduction : nullptr;
}

std::string WhyNoContraction(const Binding& map, const Binding& reduction) {
  if (reduction.results.size() != 1) return "it has several accumulators";
  const auto combine = ir::CombineOp(*reduction.blocks[1]);
  if (!combine) return "its combine is not one operation";
  const Block& element = *reduction.blocks[0];
  const VarSet free(map.blocks[0]->params.begin(), map.blocks[0]->params.end());
  const VarSet summed(element.params.begin(), element.params.end());
  for (const Operand& extent : reduction.operands) {
    if (extent.IsVar() && free.contains(extent.var())) return "how much it sums depends on where";
  }
  std::vector<VarSet> uses;
  for (const Binding* b : element.bindings) {
    if (b->op != OpCode::kLoad && !ir::IsScalarOp(b->op))
      return "its element holds " + std::string(Name(b->op));
    if (b->op != OpCode::kLoad) continue;
    VarSet of_load;
    bool sums = false;
    for (size_t k = 1; k < b->operands.size(); ++k) {
      const Var* index = b->operands[k].var();
      if (index != nullptr && !free.contains(index) && !summed.contains(index))
        return "an operand's index is computed";
      sums |= summed.contains(index);
      if (free.contains(index)) of_load.insert(index);
    }
    if (sums) uses.push_back(std::move(of_load));
  }
  const bool reuses = std::any_of(uses.begin(), uses.end(), [&](const VarSet& a) {
    return std::any_of(uses.begin(), uses.end(),
                       [&](const VarSet& b) { return Exceeds(a, b) && Exceeds(b, a); });
  });
  return reuses ? "" : "no two operands are used again, each along an index of the other";
}

const Binding* ContractionOf(ir::Arena* arena, const Binding& map, const Binding& reduction) {
  Binding contract = map;
  contract.op = OpCode::kContract;
  contract.operands.insert(contract.operands.end(), reduction.operands.begin(),
                           reduction.operands.end());
  Block element = *reduction.blocks[0];
  const std::vector<const Var*>& free = map.blocks[0]->params;
  element.params.insert(element.params.begin(), free.begin(), free.end());
  contract.blocks = {arena->New(std::move(element)), reduction.blocks[1]};
  contract.attrs = map.attrs.With(Attr::kFree, static_cast<int64_t>(free.size()));
  return arena->New(std::move(contract));
}

}  // namespace parakeet::passes
