// Takes two comparisons of one value apart, of which the second is asked only where the first does
// not hold, where both never hold: the value is below the least so far, or else above the greatest.
//
// Before:
//   %lo, %hi = for %i in 0 to %n step 1 (%lo.1 = %x0, %hi.1 = %x0) {
//     %v = load %x[%i]
//     %below = lt %v, %lo.1
//     %lo.2, %hi.2 = if %below { yield %v, %hi.1 } else {
//       %above = gt %v, %hi.1
//       %hi.3 = if %above { yield %v } else { yield %hi.1 }
//       yield %lo.1, %hi.3 }
//     yield %lo.2, %hi.2 }
// After:
//   %lo, %hi = for %i in 0 to %n step 1 (%lo.1 = %x0, %hi.1 = %x0) {
//     %v = load %x[%i]
//     %below = lt %v, %lo.1
//     %above = gt %v, %hi.1
//     %hi.2 = if %above { yield %v } else { yield %hi.1 }
//     %lo.2 = if %below { yield %v } else { yield %lo.1 }
//     yield %lo.2, %hi.2 }
// which parallelize_loops then sees to be two extremes.
//
// Why both never hold: of the two that are carried, in each iteration the one is no more than the
// other, or one of them is nan. They begin so, equal or in that order; the first is replaced only
// by what compares less than it, the second only by what compares greater. Nothing compares with
// nan, which therefore stays. So v < lo and v > hi would be v < lo <= hi < v; and where one of the
// two comparisons holds of equals too, the other one does not.
//
// Assumes: index form; numbers that are equal have been found to be one.
// Refuses: values that begin in no known order, as inf and -inf do; comparisons both of which hold
// of equals; an `else` that does more than compare and choose.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

constexpr int kDeepestChoice = 8;

size_t PlaceOf(const Binding& b, const Var* result) {
  return std::find(b.results.begin(), b.results.end(), result) - b.results.begin();
}

