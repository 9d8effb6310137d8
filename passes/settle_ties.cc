// Leaves out what decides between equal extremes where elements come in order: what is held already
// came first.
//
// Before:
//   %m, %k = for %i in 0 to %n step 1 (%m.1 = -inf, %k.1 = 9223372036854775807) {
//     %x: f64 = ...  %counts = gt %x, -inf
//     %v = select %counts, %x, -inf  %j = select %counts, %i, 9223372036854775807
//     %better = gt %v, %m.1  %equal = eq %v, %m.1  %sooner = lt %j, %k.1
//     %instead = and %equal, %sooner  %takes = or %better, %instead
//     %m.2 = select %takes, %v, %m.1  %k.2 = select %takes, %j, %k.1  yield %m.2, %k.2 }
// After:
//     %x: f64 = ...  %takes = gt %x, %m.1
//     %m.2 = select %takes, %x, %m.1  %k.2 = select %takes, %i, %k.1  yield %m.2, %k.2 }
//
// What counts is beyond the worst value, and held with an index that is less. Where the last of
// equals is kept, ge takes the same. A lane of `lanes` goes in order as well: it takes by a third
// block, and what is left of all lanes is combined as before.
//
// Assumes: scheduled loops, before they take lanes. An index is what parallelize_loops makes it.
// Refuses: an index that may not rise (or fall) with the loop's.
#include <optional>
#include <unordered_map>

#include "ir/builder.h"
#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/settled_extremes.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// Indexes of loops, and sizes.
ir::VarSet NearValues(const ir::Function& function) {
  ir::VarSet near;
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    if (b.op == OpCode::kFor) near.insert(b.blocks[0]->params[0]);
  });
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    for (const Operand& size : param.var->type.dims()) near.insert(size.var());
  }
  return near;
}

class Settler : public ir::Mutator {
 public:
  Settler(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), reader_(*function.body, NearValues(function)) {}

 protected:
  void Visit(const Binding* b) override {
    const bool is_sequential = b->op == OpCode::kFor && b->attrs.Text(Attr::kKind).empty();
    if (is_sequential && !b->results.empty()) SettleLoop(*b);
    if (b->op == OpCode::kLanes && b->blocks.size() == 2) b = SettleLanes(*b);
    if (b->results.size() != 1) return Mutator::Visit(b);
    if (const auto found = settled_.find(b->result()); found != settled_.end()) {
      const auto& [decision, settled] = found->second;
      builder().Emit(settled.op, {b->result()}, {Apply(settled.element), Apply(decision.held)});
      return;
    }
    const auto found = b->op == OpCode::kSelect && b->operands[0].IsVar()
                           ? settled_.find(b->operands[0].var())
                           : settled_.end();
    if (found == settled_.end()) return Mutator::Visit(b);
    const auto& [decision, settled] = found->second;
    Binding choice = *b;
    if (choice.operands[1] == decision.element) choice.operands[1] = settled.element;
    if (choice.operands[1] == decision.place) choice.operands[1] = settled.place;
    Mutator::Visit(arena()->New(std::move(choice)));
  }

 private:
  struct Found {
    ExtremeDecision decision;
    SettledExtreme settled;
  };

  void SettleLoop(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const size_t count = loop.results.size();
    for (size_t k = 0; k < count; ++k) {
      const std::optional<Operand> takes = reader_.TakesOf(body, k);
      const std::optional<ExtremeDecision> decision =
          takes ? reader_.DecisionOf(*takes) : std::nullopt;
      if (!decision || settled_.contains(takes->var())) continue;
      const auto extreme = PlaceAmong(body.params, FirstCarried(loop), count, decision->held);
      const auto index = PlaceAmong(body.params, FirstCarried(loop), count, decision->held_place);
      if (!extreme || !index || !Begins(loop, FirstInit(loop), *decision, *extreme, *index) ||
          !reader_.IsChoice(body, *extreme, *takes, decision->element, decision->held) ||
          !reader_.IsChoice(body, *index, *takes, decision->place, decision->held_place))
        continue;
      const auto settled =
          reader_.Settle(*decision, decision->element, decision->place, body.params[0]);
      if (settled) settled_.emplace(takes->var(), Found{*decision, *settled});
    }
  }

  // Whether it begins with nothing held.
  static bool Begins(const Binding& b, size_t first_init, const ExtremeDecision& decision,
                     size_t extreme, size_t index) {
    return b.operands[first_init + extreme] == decision.Worst() &&
           b.operands[first_init + index] == decision.Nowhere();
  }

  const Binding* SettleLanes(const Binding& lanes) {
    const auto found = SettleExtremes(arena(), reader_, lanes, 2);
    if (!found) return &lanes;
    Block taken = *lanes.blocks[0];
    taken.results = found->elements;
    Binding settled = lanes;
    settled.blocks = {arena()->New(std::move(taken)), lanes.blocks[1], found->take};
    return arena()->New(std::move(settled));
  }

  ExtremeReader reader_;
  std::unordered_map<const Var*, Found> settled_;
};

}  // namespace

ir::Program SettleTies(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Settler(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
