#include "passes/fusing/checks_apart.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/needed_bindings.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

bool IsCheck(const Binding* b) { return b->op == OpCode::kCheck; }

// The checks of the block and what they are made of, in their order.
std::vector<const Binding*> CheckingBindings(const Block& block) {
  ir::VarSet used;
  for (const Binding* b : block.bindings) {
    if (IsCheck(b)) ir::ForEachUse(*b, [&](const Var* var) { used.insert(var); });
  }
  const std::vector<const Binding*> needed = NeededBindings(block, std::move(used));
  const std::unordered_set<const Binding*> is_needed(needed.begin(), needed.end());
  std::vector<const Binding*> checking;
  for (const Binding* b : block.bindings) {
    if (IsCheck(b) || is_needed.contains(b)) checking.push_back(b);
  }
  return checking;
}

// The indexes that say whether a check holds, or what it says if not. Where it fails depends on all
// of them, and says nothing.
ir::VarSet IndexesAsked(const Block& block, const std::vector<const Binding*>& checking) {
  ir::VarSet used;
  for (const Binding* b : checking) {
    if (!IsCheck(b)) {
      ir::ForEachUse(*b, [&](const Var* var) { used.insert(var); });
      continue;
    }
    const auto places = static_cast<size_t>(b->attrs.Int(ir::Attr::kAt));
    for (size_t k = 0; k < b->operands.size(); ++k) {
      const bool is_place = k >= 1 && k <= places;
      if (!is_place && b->operands[k].IsVar()) used.insert(b->operands[k].var());
    }
  }
  ir::VarSet asked;
  for (const Var* index : block.params) {
    if (used.contains(index)) asked.insert(index);
  }
  return asked;
}

}  // namespace

bool HasChecksOnly(const Binding& imap, const Roots& roots) {
  const Block& body = *imap.blocks[0];
  if (body.params.empty()) return false;
  // What is left out with the checks is what no result is made of: nothing may be done in place.
  bool is_computed = true;
  ir::ForEachBinding(body, [&](const Binding& b) {
    is_computed &= IsCheck(&b) || ir::IsScalarOp(b.op) || ir::IsView(b.op) ||
                   b.op == OpCode::kLoad || b.op == OpCode::kIf || b.op == OpCode::kIreduce;
  });
  const std::vector<const Binding*> checking = CheckingBindings(body);
  return is_computed &&
         std::all_of(
             body.bindings.begin(), body.bindings.end(),
             [&](const Binding* b) { return IsCheck(b) || !EffectsOf(*b, roots).may_fail; }) &&
         std::all_of(checking.begin(), checking.end(), [](const Binding* b) {
           return IsCheck(b) || ir::IsScalarOp(b->op) || b->op == OpCode::kLoad;
         });
}

bool HasChecks(const Block& block) {
  return std::any_of(block.bindings.begin(), block.bindings.end(), IsCheck);
}

Block WithoutChecks(const Block& block) {
  if (!HasChecks(block)) return block;
  return {block.params, NeededBindings(block, block.results), block.results};
}

void WriteChecks(ir::Builder& builder, const Binding& imap) {
  const Block& body = *imap.blocks[0];
  Block checks{{}, CheckingBindings(body), {}};
  const ir::VarSet asked = IndexesAsked(body, checks.bindings);
  ir::Substitution first;  // The iteration of the other indexes that comes first.
  std::vector<Operand> extents;
  Operand runs = Operand::Bool(true);
  for (size_t k = 0; k < body.params.size(); ++k) {
    const bool is_last = k + 1 == body.params.size();
    if (asked.contains(body.params[k]) || (is_last && extents.empty())) {
      checks.params.push_back(body.params[k]);
      extents.push_back(imap.operands[k]);
    } else {
      first[body.params[k]] = Operand::Int(0);
      const Operand is_some = builder.Scalar(OpCode::kGt, {imap.operands[k], Operand::Int(0)});
      runs = builder.Scalar(OpCode::kAnd, {runs, is_some});
    }
  }
  extents[0] = builder.Scalar(OpCode::kSelect, {runs, extents[0], Operand::Int(0)});
  builder.set_span(imap.span);
  builder.Emit(OpCode::kForeach, {}, std::move(extents), {},
               {ir::CloneBlock(builder.arena(), checks, std::move(first))});
}

}  // namespace parakeet::passes
