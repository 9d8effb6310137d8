#include "passes/lowering/loop_nest.h"

#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/lowering/loop_counts.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

bool IsLoop(const Binding& b) {
  if (b.op == OpCode::kForeach) return true;
  return b.op == OpCode::kFor && b.operands[2].IsInt(1) && b.attrs.Text(ir::Attr::kKind).empty();
}

class NestFinder {
 public:
  NestFinder(const Binding& loop, const Roots& roots)
      : roots_(roots),
        written_(EffectsOf(*loop.blocks[0], roots).writes),
        inside_(ir::DefinedVars(*loop.blocks[0])) {
    Enter(loop);
  }

  // The loops, from the outermost in; the bindings of the innermost's block behind those of all
  // around it.
  const std::vector<const Binding*>& loops() const { return loops_; }
  const std::vector<const Binding*>& bindings() const { return bindings_; }

 private:
  void Enter(const Binding& loop) {
    loops_.push_back(&loop);
    const Block& body = *loop.blocks[0];
    const Binding* inner = OnlyLoop(body);
    for (const Binding* b : body.bindings) {
      if (b != inner) bindings_.push_back(b);
    }
    if (inner != nullptr) Enter(*inner);
  }

  // The loop that is all a block does; null where there is none.
  const Binding* OnlyLoop(const Block& block) const {
    if (block.bindings.empty() || !IsLoop(*block.bindings.back())) return nullptr;
    const Binding* loop = block.bindings.back();
    const bool is_for = loop->op == OpCode::kFor;
    const auto inits = is_for ? loop->operands.begin() + 3 : loop->operands.end();
    const bool is_even = std::none_of(loop->operands.begin(), inits,
                                      [&](const Operand& o) { return inside_.contains(o.var()); });
    const auto carried = block.params.end() - (loops_.back()->results.size());
    const bool hands_on = std::equal(inits, loop->operands.end(), carried, block.params.end()) &&
                          std::equal(block.results.begin(), block.results.end(),
                                     loop->results.begin(), loop->results.end());
    const auto may_be_again = [&](const Binding* b) {
      const Effects effects = EffectsOf(*b, roots_);
      return b == loop ||
             (b->blocks.empty() && b->results.size() == 1 && !b->result()->type.IsArray() &&
              effects.IsPure() && !Intersects(effects.reads, written_));
    };
    const bool is_all = std::all_of(block.bindings.begin(), block.bindings.end(), may_be_again);
    return is_even && hands_on && is_all ? loop : nullptr;
  }

  const Roots& roots_;
  const ir::VarSet written_;
  const ir::VarSet inside_;
  std::vector<const Binding*> loops_;
  std::vector<const Binding*> bindings_;
};

}  // namespace

LoopNest NestOf(ir::Builder& builder, const Binding& loop, const Roots& roots) {
  const NestFinder found(loop, roots);
  LoopNest nest;
  ir::Builder inner = builder.Nested();
  ir::Substitution places;
  for (const Binding* each : found.loops()) {
    const bool is_for = each->op == OpCode::kFor;
    for (size_t k = 0; k + each->results.size() < each->blocks[0]->params.size(); ++k) {
      const Var* index = inner.NewVar(ir::DType::kI64, each->blocks[0]->params[k]->hint);
      nest.indexes.push_back(index);
      const bool is_count = !is_for || each->operands[0].IsInt(0);
      const Operand& end = each->operands[is_for ? 1 : k];
      nest.extents.push_back(is_count ? end : TripCount(builder, *each));
      places[each->blocks[0]->params[k]] = is_for ? inner.Add(each->operands[0], index) : index;
    }
  }
  const Block& innermost = *found.loops().back()->blocks[0];
  std::vector<const Var*> params = nest.indexes;
  for (size_t k = innermost.params.size() - loop.results.size(); k < innermost.params.size(); ++k) {
    const Var* carried = innermost.params[k];
    nest.carried.push_back(inner.NewVar(carried->type, carried->hint));
    params.push_back(nest.carried.back());
    places[carried] = params.back();
  }
  const std::vector<Operand> results =
      ir::InlineBlock(inner, Block{{}, found.bindings(), innermost.results}, std::move(places));
  nest.body = inner.Finish(params, results);
  return nest;
}

}  // namespace parakeet::passes
