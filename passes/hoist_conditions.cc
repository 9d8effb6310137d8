// Reads and checks in front of a `while` what its condition reads and checks the same every time:
// the first time, it is asked in any case.
//
// Before:
//   while (%i = %a) {
//     %more = lt %i, %e
//     %both = if %more {
//       %ok = lt %k, %n  check %ok, site 0 at (1, 1)  %f = load %x[%k]  %b = lt %i, %f  yield %b
//     } else { yield false }
//     yield %both } do ...
// After:
//   %first = lt %a, %e
//   %f = if %first {
//     %ok = lt %k, %n  check %ok, site 0 at (1, 1)  %f.1 = load %x[%k]  yield %f.1
//   } else { yield 0 }
//   while (%i = %a) {
//     %more = lt %i, %e
//     %both = if %more { %b = lt %i, %f  yield %b } else { yield false }
//     yield %both } do ...
//
// Merges of sorted lists whose ends are elements of an array: `while i < ptr[u + 1] and j < ...`.
//
// Assumes: index form; what is before a check in a condition may be computed before a failure.
// Refuses: arrays that the loop stores to; what is behind a check that stays; what a branch decides
// whose condition is more than scalar code of what the loop begins with.
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/first_iteration.h"
#include "passes/analyses/holds_op.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class ConditionHoister : public ir::Mutator {
 public:
  ConditionHoister(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function) {}

 protected:
  // Inner loops first: what leaves them may then leave this one.
  void Visit(const Binding* b) override {
    const Binding* rewritten = Rewrite(b);
    builder().Append(b->op == OpCode::kWhile ? Hoist(*rewritten) : rewritten);
  }

 private:
  const Binding* Hoist(const Binding& loop) {
    FirstIteration start(loop);
    const ir::VarSet writes = EffectsOf(loop, roots_).writes;
    ir::Builder before = builder().Nested();
    bool first = true;
    const Block* condition = Take(*loop.blocks[0], start, writes, before, first);
    if (condition == loop.blocks[0]) return &loop;
    for (const Binding* taken : before.bindings()) builder().Append(taken);
    Binding copy = loop;
    copy.blocks[0] = condition;
    return arena()->New(std::move(copy));
  }

  // Moves to `before` what the block reads and checks of what is known before the loop, and the
  // scalar code of that; the same block where it does neither. `first` as long as nothing stays
  // that may fail or be seen.
  const Block* Take(const Block& block, FirstIteration& start, const ir::VarSet& writes,
                    ir::Builder& before, bool& first) {
    const FirstIteration unchanged = start;
    Block rest = block;
    rest.bindings.clear();
    bool is_worth = false;
    for (const Binding* b : block.bindings) {
      if (first && Moves(*b, start, writes)) {
        is_worth |= !ir::IsScalarOp(b->op);
        for (const Var* result : b->results) start.Move(result);
        before.Append(b);
        continue;
      }
      const bool is_branch = first && b->op == OpCode::kIf && start.IsKnown(b->operands[0]);
      const Binding* left = is_branch ? TakeFromBranch(*b, start, writes, before, first) : b;
      is_worth |= left != b;
      if (ir::IsScalarOp(left->op)) start.Define(*left);
      first = first && EffectsOf(*left, roots_).IsPure();
      rest.bindings.push_back(left);
    }
    if (is_worth) return arena()->New(std::move(rest));
    before.bindings().clear();
    start = unchanged;
    return &block;
  }

  bool Moves(const Binding& b, const FirstIteration& start, const ir::VarSet& writes) const {
    if (!start.IsInvariant(b)) return false;
    if (b.op == OpCode::kLoad) return !Intersects(roots_.Of(b.operands[0].var()), writes);
    return b.op == OpCode::kCheck || ir::IsScalarOp(b.op);
  }

  // The branch without what is moved of it, under a branch of its own.
  const Binding* TakeFromBranch(const Binding& branch, FirstIteration& start,
                                const ir::VarSet& writes, ir::Builder& before, bool& first) {
    Binding copy = branch;
    bool stays_first = true;
    for (size_t side = 0; side < 2; ++side) {
      ir::Builder taken = before.Nested();
      bool is_first = true;
      copy.blocks[side] = Take(*branch.blocks[side], start, writes, taken, is_first);
      stays_first &= is_first;
      if (copy.blocks[side] == branch.blocks[side]) continue;
      const Operand decides = start.Write(before, branch.operands[0]);
      AppendGuarded(decides, side, *copy.blocks[side], std::move(taken.bindings()), before);
    }
    first = stays_first;
    return copy.blocks == branch.blocks ? &branch : arena()->New(std::move(copy));
  }

  // Appends the bindings under the condition; what `reader` reads of them is what a branch yields,
  // 0 where it is not taken.
  void AppendGuarded(const Operand& decides, size_t side, const Block& reader,
                     std::vector<const Binding*> bindings, ir::Builder& before) {
    std::vector<const Var*> results;
    std::vector<Operand> yielded, zeros;
    const ir::VarSet read = ir::FreeVars(reader);
    for (const Binding* b : bindings) {
      for (const Var* result : b->results) {
        if (!read.contains(result)) continue;
        results.push_back(result);
        yielded.push_back(result);
        zeros.push_back(ir::ZeroOf(result->type.dtype()));
      }
    }
    const Block* blocks[2];
    blocks[side] = ir::CloneBlock(arena(), Block{{}, std::move(bindings), std::move(yielded)});
    blocks[1 - side] = before.Nested().Finish({}, std::move(zeros));
    before.Emit(OpCode::kIf, std::move(results), {decides}, {}, {blocks[0], blocks[1]});
  }

  Roots roots_;
};

}  // namespace

ir::Program HoistConditions(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HoldsOp(*function->body, OpCode::kWhile)) return function;
    return ConditionHoister(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
