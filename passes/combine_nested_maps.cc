// Makes a map of maps one map over both index spaces, and a foreach of foreachs one foreach.
//
// Before:
//   %r: [n][m]f64 = imap (%i) in (%n) { %row: [m]f64 = imap (%j) in (%m) { ... yield %a }  yield
//   %row }
// After:
//   %r: [n][m]f64 = imap (%i, %j) in (%n, %m) { ... yield %a }
//
// Extents that are made beside the inner map of what is the same for every outer index, as those of
// `for j in range(1, m - 1)` inside another loop, are made before both.
//
// Assumes: index form.
// Refuses: an inner map that is not all its block yields, or whose extents depend on the outer
// index; dear or failing code beside the inner map, which would run once for each of its elements,
// or code that reads what those store.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kCheapBeside = 48;

class MapCombiner : public ir::Mutator {
 public:
  MapCombiner(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    rewritten = WithExtentsBefore(*rewritten);
    const bool nests =
        (b->op == OpCode::kImap || b->op == OpCode::kForeach) && InnerOf(*rewritten) != nullptr;
    if (nests) {
      const std::string reason = WhyNot(*rewritten);
      if (reason.empty()) {
        rewritten = Combine(*rewritten);
      } else {
        context_.Note(b->span, "not combined with the map inside: " + reason, Topic::kNests);
      }
    }
    builder().Append(rewritten);
  }

 private:
  // The last binding of the block, when it is of the same kind and all that the block yields.
  static const Binding* InnerOf(const Binding& outer) {
    const Block& body = *outer.blocks[0];
    if (body.bindings.empty() || body.bindings.back()->op != outer.op) return nullptr;
    const Binding* inner = body.bindings.back();
    const std::vector<Operand> made(inner->results.begin(), inner->results.end());
    return made == body.results ? inner : nullptr;
  }

  // The map with what makes the extents of the map inside appended before it, where that is cheap.
  const Binding* WithExtentsBefore(const Binding& outer) {
    const bool is_map = outer.op == OpCode::kImap || outer.op == OpCode::kForeach;
    const Binding* inner = is_map ? InnerOf(outer) : nullptr;
    if (inner == nullptr) return &outer;
    const Block& body = *outer.blocks[0];
    const std::vector<const Binding*> makers = NeededBindings(body, inner->operands);
    const auto is_same = [&](const Binding* b) {
      const bool is_cheap = b->op == OpCode::kAdd || b->op == OpCode::kSub ||
                            b->op == OpCode::kMax || b->op == OpCode::kMin;
      return is_cheap &&
             std::none_of(body.params.begin(), body.params.end(),
                          [&](const Var* index) { return ir::FreeVars(*b).contains(index); });
    };
    if (makers.empty() || !std::all_of(makers.begin(), makers.end(), is_same)) return &outer;
    Block left = body;
    std::erase_if(left.bindings, [&](const Binding* b) {
      return std::find(makers.begin(), makers.end(), b) != makers.end();
    });
    for (const Binding* b : makers) builder().Append(b);
    Binding lighter = outer;
    lighter.blocks = {arena()->New(std::move(left))};
    return arena()->New(std::move(lighter));
  }

  std::string WhyNot(const Binding& outer) const {
    const Block& body = *outer.blocks[0];
    const Binding& inner = *body.bindings.back();
    const ir::VarSet defined = ir::DefinedVars(body);
    for (const Operand& extent : inner.operands) {
      if (extent.IsVar() && defined.contains(extent.var()))
        return "its extents depend on the outer index";
    }
    const ir::VarSet written = EffectsOf(inner, roots_).writes;
    int cost = 0;
    for (size_t k = 0; k + 1 < body.bindings.size(); ++k) {
      const Binding& beside = *body.bindings[k];
      const Effects effects = EffectsOf(beside, roots_);
      if (!effects.IsPure()) return "code beside it may raise or stores";
      if (Intersects(effects.reads, written)) return "what is read beside it is stored to inside";
      if (!beside.results.empty() && beside.results[0]->type.IsArray())
        return "an array is made beside it";
      const Block alone{{}, {&beside}, {}};
      cost += CostOf(alone);
    }
    return cost > kCheapBeside ? "dear code beside it would run for every element" : "";
  }

  const Binding* Combine(const Binding& outer) {
    const Block& body = *outer.blocks[0];
    const Binding& inner = *body.bindings.back();
    Binding combined = outer;
    combined.operands.insert(combined.operands.end(), inner.operands.begin(), inner.operands.end());
    Block nest = body;
    nest.bindings.pop_back();
    const Block& element = *inner.blocks[0];
    nest.params.insert(nest.params.end(), element.params.begin(), element.params.end());
    nest.bindings.insert(nest.bindings.end(), element.bindings.begin(), element.bindings.end());
    nest.results = element.results;
    combined.blocks = {arena()->New(std::move(nest))};
    return arena()->New(std::move(combined));
  }

  Roots roots_;
  Context& context_;
};

}  // namespace

ir::Program CombineNestedMaps(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MapCombiner(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
