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
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// An index is far from where i64 wraps around, and so is what is added to it.
constexpr int64_t kFarthest = int64_t{1} << 48;
constexpr int kDeepest = 4;

using Definitions = ir::DefinitionMap;

// What says whether an element takes the place of what is held:
//   or(beats(element, held), and(eq(element, held), sooner(place, held_place)))
struct Decision {
  OpCode beats;  // gt or lt
  Operand element;
  Operand held;
  bool is_least;  // sooner is lt
  Operand place;
  Operand held_place;

  Operand Worst() const {
    const OpCode best = beats == OpCode::kGt ? OpCode::kMax : OpCode::kMin;
    return *ir::IdentityOf(best, ir::DTypeOf(held));
  }
  Operand Nowhere() const {
    return *ir::IdentityOf(is_least ? OpCode::kMin : OpCode::kMax, ir::DType::kI64);
  }
};

// The same where elements come in order, and what stands for the element and its place then.
struct Settled {
  OpCode op;
  Operand element;
  Operand place;
};

class Reader {
 public:
  explicit Reader(const ir::Function& function) : definitions_(ir::Definitions(*function.body)) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (b.op == OpCode::kFor) near_.insert(b.blocks[0]->params[0]);
    });
    for (const ir::Param& param : function.params) {
      if (!param.var->type.IsArray()) continue;
      for (const Operand& size : param.var->type.dims()) near_.insert(size.var());
    }
  }

  const Binding* DefinitionOf(const Operand& operand, OpCode op) const {
    const auto found = operand.IsVar() ? definitions_.find(operand.var()) : definitions_.end();
    return found != definitions_.end() && found->second->op == op ? found->second : nullptr;
  }

  std::optional<Decision> DecisionOf(const Operand& takes) const {
    const Binding* either = DefinitionOf(takes, OpCode::kOr);
    if (either == nullptr) return std::nullopt;
    const Binding* better = Comparison(either->operands[0]);
    const Binding* instead = DefinitionOf(either->operands[1], OpCode::kAnd);
    if (better == nullptr || instead == nullptr) return std::nullopt;
    const Binding* equal = DefinitionOf(instead->operands[0], OpCode::kEq);
    const Binding* sooner = Comparison(instead->operands[1]);
    if (equal == nullptr || sooner == nullptr || equal->operands != better->operands ||
        ir::DTypeOf(sooner->operands[0]) != ir::DType::kI64)
      return std::nullopt;
    return Decision{better->op,          better->operands[0],
                    better->operands[1], sooner->op == OpCode::kLt,
                    sooner->operands[0], sooner->operands[1]};
  }

  // Of the decision whose `element` and `place` are these, which `index` numbers.
  std::optional<Settled> Settle(const Decision& decision, Operand element, Operand place,
                                const Var* index) const {
    const Binding* at = DefinitionOf(place, OpCode::kSelect);
    const bool all_count = at == nullptr;
    bool keeps_first = false;
    if (at != nullptr) {
      const Binding* value = DefinitionOf(element, OpCode::kSelect);
      if (const Binding* counts = DefinitionOf(at->operands[0], decision.beats)) {
        // All integers are at least the worst one.
        const Operand& x = counts->operands[0];
        const bool is_it =
            value != nullptr &&
            value->operands == std::vector<Operand>{at->operands[0], x, decision.Worst()};
        if (counts->operands[1] != decision.Worst() || (!is_it && element != x) ||
            at->operands[2] != decision.Nowhere())
          return std::nullopt;
        keeps_first = true;
        element = x;
        place = at->operands[1];
      } else if (const Binding* is_nan = DefinitionOf(at->operands[0], OpCode::kIsNan)) {
        const Operand& x = is_nan->operands[0];
        if (value == nullptr || at->operands[1] != decision.Nowhere() ||
            value->operands != std::vector<Operand>{at->operands[0], decision.Worst(), x})
          return std::nullopt;
        element = x;
        place = at->operands[2];
      } else {
        return std::nullopt;
      }
    }
    const int slope = SlopeOf(place, index);
    if (slope == 0 || keeps_first != (decision.is_least == (slope > 0))) return std::nullopt;
    if (all_count && ir::IsFloat(ir::DTypeOf(element))) return std::nullopt;
    const OpCode or_equal = decision.beats == OpCode::kGt ? OpCode::kGe : OpCode::kLe;
    return Settled{keeps_first ? decision.beats : or_equal, element, place};
  }

 private:
  const Binding* Comparison(const Operand& operand) const {
    const Binding* greater = DefinitionOf(operand, OpCode::kGt);
    return greater != nullptr ? greater : DefinitionOf(operand, OpCode::kLt);
  }

  // 1 where the operand rises as the loop goes on, -1 where it falls, 0 where that is not known.
  int SlopeOf(const Operand& operand, const Var* index) const {
    if (operand == Operand(index)) return 1;
    if (const Binding* sum = DefinitionOf(operand, OpCode::kAdd)) {
      if (StaysNear(sum->operands[0])) return SlopeOf(sum->operands[1], index);
      if (StaysNear(sum->operands[1])) return SlopeOf(sum->operands[0], index);
    }
    if (const Binding* difference = DefinitionOf(operand, OpCode::kSub)) {
      if (StaysNear(difference->operands[0])) return -SlopeOf(difference->operands[1], index);
      if (StaysNear(difference->operands[1])) return SlopeOf(difference->operands[0], index);
    }
    if (const Binding* product = DefinitionOf(operand, OpCode::kMul)) {
      const Operand& step = product->operands[1];
      if (step.IsConstant() && StaysNear(step) && product->operands[0] == Operand(index)) {
        return (step.constant().integer > 0) - (step.constant().integer < 0);
      }
    }
    return 0;
  }

  // A constant, the index of a loop around this one, a size, or a sum of these.
  bool StaysNear(const Operand& operand, int depth = kDeepest) const {
    if (operand.IsVar()) {
      if (near_.contains(operand.var())) return true;
      for (const OpCode op : {OpCode::kAdd, OpCode::kSub, OpCode::kMax, OpCode::kMin}) {
        const Binding* b = depth > 0 ? DefinitionOf(operand, op) : nullptr;
        if (b == nullptr) continue;
        return StaysNear(b->operands[0], depth - 1) && StaysNear(b->operands[1], depth - 1);
      }
      return false;
    }
    const int64_t value = operand.constant().integer;
    return -kFarthest < value && value < kFarthest;
  }

  Definitions definitions_;
  ir::VarSet near_;  // Indexes of loops, and sizes.
};

