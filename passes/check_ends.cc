// Asks of the ends of ranges, in front of a loop, what all of its iterations check, where that
// follows the indexes up or down; what then runs has no checks.
//
// Before:
//   for %i in 0 to %k step 1 {
//     %a = mul %i, %step  %p = add %a, %from
//     %ok = lt %p, %n  check %ok, site 0 with (%p, %n)
//     ... load %x[%p] ... }
// After:
//   %first = lt %from, %n
//   %last = sub %k, 1  %b = mul %last, %step  %q = add %b, %from  %fits = lt %q, %n
//   ... and that no sum of them wraps around ...
//   %all = and %first, %fits
//   if %all {
//     for %i in 0 to %k step 1 { ... load %x[%p] ... }
//   } else {
//     for serial %i in 0 to %k step 1 { ... as it was ... }
//   } {likely = 1}
//
// Of a place that a byte says, `table[img[i, j]]`, it is asked whether the table has all 256.
// A branch that bounds an index, `if %w <= %j`, narrows its range for the checks in it; one that
// asks data leaves it, and the rest is no rare case. What the loop reads first, at a place that it
// does not change, is read in front of it.
//
// What assume_shapes and prove_bounds leave is made of numbers that are known in front of the loop,
// and no sooner: the lengths of a transform's steps, an element.
//
// Assumes: index form; behind prove-bounds, and before what checks are in the way of.
// Refuses: loops with other checks, or that may fail otherwise; those inside loops whose iterations
// are independent, where lanes would not take the branch; for threads of a GPU, to which a check is
// a comparison, loops whose stores behind an error would not show, and branches that ask data.
#include <algorithm>

#include "ir/mutator.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/holds_op.h"
#include "passes/analyses/loop_independence.h"
#include "passes/analyses/nest_ends.h"
#include "passes/lowering/serial_loops.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// A loop without its checks: no index of it is counted from the end.
class Unchecker : public ir::Mutator {
 public:
  Unchecker(ir::Arena* arena, const std::vector<const Binding*>& selections) : Mutator(arena) {
    for (const Binding* selection : selections)
      Replace(selection->result(), selection->operands[2]);
  }
  using Mutator::Rewrite;

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kCheck) Mutator::Visit(b);
  }
};

class EndsChecker : public ir::Mutator {
 public:
  EndsChecker(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        independence_(function),
        definitions_(ir::Definitions(*function.body)),
        context_(context),
        may_overlap_(!function.entry || function.may_overlap) {
    for (const Var* size : function.Sizes()) sizes_.insert(size);
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kFor || !b->attrs.Text(Attr::kKind).empty()) return Mutator::Visit(b);
    const bool may = !context_.options.kernels || independence_.ShownBehindErrors(*b) != nullptr;
    const std::vector<const Binding*> read = may ? FirstRead(*b) : std::vector<const Binding*>();
    const Binding& rest = read.empty() ? *b : Without(*b, read);
    NestEnds ends(rest, definitions_, sizes_);
    if (may && FindChecks(*rest.blocks[0], ends) == Found::kAll) {
      ReadBefore(*b, read);
      return Write(rest, ends);
    }
    if (independence_.WhyDependent(*b).empty()) return builder().Append(b);
    Mutator::Visit(b);
  }

 private:
  enum class Found { kNone, kAll, kOthers };

  // Whether the ends decide what the block checks.
  Found FindChecks(const Block& block, NestEnds& ends) const {
    Found found = Found::kNone;
    for (const Binding* b : block.bindings) {
      if (!EffectsOf(*b, independence_.roots()).may_fail) continue;
      Found inside = Found::kOthers;
      if (b->op == OpCode::kCheck) {
        if (ends.Add(b->operands[0])) inside = Found::kAll;
      } else if (b->op == OpCode::kFor || ir::InfoOf(b->op).format == ir::OpFormat::kIndices) {
        inside = FindChecks(*b->blocks[0], ends);
      } else if (b->op == OpCode::kIf) {
        inside = FindInBranch(*b, ends);
      }
      if (inside != Found::kAll) return Found::kOthers;
      found = Found::kAll;
    }
    return found;
  }