class ExtremeSeparator : public ir::Mutator {
 public:
  ExtremeSeparator(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena), makers_(ir::Definitions(*function.body)), context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kFor) LearnOrders(*b);
    if (const std::optional<Pair> pair = b->op == OpCode::kIf ? PairIn(*b) : std::nullopt) {
      context_.Note(b->span, "compares with the least and the greatest", Topic::kOther,
                    Verdict::kDone);
      return Separate(*b, *pair);
    }
    Mutator::Visit(b);
  }

 private:
  // `value op with`, where another value is replaced.
  struct Comparison {
    OpCode op;
    Operand value;
    const Var* with;

    bool IsBelow() const { return op == OpCode::kLt || op == OpCode::kLe; }
    bool HoldsOfEquals() const { return op == OpCode::kLe || op == OpCode::kGe; }
  };

  // What the `else` of a branch holds: a choice, and its comparison, which may stand in front.
  struct Pair {
    const Binding* comparison;  // null where it does
    const Binding* choice;
    std::vector<std::pair<size_t, size_t>> chosen;  // (result of the branch, of the choice)
  };

  const Binding* MakerOf(const Operand& value) const {
    const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
  }

  // The condition as a comparison with a value that is or is not on its right side.
  std::optional<Comparison> ComparisonOf(const Operand& condition, bool on_right) const {
    const Binding* b = MakerOf(condition);
    if (b == nullptr || b->operands.size() != 2 || !b->operands[on_right].IsVar())
      return std::nullopt;
    const Operand& value = b->operands[!on_right];
    const Var* with = b->operands[on_right].var();
    switch (b->op) {
      case OpCode::kLt: return Comparison{on_right ? OpCode::kLt : OpCode::kGt, value, with};
      case OpCode::kLe: return Comparison{on_right ? OpCode::kLe : OpCode::kGe, value, with};
      case OpCode::kGt: return Comparison{on_right ? OpCode::kGt : OpCode::kLt, value, with};
      case OpCode::kGe: return Comparison{on_right ? OpCode::kGe : OpCode::kLe, value, with};
      default: return std::nullopt;
    }
  }

  // --- What is known of values that loops carry. ---

  // Which of the carried values are no more than which, in every iteration, or one of them nan.
  void LearnOrders(const Binding& loop) {
    const Block& body = *loop.blocks[0];
    for (size_t low = 0; low < body.results.size(); ++low) {
      const Var* least = body.params[1 + low];
      if (!MayBeCompared(*least) || !Moves(body.results[low], least, true)) continue;
      for (size_t high = 0; high < body.results.size(); ++high) {
        const Var* most = body.params[1 + high];
        if (low != high && most->type == least->type && BeginInOrder(loop, low, high) &&
            Moves(body.results[high], most, false))
          ordered_.emplace_back(least, most);
      }
    }
  }

  static bool MayBeCompared(const Var& value) {
    return value.type.IsScalar() && value.type.dtype() != ir::DType::kBool &&
           !ir::IsComplex(value.type.dtype());
  }

  bool BeginInOrder(const Binding& loop, size_t low, size_t high) const {
    const Operand &least = loop.operands[FirstInit(loop) + low],
                  &most = loop.operands[FirstInit(loop) + high];
    if (least == most) return true;
    if (least.IsVar() && most.IsVar()) return AreOrdered(least.var(), most.var());
    if (!least.IsConstant() || !most.IsConstant()) return false;
    return ir::IsFloat(ir::DTypeOf(least))
               ? least.constant().real <= most.constant().real
               : ir::IsSigned(ir::DTypeOf(least)) &&
                     least.constant().integer <= most.constant().integer;
  }

  bool AreOrdered(const Var* least, const Var* most) const {
    return std::find(ordered_.begin(), ordered_.end(), std::pair(least, most)) != ordered_.end();
  }

  // True where the value is `from`, or less than that (greater, where not `falls`), on all ways.
  bool Moves(const Operand& value, const Var* from, bool falls, int depth = 0) const {
    if (value == Operand(from)) return true;
    const Binding* b = MakerOf(value);
    if (b == nullptr || depth == kDeepestChoice) return false;
    const auto moves = [&](const Operand& to, const Var* of) {
      return Moves(to, of, falls, depth + 1);
    };
    const auto is_beyond = [&](const Operand& to, const Operand& condition) {
      for (const bool on_right : {false, true}) {
        const auto c = ComparisonOf(condition, on_right);
        if (c && c->value == to && c->IsBelow() == falls && moves(c->with, from)) return true;
      }
      return false;
    };
    const size_t r = PlaceOf(*b, value.var());
    switch (b->op) {
      case OpCode::kSelect:
        return (moves(b->operands[1], from) || is_beyond(b->operands[1], b->operands[0])) &&
               moves(b->operands[2], from);
      case OpCode::kIf: {
        const Operand &then = b->blocks[0]->results[r], &otherwise = b->blocks[1]->results[r];
        return (moves(then, from) || is_beyond(then, b->operands[0])) && moves(otherwise, from);
      }
      case OpCode::kFor:
        return moves(b->operands[FirstInit(*b) + r], from) &&
               moves(b->blocks[0]->results[r], b->blocks[0]->params[1 + r]);
      default: return false;
    }
  }

  // --- Branches. ---

  std::optional<Pair> PairIn(const Binding& branch) const {
    Pair pair{nullptr, nullptr, {}};
    for (const Binding* b : branch.blocks[1]->bindings) {
      if (b->op == OpCode::kIf && pair.choice == nullptr) pair.choice = b;
      else if (b->results.size() == 1 && pair.comparison == nullptr) pair.comparison = b;
      else return std::nullopt;
    }
    if (pair.choice == nullptr) return std::nullopt;
    const Operand& asked = pair.choice->operands[0];
    if (pair.comparison != nullptr && asked != Operand(pair.comparison->result()))
      return std::nullopt;
    if (!NeverBoth(branch.operands[0], asked) || !FindChosen(branch, pair)) return std::nullopt;
    return pair;
  }

  bool NeverBoth(const Operand& first, const Operand& second) const {
    for (const bool right : {false, true}) {
      for (const bool other_right : {false, true}) {
        const auto one = ComparisonOf(first, right), other = ComparisonOf(second, other_right);
        if (!one || !other || one->value != other->value || one->IsBelow() == other->IsBelow())
          continue;
        const Comparison &below = one->IsBelow() ? *one : *other,
                         &above = one->IsBelow() ? *other : *one;
        if (AreOrdered(below.with, above.with) && !(below.HoldsOfEquals() && above.HoldsOfEquals()))
          return true;
      }
    }
    return false;
  }

  // Results that the choice makes are what they were where the branch is taken; all others are made
  // without it. False where that is not so.
  bool FindChosen(const Binding& branch, Pair& pair) const {
    std::vector<bool> is_used(pair.choice->results.size());
    for (size_t k = 0; k < branch.results.size(); ++k) {
      const Operand &then = branch.blocks[0]->results[k], &other = branch.blocks[1]->results[k];
      if (pair.comparison != nullptr && other == Operand(pair.comparison->result())) return false;
      if (MakerOf(other) != pair.choice) continue;
      const size_t r = PlaceOf(*pair.choice, other.var());
      if (is_used[r] || pair.choice->blocks[1]->results[r] != then) return false;
      is_used[r] = true;
      pair.chosen.emplace_back(k, r);
    }
    return !pair.chosen.empty() && pair.chosen.size() < branch.results.size();
  }

  void Separate(const Binding& branch, const Pair& pair) {
    Binding choice = *pair.choice, rest = branch;
    Block then = *branch.blocks[0], otherwise = *branch.blocks[1];
    otherwise.bindings.clear();
    for (auto chosen = pair.chosen.rbegin(); chosen != pair.chosen.rend(); ++chosen) {
      const auto& [k, r] = *chosen;
      choice.results[r] = branch.results[k];
      rest.results.erase(rest.results.begin() + k);
      then.results.erase(then.results.begin() + k);
      otherwise.results.erase(otherwise.results.begin() + k);
    }
    rest.blocks = {arena()->New(std::move(then)), arena()->New(std::move(otherwise))};
    if (pair.comparison != nullptr) Mutator::Visit(pair.comparison);
    // Each may hold branches of its own.
    Visit(arena()->New(std::move(choice)));
    Visit(arena()->New(std::move(rest)));
  }

  const ir::DefinitionMap makers_;
  std::vector<std::pair<const Var*, const Var*>> ordered_;
  Context& context_;
};

}  // namespace

ir::Program SeparateExtremes(const ir::Program& program, Context& context) {
  ir::Arena* arena = program.arena.get();
  return ForEachFunction(program, [&](const ir::Function* function) {
    return ExtremeSeparator(arena, *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
