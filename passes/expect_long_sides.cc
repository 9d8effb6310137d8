// Checks first that no side of a product is short, in code that has no tiles for such products.
//
// Before:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
// After:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %least = min %n, %m  %is_long = gt %least, 16
//     check %is_long, site 0 at (0)
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
//
// Tiles for few rows or columns are as much code again as those for many, and few programs need
// both (lowering/lower_contractions.h).
//
// Assumes: where that check fails, whose site is new and has the exception kShortSides, the caller
// runs the program made with Options::short_sides; right behind recognize_contractions, so that a
// call that would give up is found soon.
// Refuses: sizes that are no parameter's; products one side of which is known to be short, which
// have such tiles in any case.
#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/find_contractions.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

ir::VarSet SizesOfParameters(const ir::Function& function) {
  ir::VarSet sizes;
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    for (const Operand& dim : param.var->type.dims()) {
      if (dim.IsVar()) sizes.insert(dim.var());
    }
  }
  return sizes;
}

// Those of parameters that are sides of products, each once.
std::vector<Operand> SidesOfProducts(const ir::Function& function) {
  const ir::VarSet sizes = SizesOfParameters(function);
  std::vector<Operand> sides;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.op != OpCode::kContract) return;
    const std::vector<Operand> own = SidesOf(b);
    if (std::any_of(own.begin(), own.end(), IsKnownShortSide)) return;
    for (const Operand& side : own) {
      const bool is_new = std::count(sides.begin(), sides.end(), side) == 0;
      if (side.IsVar() && sizes.contains(side.var()) && is_new) sides.push_back(side);
    }
  });
  return sides;
}

const ir::Function* CheckSides(ir::Arena* arena, const ir::Function* function,
                               const std::vector<Operand>& sides, int64_t site) {
  ir::Builder builder(arena);
  builder.set_span(function->span);
  Operand least = sides[0];
  for (size_t k = 1; k < sides.size(); ++k) least = builder.Scalar(OpCode::kMin, {least, sides[k]});
  const Operand is_long = builder.Scalar(OpCode::kGt, {least, Operand::Int(kLongestShortSide)});
  builder.Emit(OpCode::kCheck, {}, {is_long}, {{Attr::kSite, site}, {Attr::kAt, 0}});
  for (const Binding* b : function->body->bindings) builder.Append(b);
  ir::Function copy = *function;
  copy.body = builder.Finish(function->body->params, function->body->results);
  return arena->New(std::move(copy));
}

}  // namespace

ir::Program ExpectLongSides(const ir::Program& program, Context& context) {
  if (context.options.short_sides || !context.options.assume_shapes) return program;
  const auto site = static_cast<int64_t>(program.sites.size());
  bool checks = false;
  ir::Program expecting = ForEachFunction(program, [&](const ir::Function* function) {
    const std::vector<Operand> sides =
        function->entry ? SidesOfProducts(*function) : std::vector<Operand>();
    if (sides.empty()) return function;
    checks = true;
    return CheckSides(program.arena.get(), function, sides, site);
  });
  if (checks) expecting.sites.push_back({std::string(kShortSides), "", {}});
  return expecting;
}

}  // namespace parakeet::passes
