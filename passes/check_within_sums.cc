// Checks the terms of a sum that one thread adds in order where each is added: a loop of checks
// before it would read again what the sum reads, and end where it ends.
//
// Before:
//   foreach (%i) in (%n) {
//     %k = load %idx[%i]  %ok = lt %k, %m  check %ok, site 0 at (1, %i) with (%k, %m) }
//   %s: f64 = ireduce (%j) in (%n) add from 0.0 tree(block 0, lanes 1) {
//     %l = load %idx[%j]  %a = load %x[%l]  yield %a }
// After:
//   %s: f64 = ireduce (%j) in (%n) add from 0.0 tree(block 0, lanes 1) {
//     %k = load %idx[%j]  %ok = lt %k, %m  check %ok, site 0 at (1, %j) with (%k, %m)
//     %l = load %idx[%j]  %a = load %x[%l]  yield %a }
//
// Assumes: index form, behind choose-trees: a sum that has lanes keeps them. Dead code and common
// subexpressions go behind it.
// Refuses: nests that do more than check, reductions whose elements hold loops, branches, checks or
// stores, and anything between the two but integers: what is loaded there may rely on the checks.
#include <algorithm>

#include "ir/mutator.h"
#include "passes/analyses/index_scalars.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;

class CheckMover : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  const Block* VisitBlock(const Block* block) override {
    Block moved = *block;
    auto& bindings = moved.bindings;
    for (size_t at = bindings.size(); at-- > 0;) {
      if (!OnlyChecks(*bindings[at])) continue;
      const size_t sum = SumBehind(bindings, at);
      if (sum == bindings.size()) continue;
      bindings[sum] = Joined(*bindings[at], *bindings[sum]);
      bindings.erase(bindings.begin() + std::ptrdiff_t(at));
    }
    if (bindings.size() == block->bindings.size()) return Mutator::VisitBlock(block);
    return Mutator::VisitBlock(arena()->New(std::move(moved)));
  }

 private:
  static bool IsPlain(const Binding& b) {
    return b.blocks.empty() && b.op != OpCode::kStore && b.op != OpCode::kAlloc;
  }

  static bool OnlyChecks(const Binding& nest) {
    if (nest.op != OpCode::kForeach || nest.blocks[0]->params.size() != 1) return false;
    const auto& body = nest.blocks[0]->bindings;
    return !body.empty() && body.back()->op == OpCode::kCheck &&
           std::all_of(body.begin(), body.end(), [](const Binding* b) { return IsPlain(*b); });
  }

  static bool IsSumInOrder(const Binding& b, const Operand& extent) {
    if (b.op != OpCode::kIreduce || b.blocks[0]->params.size() != 1) return false;
    if (b.operands[0] != extent || b.attrs.Int(Attr::kBlock) != 0 || b.attrs.Has(Attr::kStep) ||
        b.attrs.Int(Attr::kLanes, 1) != 1)
      return false;
    const auto& body = b.blocks[0]->bindings;
    return std::all_of(body.begin(), body.end(), [](const Binding* element) {
      return IsPlain(*element) && element->op != OpCode::kCheck;
    });
  }

  // Where the sum stands whose terms are checked, or the size of the block.
  static size_t SumBehind(const std::vector<const Binding*>& bindings, size_t nest) {
    for (size_t at = nest + 1; at < bindings.size(); ++at) {
      if (IsSumInOrder(*bindings[at], bindings[nest]->operands[0])) return at;
      if (!IsIndexExpression(*bindings[at])) break;
    }
    return bindings.size();
  }

  const Binding* Joined(const Binding& nest, const Binding& sum) {
    ir::Builder element(arena());
    element.set_span(nest.span);
    const Block& terms = *sum.blocks[0];
    ir::InlineBlock(element, *nest.blocks[0], {Operand(terms.params[0])});
    for (const Binding* b : terms.bindings) element.Append(b);
    Binding joined = sum;
    joined.blocks[0] = element.Finish(terms.params, terms.results);
    return arena()->New(std::move(joined));
  }
};

}  // namespace

ir::Program CheckWithinSums(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CheckMover(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
