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
#include "passes/analyses/find_effects.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/fusing/combine_nests.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class MapCombiner : public ir::Mutator {
 public:
  MapCombiner(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), roots_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    rewritten = WithExtentsBefore(*rewritten);
    if (InnerOf(*rewritten) != nullptr) {
      const std::string reason = WhyNot(*rewritten);
      if (reason.empty()) {
        rewritten = CombinedNest(arena(), *rewritten);
      } else {
        context_.Note(b->span, "not combined with the map inside: " + reason, Topic::kNests);
      }
    }
    builder().Append(rewritten);
  }

 private:
  static const Binding* InnerOf(const Binding& outer) {
    return outer.op == OpCode::kIreduce ? nullptr : InnerNest(outer);
  }

  // The map with what makes the extents of the map inside appended before it, where that is cheap.
  const Binding* WithExtentsBefore(const Binding& outer) {
    const Binding* inner = InnerOf(outer);
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
    return WhyNotCombined(outer, roots_);
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
