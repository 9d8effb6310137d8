#include "passes/fusing/combine_nests.h"

#include <vector>

#include "ir/builder.h"
#include "ir/combines.h"
#include "passes/analyses/find_cost.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

namespace {

constexpr int kCheapBesideNest = 48;

// Whether what each outer iteration begins with shows in nothing: the identity, or +0.0 where the
// whole begins with it too, to which adding a zero of either sign is the same.
bool BeginsWithNothing(const Binding& outer, const Binding& inner) {
  const auto axes = [](const Binding& b) { return b.blocks[0]->params.size(); };
  const bool has_inits = inner.operands.size() == axes(inner) + inner.results.size() &&
                         outer.operands.size() == axes(outer) + outer.results.size();
  const std::vector<ir::Constant> identities = ir::TraitsOf(*inner.blocks[1]).identities;
  if (!has_inits || identities.empty()) return false;
  for (size_t k = 0; k < inner.results.size(); ++k) {
    const auto op = ir::CombineOp(*inner.blocks[1], static_cast<int>(k));
    if (!op || ir::CombineOp(*outer.blocks[1], static_cast<int>(k)) != op) return false;
    const Operand zero(ir::Constant::Float(0.0, identities[k].dtype));
    const Operand& init = inner.operands[axes(inner) + k];
    const bool adds_zero =
        *op == OpCode::kAdd && init == zero && outer.operands[axes(outer) + k] == zero;
    if (init != Operand(identities[k]) && !adds_zero) return false;
  }
  return true;
}

}  // namespace

const Binding* InnerNest(const Binding& nest) {
  const bool is_nest =
      nest.op == OpCode::kImap || nest.op == OpCode::kForeach || nest.op == OpCode::kIreduce;
  if (!is_nest) return nullptr;
  const Block& body = *nest.blocks[0];
  if (body.bindings.empty() || body.bindings.back()->op != nest.op) return nullptr;
  const Binding* inner = body.bindings.back();
  const std::vector<Operand> made(inner->results.begin(), inner->results.end());
  if (made != body.results) return nullptr;
  return nest.op != OpCode::kIreduce || BeginsWithNothing(nest, *inner) ? inner : nullptr;
}

std::string WhyNotCombined(const Binding& nest, const Roots& roots) {
  const Block& body = *nest.blocks[0];
  const Binding& inner = *body.bindings.back();
  const ir::VarSet written = EffectsOf(inner, roots).writes;
  int cost = 0;
  for (size_t k = 0; k + 1 < body.bindings.size(); ++k) {
    const Binding& beside = *body.bindings[k];
    const Effects effects = EffectsOf(beside, roots);
    if (!effects.IsPure()) return "code beside it may raise or stores";
    if (Intersects(effects.reads, written)) return "what is read beside it is stored to inside";
    if (!beside.results.empty() && beside.results[0]->type.IsArray())
      return "an array is made beside it";
    cost += CostOf(Block{{}, {&beside}, {}});
  }
  return cost > kCheapBesideNest ? "dear code beside it would run for every element" : "";
}

const Binding* CombinedNest(ir::Arena* arena, const Binding& nest) {
  const Block& body = *nest.blocks[0];
  const Binding& inner = *body.bindings.back();
  const auto axes = static_cast<std::ptrdiff_t>(inner.blocks[0]->params.size());
  Binding combined = nest;
  combined.operands.insert(
      combined.operands.begin() + static_cast<std::ptrdiff_t>(body.params.size()),
      inner.operands.begin(), inner.operands.begin() + axes);
  Block all = body;
  all.bindings.pop_back();
  const Block& element = *inner.blocks[0];
  all.params.insert(all.params.end(), element.params.begin(), element.params.end());
  all.bindings.insert(all.bindings.end(), element.bindings.begin(), element.bindings.end());
  all.results = element.results;
  combined.blocks[0] = arena->New(std::move(all));
  return arena->New(std::move(combined));
}

}  // namespace parakeet::passes
