// Makes again what an iteration carries over from the one before it, where that was made of nothing
// carried: the element before, or whether the byte before was a letter.
//
// Before:
//   %n, %last = for %i in 0 to %m step 1 (%n.1 = 0, %before = %none) {
//     %a = load %x[%i]  %is_other = ne %a, %before  ...  yield %n.2, %a }
// After:
//   %some = lt 0, %m
//   %n.3 = if %some { ... of 0 ...  yield %n.4 } else { yield 0 }
//   %n = for %i in 1 to %m step 1 (%n.1 = %n.3) {
//     %j = sub %i, 1  %before = load %x[%j]
//     %a = load %x[%i]  %is_other = ne %a, %before  ...  yield %n.2 }
//   %last = if %some { %k = sub %m, 1  %a = load %x[%k]  yield %a } else { yield %none }
//
// What is left to carry is a sum or an extreme, or nothing, which parallelize_loops takes apart. A
// value that is two iterations old is one that is carried of such a value, and goes next.
//
// Assumes: index form, bounds proven.
// Refuses: loops that would carry something else too, since what is carried costs them less; loops
// with checks, which guard what the iteration before has read; with loops inside; values that are
// dear, or read of what the loop stores to.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/loop_independence.h"
#include "passes/lowering/loop_counts.h"
#include "passes/lowering/loop_reductions.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using Operands = std::vector<Operand>;

// Cycles that making a value again may take, and how long what is written twice may be.
constexpr int kMostCostOfRemade = 60;
constexpr int kLongestRemade = 120;
// How many iterations old a value may be.
constexpr int kOldest = 3;
constexpr int64_t kFar = int64_t{1} << 32;

