// Lets the iteration that ends a loop carry on whatever is at hand, of what nothing reads then.
//
// Before:
//   %k, %x, %found = while (%k.1 = 0, %x.1 = 0.0, %found.1 = false) {
//     %on = not %found.1  yield %on
//   } do (...) {
//     %c = gt %x.2, 4.0
//     %x.3 = if %c { yield 0.0 } else { %a = mul %x.2, %x.2  yield %a }
//     yield %k.3, %x.3, %c }
// After:
//     %c = gt %x.2, 4.0
//     %a = mul %x.2, %x.2
//     yield %k.3, %a, %c
// where nothing behind the loop reads %x. It saves a choice in every iteration: a `break` or a
// `return` leaves one behind for each variable that the rest of the iteration would have changed.
//
// Assumes: the loop's condition is a value of booleans that it carries, joined by `and`.
// Refuses: values that the condition reads; what the other side makes from memory, by blocks or by
// what may fail.
#include <algorithm>
#include <optional>
#include <unordered_map>
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

// Of an `if`: by result, the side whose value stands for both.
using Sides = std::vector<std::optional<size_t>>;
using Choices = std::unordered_map<const Binding*, Sides>;

// A boolean that a loop carries, and the value that ends it.
struct End {
  size_t carried;
  bool value;
};

class LastValues {
 public:
  LastValues(const ir::Function& function, Choices& choices) : choices_(choices) {
    ForEachUse(*function.body, [&](const Var* used) { ++uses_[used]; });
  }

  void See(const Binding& loop) {
    const Block& condition = *loop.blocks[0];
    body_ = loop.blocks[1];
    ends_.clear();
    known_.clear();
    FindEnds(condition, condition.results[0], true);
    if (ends_.empty()) return;
    ir::VarSet asked;
    ForEachUse(condition, [&](const Var* used) { asked.insert(used); });
    Unread unread;
    for (size_t k = 0; k < loop.results.size(); ++k)
      unread.push_back(!uses_.contains(loop.results[k]) && !asked.contains(condition.params[k]));
    SeeBlock(*body_, unread);
  }

 private:
  // By place among a block's results, whether nobody reads it in an iteration that ends the loop.
  using Unread = std::vector<bool>;

  // The condition is `goes_on` only as long as none of these is met.
  void FindEnds(const Block& condition, const Operand& value, bool goes_on) {
    if (!value.IsVar()) return;
    const auto param = std::find(condition.params.begin(), condition.params.end(), value.var());
    if (param != condition.params.end())
      return ends_.push_back({size_t(param - condition.params.begin()), !goes_on});
    for (const Binding* b : condition.bindings) {
      if (b->results.empty() || b->results[0] != value.var()) continue;
      if (b->op == OpCode::kNot) FindEnds(condition, b->operands[0], !goes_on);
      if (b->op == OpCode::kAnd && goes_on) {
        FindEnds(condition, b->operands[0], goes_on);
        FindEnds(condition, b->operands[1], goes_on);
      }
    }
  }

  void SeeBlock(const Block& block, const Unread& unread) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kNot) negated_[b->result()] = b->operands[0];
    }
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kIf) SeeIf(*b, UnreadOf(*b, block, unread));
    }
  }

  // Of an `if`, by result: what its block does nothing with but yield it where nobody reads it.
  Unread UnreadOf(const Binding& branch, const Block& block, const Unread& unread) const {
    Unread found;
    for (const Var* result : branch.results) {
      const auto uses = uses_.find(result);
      const auto at = std::find(block.results.begin(), block.results.end(), Operand(result));
      found.push_back(uses != uses_.end() && uses->second == 1 && at != block.results.end() &&
                      unread[at - block.results.begin()]);
    }
    return found;
  }

  void SeeIf(const Binding& branch, const Unread& unread) {
    if (std::find(unread.begin(), unread.end(), true) == unread.end()) return;
    bool ends[2];
    for (const size_t side : {0, 1}) {
      Enter(branch, side);
      ends[side] = EndsHere();
      if (!ends[side]) SeeBlock(*branch.blocks[side], unread);
      Leave(branch);
    }
    if (ends[0] == ends[1]) return;
    Sides sides;
    for (const bool is_unread : unread)
      sides.push_back(is_unread ? std::optional<size_t>(ends[0]) : std::nullopt);
    choices_[&branch] = std::move(sides);
  }

  void Enter(const Binding& branch, size_t side) {
    if (branch.operands[0].IsVar())
      known_.insert_or_assign(branch.operands[0].var(), Operand(ir::Constant::Bool(side == 0)));
    for (size_t r = 0; r < branch.results.size(); ++r)
      known_.insert_or_assign(branch.results[r], branch.blocks[side]->results[r]);
  }

  void Leave(const Binding& branch) {
    if (branch.operands[0].IsVar()) known_.erase(branch.operands[0].var());
    for (const Var* result : branch.results) known_.erase(result);
  }

  bool EndsHere() const {
    return std::any_of(ends_.begin(), ends_.end(), [&](const End& end) {
      return ValueOf(body_->results[end.carried]) == end.value;
    });
  }

  // What a boolean is by the branches around.
  std::optional<bool> ValueOf(Operand value) const {
    bool is_negated = false;
    while (value.IsVar()) {
      if (const auto known = known_.find(value.var()); known != known_.end()) {
        value = known->second;
      } else if (const auto other = negated_.find(value.var()); other != negated_.end()) {
        value = other->second;
        is_negated = !is_negated;
      } else {
        return std::nullopt;
      }
    }
    return (value.constant().integer != 0) != is_negated;
  }

  std::unordered_map<const Var*, int> uses_;
  Choices& choices_;
  const Block* body_ = nullptr;
  std::vector<End> ends_;
  std::unordered_map<const Var*, Operand> known_;
  std::unordered_map<const Var*, Operand> negated_;
};

