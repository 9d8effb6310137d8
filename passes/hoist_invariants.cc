// Moves out of loops and operators what is the same in every iteration: scalar code, choices
// between values that are there, and checks that come first; and in a block, checks before the pure
// code that precedes them.
//
// Before:
//   imap (%i) in (%n) { %k = add %a, %b  %ok = lt %k, %m  check %ok, site 0 at (1, %i)  ... }
// After:
//   %k = add %a, %b
//   %ok = lt %k, %m
//   %none = le %n, 0
//   %either = or %ok, %none
//   check %either, site 0 at (1, 0)
//   imap (%i) in (%n) { ... }
//
// Assumes: nothing; it runs at every stage before lanes are written.
// Refuses: loads, which a check inside may guard; a check after another that stays, a call or a
// store, which come first in program order; checks of `while` loops, whose bodies may not run
// (hoist_conditions.cc has those of conditions); anything in a branch, which may be dear and not
// taken.
#include <algorithm>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/first_iteration.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool IsLoop(const Binding& b) {
  return InfoOf(b.op).format == ir::OpFormat::kIndices || b.op == OpCode::kFor;
}

class Hoister : public ir::Mutator {
 public:
  Hoister(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  // Inner loops first: what leaves them may then leave this one.
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    const bool repeats = IsLoop(*rewritten) || b->op == OpCode::kWhile;
    builder().Append(repeats ? Hoist(*rewritten) : rewritten);
  }

  const Block* VisitBlock(const Block* block) override {
    return ChecksFirst(Mutator::VisitBlock(block));
  }

 private:
  // Checks, with the scalar code they rest on, move before pure bindings: what they prove then
  // holds for those too.
  const Block* ChecksFirst(const Block* block) {
    Block ordered = *block;
    ordered.bindings.clear();
    std::vector<const Binding*> waiting;  // pure bindings since the last effect
    for (const Binding* b : block->bindings) {
      const bool is_check = b->op == OpCode::kCheck;
      if (is_check && Advance(*b, waiting, ordered.bindings)) continue;
      if (!is_check && EffectsOf(*b, roots_).IsPure()) {
        waiting.push_back(b);
        continue;
      }
      ordered.bindings.insert(ordered.bindings.end(), waiting.begin(), waiting.end());
      waiting.clear();
      ordered.bindings.push_back(b);
    }
    ordered.bindings.insert(ordered.bindings.end(), waiting.begin(), waiting.end());
    return ordered.bindings == block->bindings ? block : arena()->New(std::move(ordered));
  }

  // Appends to `done` the check and what it needs of `waiting`; false where that is more than
  // scalar code.
  static bool Advance(const Binding& check, std::vector<const Binding*>& waiting,
                      std::vector<const Binding*>& done) {
    VarSet needed = ir::FreeVars(check);
    std::vector<bool> moves(waiting.size(), false);
    for (size_t at = waiting.size(); at-- > 0;) {
      const Binding& b = *waiting[at];
      const bool is_needed = std::any_of(b.results.begin(), b.results.end(),
                                         [&](const Var* r) { return needed.contains(r); });
      if (!is_needed) continue;
      if (!ir::IsScalarOp(b.op)) return false;
      moves[at] = true;
      needed.merge(ir::FreeVars(b));
    }
    std::vector<const Binding*> rest;
    for (size_t at = 0; at < waiting.size(); ++at) (moves[at] ? done : rest).push_back(waiting[at]);
    waiting = std::move(rest);
    done.push_back(&check);
    return true;
  }

  const Binding* Hoist(const Binding& b) {
    Binding copy = b;
    bool changed = false;
    for (size_t k = 0; k < copy.blocks.size(); ++k) {
      // A combine runs on what it is given; little in it is worth moving.
      const Block* block = HoistFrom(b, *copy.blocks[k], k == 0 && IsLoop(b));
      changed |= block != copy.blocks[k];
      copy.blocks[k] = block;
    }
    return changed ? arena()->New(std::move(copy)) : &b;
  }

  const Block* HoistFrom(const Binding& loop, const Block& block, bool runs_checks) {
    FirstIteration start(loop);
    Block rest = block;
    rest.bindings.clear();
    bool first = runs_checks;  // Nothing that may be seen has run in this iteration yet.
    for (const Binding* b : block.bindings) {
      const bool is_scalar = ir::IsScalarOp(b->op);
      if (is_scalar && start.IsInvariant(*b)) {
        start.Move(b->result());
        builder().Append(b);
        continue;
      }
      if (IsInvariantChoice(*b, start)) {
        for (const Var* result : b->results) start.Move(result);
        builder().Append(b);
        continue;
      }
      if (b->op == OpCode::kCheck && first && HoistCheck(loop, *b, start)) continue;
      if (is_scalar) start.Define(*b);
      first = first && IsUnseen(*b, start);
      rest.bindings.push_back(b);
    }
    return rest.bindings.size() == block.bindings.size() ? &block : arena()->New(std::move(rest));
  }

  // Stores to nothing but arrays that the iteration makes.
  bool IsUnseen(const Binding& b, const FirstIteration& start) const {
    const Effects effects = EffectsOf(b, roots_);
    return !effects.may_fail && std::all_of(effects.writes.begin(), effects.writes.end(),
                                            [&](const Var* root) { return start.IsInside(root); });
  }

  // A choice between values that are there.
  static bool IsInvariantChoice(const Binding& b, const FirstIteration& start) {
    const auto is_empty = [](const Block* block) { return block->bindings.empty(); };
    if (b.op != OpCode::kIf || !std::all_of(b.blocks.begin(), b.blocks.end(), is_empty))
      return false;
    const VarSet chosen = ir::FreeVars(b);
    return std::none_of(chosen.begin(), chosen.end(),
                        [&](const Var* value) { return start.IsInside(value); });
  }

  // Fails as the first iteration would, where there is one: the place is that iteration's. False
  // where the check is not the same in every iteration but for its place.
  bool HoistCheck(const Binding& loop, const Binding& check, const FirstIteration& start) {
    const size_t place_end = 1 + check.attrs.Int(Attr::kAt);
    Binding copy = check;
    for (size_t k = 0; k < copy.operands.size(); ++k) {
      const bool in_place = k >= 1 && k < place_end;
      if (!start.IsInside(copy.operands[k])) continue;
      if (!in_place || !start.IsKnown(copy.operands[k])) return false;
    }
    for (size_t k = 1; k < place_end; ++k)
      copy.operands[k] = start.Write(builder(), copy.operands[k]);
    copy.operands[0] = builder().Scalar(OpCode::kOr, {copy.operands[0], NeverRuns(loop)});
    builder().Append(arena()->New(std::move(copy)));
    return true;
  }

  Operand NeverRuns(const Binding& loop) {
    if (loop.op == OpCode::kFor || loop.op == OpCode::kLanes) {
      const bool down = loop.op == OpCode::kFor && loop.operands[2].constant().integer < 0;
      return builder().Scalar(down ? OpCode::kLe : OpCode::kGe,
                              {loop.operands[0], loop.operands[1]});
    }
    Operand never = Operand::Bool(false);
    for (size_t axis = 0; axis < loop.blocks[0]->params.size(); ++axis) {
      const Operand empty = builder().Scalar(OpCode::kLe, {loop.operands[axis], Operand::Int(0)});
      never = builder().Scalar(OpCode::kOr, {never, empty});
    }
    return never;
  }

  Roots roots_;
};

}  // namespace

ir::Program HoistInvariants(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Hoister(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