class CarriedRemaker : public ir::Mutator {
 public:
  CarriedRemaker(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), function_(function), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kFor || !MayBeTaken(*b)) return Mutator::Visit(b);
    const std::vector<int> ages = AgesOf(*b);
    const int oldest = *std::max_element(ages.begin(), ages.end());
    if (oldest == 0 || !WhyNotApart(*b, ages).empty()) return Mutator::Visit(b);
    context_.Note(b->span, "makes again what it carried of the iteration before", Topic::kThreads,
                  Verdict::kDone);
    const Binding loop = *Rewrite(b);
    const Operands results = Remake(loop, ages, oldest);
    for (size_t k = 0; k < results.size(); ++k) Replace(b->results[k], results[k]);
  }

 private:
  // --- What may be made again. ---

  static bool MayBeTaken(const Binding& loop) {
    if (loop.results.empty() || !loop.attrs.Text(ir::Attr::kKind).empty()) return false;
    if (!IsNear(loop.operands[2]) || loop.operands[2].IsInt(0)) return false;
    const auto is_scalar = [](const Var* result) { return result->type.IsScalar(); };
    bool is_plain = std::all_of(loop.results.begin(), loop.results.end(), is_scalar);
    int operations = 0;
    ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
      ++operations;
      is_plain &= ir::IsScalarOp(b.op) || b.op == OpCode::kLoad || b.op == OpCode::kStore ||
                  b.op == OpCode::kIf;
    });
    return is_plain && operations <= kLongestRemade;
  }

  // Of each carried value, how many iterations ago it was made of nothing that is carried, or of
  // values of which that is known; 0 where there is none.
  std::vector<int> AgesOf(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    std::vector<int> ages(loop.results.size(), 0);
    for (int round = 0; round < kOldest; ++round) {
      for (size_t k = 0; k < ages.size(); ++k) {
        if (ages[k] == 0) ages[k] = AgeOf(loop, body, k, ages);
      }
    }
    return ages;
  }

  int AgeOf(const Binding& loop, const Block& body, size_t k, const std::vector<int>& ages) {
    const Block own = OnlyFor(body, {body.results[k]});
    const std::vector<const Binding*>& makers = own.bindings;
    ir::VarSet used;
    ir::ForEachUse(own, [&](const Var* var) { used.insert(var); });
    int age = 1;
    for (size_t other = 0; other < ages.size(); ++other) {
      if (!used.contains(body.params[1 + other])) continue;
      if (ages[other] == 0) return 0;
      age = std::max(age, 1 + ages[other]);
    }
    if (age > kOldest || CostOf(own) > kMostCostOfRemade) return 0;
    return std::all_of(makers.begin(), makers.end(),
                       [&](const Binding* b) { return StaysSame(*b, loop); })
               ? age
               : 0;
  }

  // What of a block makes these values, of branches too.
  Block OnlyFor(const Block& block, const Operands& results) {
    Block only{{}, {}, results};
    ir::VarSet needed;
    const auto need = [&](const Var* used) { needed.insert(used); };
    for (const Operand& result : results) {
      if (result.IsVar()) need(result.var());
    }
    for (auto b = block.bindings.rbegin(); b != block.bindings.rend(); ++b) {
      std::vector<bool> keeps;
      for (const Var* result : (*b)->results) keeps.push_back(needed.contains(result));
      if (std::find(keeps.begin(), keeps.end(), true) == keeps.end()) continue;
      only.bindings.push_back((*b)->op == OpCode::kIf ? OnlyFor(**b, keeps) : *b);
      ir::ForEachUse(*only.bindings.back(), need);
    }
    std::reverse(only.bindings.begin(), only.bindings.end());
    return only;
  }

  const Binding* OnlyFor(const Binding& branch, const std::vector<bool>& keeps) {
    Binding only = *KeepResults(arena(), branch, keeps);
    // What both blocks yield follows from no condition.
    if (only.blocks[0]->results == only.blocks[1]->results) only.operands[0] = Operand::Bool(true);
    for (const Block*& block : only.blocks) block = arena()->New(OnlyFor(*block, block->results));
    return arena()->New(std::move(only));
  }

  // True of what stores nothing and reads nothing that the loop stores to.
  bool StaysSame(const Binding& b, const Binding& loop) {
    const Effects own = EffectsOf(b, independence().roots());
    if (!own.IsPure()) return false;
    return !Intersects(own.reads, EffectsOf(*loop.blocks[0], independence().roots()).writes);
  }

  // Why the loop without these values is not one whose iterations are apart.
  std::string WhyNotApart(const Binding& loop, const std::vector<int>& ages) {
    const bool stores = !EffectsOf(*loop.blocks[0], independence().roots()).writes.empty();
    std::string reason = stores ? independence().WhyDependent(loop) : "";
    const bool is_all = std::find(ages.begin(), ages.end(), 0) == ages.end();
    if (!reason.empty() || is_all) return reason;
    std::vector<bool> keeps;
    for (int age : ages) keeps.push_back(age == 0);
    return ReductionOf(arena(), *KeepResults(arena(), loop, keeps)).why_not;
  }

  const LoopIndependence& independence() {
    if (!independence_) independence_.emplace(function_);
    return *independence_;
  }

  // --- Loops. ---

  // Writes the first iterations, the loop and what it leaves behind: the loop's results.
  Operands Remake(const Binding& loop, const std::vector<int>& ages, int oldest) {
    const Block& body = *loop.blocks[0];
    const Operand step = loop.operands[2];
    Operands carried(loop.operands.begin() + FirstInit(loop), loop.operands.end());
    Operand first = loop.operands[0];
    for (int iteration = 0; iteration < oldest; ++iteration) {
      carried = FirstIteration(loop, first, carried);
      const Operand next = builder().Add(first, step);
      // No place behind the last numbers.
      first = IsNear(first)
                  ? next
                  : builder().Scalar(OpCode::kSelect, {IsBefore(loop, first), next, first});
    }
    Binding rest = loop;
    rest.operands = {first, loop.operands[1], step};
    rest.results.clear();
    Block inner{{builder().NewVar(ir::DType::kI64, body.params[0]->hint)}, {}, {}};
    ir::Substitution values = {{body.params[0], inner.params[0]}};
    ir::Substitution copies;
    ir::Builder made = builder().Nested();
    for (size_t k = 0; k < ages.size(); ++k) {
      if (ages[k] > 0) continue;
      rest.operands.push_back(carried[k]);
      rest.results.push_back(ir::CopyVar(builder(), loop.results[k], &copies));
      inner.params.push_back(ir::CopyVar(builder(), body.params[1 + k], &values));
    }
    for (size_t k = 0; k < ages.size(); ++k) {
      if (ages[k] > 0)
        values[body.params[1 + k]] = MadeBefore(made, loop, k, ages, inner.params[0]);
    }
    const Operands next = ir::InlineBlock(made, Block{{}, body.bindings, body.results}, values);
    for (size_t k = 0; k < ages.size(); ++k) {
      if (ages[k] == 0) inner.results.push_back(next[k]);
    }
    rest.blocks = {made.Finish(inner.params, inner.results)};
    builder().Append(arena()->New(Binding(rest)));
    return LeftBehind(loop, ages, carried, rest);
  }

  static bool IsNear(const Operand& index) {
    return index.IsConstant() && index.constant().integer < kFar &&
           index.constant().integer > -kFar;
  }

  // What is carried behind one more iteration at `index`, where there is one.
  Operands FirstIteration(const Binding& loop, const Operand& index, const Operands& carried) {
    const Block& body = *loop.blocks[0];
    ir::Substitution values = {{body.params[0], index}};
    for (size_t k = 0; k < carried.size(); ++k) values[body.params[1 + k]] = carried[k];
    ir::Builder inside = builder().Nested();
    const Operands next = ir::InlineBlock(inside, Block{{}, body.bindings, body.results}, values);
    return If(IsBefore(loop, index), inside.Finish({}, next), carried);
  }

  Operand IsBefore(const Binding& loop, const Operand& index) {
    const bool falls = loop.operands[2].constant().integer < 0;
    return builder().Scalar(falls ? OpCode::kGt : OpCode::kLt, {index, loop.operands[1]});
  }

  Operands If(const Operand& condition, const Block* then, const Operands& otherwise) {
    Binding b{OpCode::kIf, {}, {condition}, {}, {}, builder().span()};
    for (const Operand& value : otherwise) b.results.push_back(builder().NewVar(ir::TypeOf(value)));
    const Operands results(b.results.begin(), b.results.end());
    b.blocks = {then, arena()->New(Block{{}, {}, otherwise})};
    builder().Append(arena()->New(std::move(b)));
    return results;
  }

  // What the iteration before the one at `index` has made for carried value `k`.
  Operand MadeBefore(ir::Builder& into, const Binding& loop, size_t k, const std::vector<int>& ages,
                     const Operand& index) {
    const Block& body = *loop.blocks[0];
    const Operand before = into.Sub(index, loop.operands[2]);
    ir::Substitution values = {{body.params[0], before}};
    const Block made = OnlyFor(body, {body.results[k]});
    ir::VarSet used;
    ir::ForEachUse(made, [&](const Var* var) { used.insert(var); });
    for (size_t other = 0; other < ages.size(); ++other) {
      const Var* carried = body.params[1 + other];
      if (used.contains(carried)) values[carried] = MadeBefore(into, loop, other, ages, before);
    }
    return ir::InlineBlock(into, made, values)[0];
  }

  // Behind the last iteration, where more have run than were written out, else `carried`.
  Operands LeftBehind(const Binding& loop, const std::vector<int>& ages, const Operands& carried,
                      const Binding& rest) {
    Operands results, otherwise;
    const Operand more = RunsAtAll(builder(), rest);
    ir::Builder inside = builder().Nested();
    const Operand end =
        inside.Add(rest.operands[0], inside.Mul(TripCount(inside, rest), loop.operands[2]));
    Operands made;
    for (size_t k = 0; k < ages.size(); ++k) {
      if (ages[k] == 0) continue;
      made.push_back(MadeBefore(inside, loop, k, ages, end));
      otherwise.push_back(carried[k]);
    }
    const Operands last = If(more, inside.Finish({}, made), otherwise);
    for (size_t k = 0, old = 0, own = 0; k < ages.size(); ++k)
      results.push_back(ages[k] == 0 ? Operand(rest.results[own++]) : last[old++]);
    return results;
  }

  const ir::Function& function_;
  Context& context_;
  std::optional<LoopIndependence> independence_;
};

}  // namespace

ir::Program RemakeCarried(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CarriedRemaker(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