// Takes chosen sides' values out of their branches.
class Forgetter : public ir::Mutator {
 public:
  Forgetter(ir::Arena* arena, const Choices& choices) : Mutator(arena), choices_(choices) {}

 protected:
  void Visit(const Binding* b) override {
    if (const auto found = choices_.find(b); found != choices_.end()) b = Forget(*b, found->second);
    Mutator::Visit(b);
  }

 private:
  const Binding* Forget(const Binding& branch, const Sides& sides) {
    Binding left = branch;
    std::vector<bool> keeps(branch.results.size(), true);
    for (size_t r = 0; r < sides.size(); ++r) {
      if (!sides[r]) continue;
      const std::optional<std::vector<const Binding*>> made =
          MadeBy(*left.blocks[*sides[r]], left.blocks[*sides[r]]->results[r]);
      if (!made) continue;
      keeps[r] = false;
      MoveOut(left.blocks[*sides[r]], *made);
      Replace(branch.results[r], branch.blocks[*sides[r]]->results[r]);
    }
    const bool keeps_all = std::find(keeps.begin(), keeps.end(), false) == keeps.end();
    return keeps_all ? &branch : KeepResults(arena(), *arena()->New(std::move(left)), keeps);
  }

  // What a block computes for a value, of numbers alone; none where it is made otherwise.
  static std::optional<std::vector<const Binding*>> MadeBy(const Block& block,
                                                           const Operand& value) {
    ir::VarSet wanted;
    if (value.IsVar()) wanted.insert(value.var());
    std::vector<const Binding*> made;
    for (auto at = block.bindings.rbegin(); at != block.bindings.rend(); ++at) {
      const Binding& b = **at;
      const auto is_wanted = [&](const Var* result) { return wanted.contains(result); };
      if (std::none_of(b.results.begin(), b.results.end(), is_wanted)) continue;
      if (!ir::IsScalarOp(b.op)) return std::nullopt;
      made.push_back(&b);
      ForEachUse(b, [&](const Var* used) { wanted.insert(used); });
    }
    std::reverse(made.begin(), made.end());
    return made;
  }

  void MoveOut(const Block*& block, const std::vector<const Binding*>& made) {
    if (made.empty()) return;
    for (const Binding* b : made) Mutator::Visit(b);
    Block left = *block;
    std::erase_if(left.bindings, [&](const Binding* b) {
      return std::find(made.begin(), made.end(), b) != made.end();
    });
    block = arena()->New(std::move(left));
  }

  const Choices& choices_;
};

const ir::Function* ForgetOnce(ir::Arena* arena, const ir::Function* function) {
  Choices choices;
  LastValues last(*function, choices);
  ForEachBinding(*function->body, [&](const Binding& b) {
    if (b.op == OpCode::kWhile) last.See(b);
  });
  return choices.empty() ? function : Forgetter(arena, choices).Run(function);
}

}  // namespace

ir::Program ForgetLastValues(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    // Again: what has left an inner branch may leave the one around it.
    for (const ir::Function* before = nullptr; before != function;)
      before = std::exchange(function, ForgetOnce(program.arena.get(), function));
    return function;
  });
}

}  // namespace parakeet::passes