class Settler : public ir::Mutator {
 public:
  Settler(ir::Arena* arena, const ir::Function& function) : Mutator(arena), reader_(function) {}

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
    Decision decision;
    Settled settled;
  };

  // Whether result `k` of `block` is `element` where `takes` says so, and else `held`.
  bool IsChoice(const Block& block, size_t k, const Operand& takes, const Operand& element,
                const Operand& held) const {
    const Binding* choice = reader_.DefinitionOf(block.results[k], OpCode::kSelect);
    return choice != nullptr && choice->operands == std::vector<Operand>{takes, element, held};
  }

  // What says whether value `k` is replaced, where that is an extreme or its index.
  std::optional<Operand> TakesOf(const Block& block, size_t k) const {
    const Binding* choice = reader_.DefinitionOf(block.results[k], OpCode::kSelect);
    return choice == nullptr ? std::nullopt : std::optional(choice->operands[0]);
  }

  static std::optional<size_t> PlaceAmong(const std::vector<const Var*>& params, size_t first,
                                          size_t count, const Operand& operand) {
    for (size_t k = 0; k < count; ++k) {
      if (operand == Operand(params[first + k])) return k;
    }
    return std::nullopt;
  }

  void SettleLoop(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    const size_t count = loop.results.size();
    for (size_t k = 0; k < count; ++k) {
      const std::optional<Operand> takes = TakesOf(body, k);
      const std::optional<Decision> decision = takes ? reader_.DecisionOf(*takes) : std::nullopt;
      if (!decision || settled_.contains(takes->var())) continue;
      const auto extreme = PlaceAmong(body.params, FirstCarried(loop), count, decision->held);
      const auto index = PlaceAmong(body.params, FirstCarried(loop), count, decision->held_place);
      if (!extreme || !index || !Begins(loop, FirstInit(loop), *decision, *extreme, *index) ||
          !IsChoice(body, *extreme, *takes, decision->element, decision->held) ||
          !IsChoice(body, *index, *takes, decision->place, decision->held_place))
        continue;
      const auto settled =
          reader_.Settle(*decision, decision->element, decision->place, body.params[0]);
      if (settled) settled_.emplace(takes->var(), Found{*decision, *settled});
    }
  }

  // Whether it begins with nothing held.
  static bool Begins(const Binding& b, size_t first_init, const Decision& decision, size_t extreme,
                     size_t index) {
    return b.operands[first_init + extreme] == decision.Worst() &&
           b.operands[first_init + index] == decision.Nowhere();
  }

  const Binding* SettleLanes(const Binding& lanes) {
    const Block& element = *lanes.blocks[0];
    const Block& combine = *lanes.blocks[1];
    const size_t count = lanes.results.size();
    Block taken = element;
    Block take = combine;
    for (size_t k = 0; k < count; ++k) {
      const std::optional<Operand> takes = TakesOf(combine, k);
      const std::optional<Decision> decision = takes ? reader_.DecisionOf(*takes) : std::nullopt;
      if (!decision) continue;
      const auto extreme = PlaceAmong(combine.params, 0, count, decision->held);
      const auto index = PlaceAmong(combine.params, 0, count, decision->held_place);
      if (!extreme || *extreme != k || !index || !Begins(lanes, 2, *decision, *extreme, *index) ||
          decision->element != Operand(combine.params[count + *extreme]) ||
          decision->place != Operand(combine.params[count + *index]) ||
          !IsChoice(combine, *extreme, *takes, decision->element, decision->held) ||
          !IsChoice(combine, *index, *takes, decision->place, decision->held_place))
        continue;
      const auto settled = reader_.Settle(*decision, element.results[*extreme],
                                          element.results[*index], element.params[0]);
      if (!settled) continue;
      taken.results[*extreme] = settled->element;
      taken.results[*index] = settled->place;
      for (const Binding*& b : take.bindings) {
        if (Operand(b->results[0]) != *takes) continue;
        Binding decides = *b;
        decides.op = settled->op;
        decides.operands = {decision->element, decision->held};
        b = arena()->New(std::move(decides));
      }
    }
    if (taken.results == element.results) return &lanes;
    Binding settled = lanes;
    settled.blocks = {arena()->New(std::move(taken)), lanes.blocks[1],
                      ir::CloneBlock(arena(), take)};
    return arena()->New(std::move(settled));
  }

  Reader reader_;
  std::unordered_map<const Var*, Found> settled_;
};

}  // namespace

ir::Program SettleTies(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Settler(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
