// Checks first that no side of a product is short, in code that has no tiles for such products.
//
// Before:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
// After:
//   fn @f(%x: [n][l]f64, %y: [l][m]f64) ... {
//     %least = min %n, %m  %is_long = gt %least, 4
//     check %is_long, site 0 at (0)
//     %r: [n][m]f64 = contract (%i, %j, %k) in (%n, %m, %l) add from 0.0 {free = 2} { ... } }
//
// Tiles for few rows or columns are as much code again as those for many, and few programs need
// both (lowering/lower_contractions.h).
//
// Assumes: where that check fails, whose site is new and has the exception kShortSides, the caller
// runs the program made with Options::short_sides; right behind recognize_contractions, so that a
// call that would give up is found soon.
// Refuses: sizes that are no parameter's; products in loops, of complex numbers, of several sums
// and with itself, which have no such tiles; products one side of which is known to be short, which
// have them in any case.
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "ir/builder.h"
#include "ir/combines.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_contractions.h"
#include "passes/other_shapes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
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

// Sides that are sizes of parameters, each once, of products that have tiles for as short ones.
class SideFinder {
 public:
  explicit SideFinder(const ir::Function& function)
      : patterns_(function), sizes_(SizesOfParameters(function)) {
    Visit(*function.body);
  }

  const std::map<int64_t, std::vector<Operand>>& sides() const { return sides_; }

 private:
  void Visit(const Block& block) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kContract) Add(*b);
      const bool is_loop = b->op == OpCode::kFor || b->op == OpCode::kWhile;
      if (is_loop || b->op == OpCode::kContract) continue;
      for (const Block* inner : b->blocks) Visit(*inner);
    }
  }

  void Add(const Binding& contract) {
    const std::vector<Operand> own = SidesOf(contract);
    if (!MayBeLow(contract, own)) return;
    const int64_t longest = LongestOf(contract);
    for (const Operand& side : own) {
      if (!side.IsVar() || !sizes_.contains(side.var())) continue;
      std::vector<Operand>& sides = sides_[longest];
      if (std::count(sides.begin(), sides.end(), side) == 0) sides.push_back(side);
    }
  }

  // As LowTiles::FindLow has it.
  static bool MayBeLow(const Binding& contract, const std::vector<Operand>& sides) {
    const ir::DType dtype = ir::DTypeOf(contract.blocks[0]->results[0]);
    const auto combine = ir::CombineOp(*contract.blocks[1]);
    const bool is_extreme = combine == OpCode::kMin || combine == OpCode::kMax;
    const size_t summed = contract.blocks[0]->params.size() - contract.attrs.Int(Attr::kFree);
    if (ir::IsComplex(dtype) || (is_extreme && ir::IsFloat(dtype)) || summed != 1) return false;
    if (sides.size() == 2 && sides[0] == sides[1]) return false;
    return std::none_of(sides.begin(), sides.end(), IsKnownShortSide);
  }

  // Fewer where rows lie along the sums and columns along the result: tiles of columns are full.
  int64_t LongestOf(const Binding& contract) const {
    const Block& element = *contract.blocks[0];
    const size_t free = contract.attrs.Int(Attr::kFree);
    const auto some_along = [&](const Var* index) {
      return std::any_of(element.bindings.begin(), element.bindings.end(), [&](const Binding* b) {
        return b->op == OpCode::kLoad && patterns_.LiesNext(*b, index);
      });
    };
    const bool is_plain = some_along(element.params.back()) && some_along(element.params[free - 1]);
    return is_plain ? kLongestSideOfRows : kLongestShortSide;
  }

  const AccessPatterns patterns_;
  const ir::VarSet sizes_;
  std::map<int64_t, std::vector<Operand>> sides_;
};

const ir::Function* CheckSides(ir::Arena* arena, const ir::Function* function,
                               const std::map<int64_t, std::vector<Operand>>& all, int64_t site) {
  ir::Builder builder(arena);
  builder.set_span(function->span);
  for (const auto& [longest, sides] : all) {
    Operand least = sides[0];
    for (size_t k = 1; k < sides.size(); ++k)
      least = builder.Scalar(OpCode::kMin, {least, sides[k]});
    const Operand is_long = builder.Scalar(OpCode::kGt, {least, Operand::Int(longest)});
    builder.Emit(OpCode::kCheck, {}, {is_long}, {{Attr::kSite, site}, {Attr::kAt, 0}});
  }
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
    if (!function->entry) return function;
    const SideFinder finder(*function);
    if (finder.sides().empty()) return function;
    checks = true;
    return CheckSides(program.arena.get(), function, finder.sides(), site);
  });
  if (checks) expecting.sites.push_back({std::string(kShortSides), "", {}});
  return expecting;
}

}  // namespace parakeet::passes