  Found FindInBranch(const Binding& branch, NestEnds& ends) const {
    if (EffectsOf(*branch.blocks[1], independence_.roots()).may_fail) return Found::kOthers;
    const bool is_narrower = ends.Enter(*branch.blocks[0], branch.operands[0]);
    if (!is_narrower && context_.options.kernels) return Found::kOthers;
    if (!is_narrower) ends.AskOfData();
    const Found found = FindChecks(*branch.blocks[0], ends);
    ends.Leave(*branch.blocks[0]);
    return found;
  }

  // Integers that each iteration reads, before anything may fail, where none stores; and casts.
  std::vector<const Binding*> FirstRead(const Binding& loop) const {
    const Block& body = *loop.blocks[0];
    const ir::VarSet writes = EffectsOf(loop, independence_.roots()).writes;
    ir::VarSet inside = ir::DefinedVars(body);
    std::vector<const Binding*> read;
    for (const Binding* b : body.bindings) {
      if (EffectsOf(*b, independence_.roots()).may_fail) break;
      const bool is_read = b->op == OpCode::kLoad && IsKept(b->operands[0].var(), writes);
      const bool is_fixed =
          std::none_of(b->operands.begin(), b->operands.end(), [&](const Operand& operand) {
            return operand.IsVar() && inside.contains(operand.var());
          });
      const bool is_cast = b->op == OpCode::kCast && !read.empty() &&
                           b->operands[0] == Operand(read.back()->result());
      if (!is_fixed || !(is_read || is_cast) || !ir::IsInteger(b->result()->type.dtype())) continue;
      read.push_back(b);
      inside.erase(b->result());
    }
    return read;
  }

  bool IsKept(const Var* array, const ir::VarSet& writes) const {
    const Roots& roots = independence_.roots();
    return !Intersects(writes, roots.Of(array)) && (!may_overlap_ || roots.IsFresh(array));
  }

  const Binding& Without(const Binding& loop, const std::vector<const Binding*>& read) {
    Block body = *loop.blocks[0];
    std::erase_if(body.bindings, [&](const Binding* b) {
      return std::find(read.begin(), read.end(), b) != read.end();
    });
    Binding rest = loop;
    rest.blocks[0] = arena()->New(std::move(body));
    return *arena()->New(std::move(rest));
  }

  // Where the loop runs at all: otherwise the places may not be there.
  void ReadBefore(const Binding& loop, const std::vector<const Binding*>& read) {
    if (read.empty()) return;
    const bool rises = loop.operands[2].constant().integer > 0;
    const Operand runs =
        builder().Scalar(rises ? OpCode::kLt : OpCode::kGt, {loop.operands[0], loop.operands[1]});
    std::vector<const Var*> results;
    Block before, otherwise;
    before.bindings = read;
    for (const Binding* b : read) {
      results.push_back(b->result());
      before.results.emplace_back(b->result());
      otherwise.results.push_back(ir::ZeroOf(b->result()->type.dtype()));
    }
    const Block* cloned = ir::CloneBlock(arena(), before);
    builder().Emit(OpCode::kIf, results, {runs}, {}, {cloned, arena()->New(std::move(otherwise))});
  }

  void Write(const Binding& loop, NestEnds& ends) {
    const Operand all = ends.Write(builder());
    if (all.IsInt(0)) return builder().Append(&loop);
    context_.Note(loop.span, "its checks are made at its ends first", Topic::kThreads,
                  Verdict::kDone);
    // Tables for what bytes say may well be shorter than that, and data may keep a branch from
    // where its ends would fail: the rest is no rare case then.
    const Binding& checked = ends.AsksOfData() ? loop : *SerialLoops(arena()).Turn(loop);
    const Block* unchecked = Version(*Unchecker(arena(), ends.selections()).Rewrite(&loop));
    builder().Emit(OpCode::kIf, loop.results, {all}, {{Attr::kLikely, int64_t{1}}},
                   {unchecked, Version(checked)});
  }

  // Every definition is made new.
  const Block* Version(const Binding& loop) {
    std::vector<Operand> results(loop.results.begin(), loop.results.end());
    return ir::CloneBlock(arena(), Block{{}, {&loop}, std::move(results)});
  }

  const LoopIndependence independence_;
  const ir::DefinitionMap definitions_;
  ir::VarSet sizes_;
  Context& context_;
  const bool may_overlap_;  // Arguments, or two elements of one.
};

}  // namespace

ir::Program CheckEnds(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    const ir::Block& body = *function->body;
    if (!HoldsOp(body, OpCode::kFor) || !HoldsOp(body, OpCode::kCheck)) return function;
    return EndsChecker(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
