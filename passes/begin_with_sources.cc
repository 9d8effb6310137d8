// Lets a loop that only reads the array it carries, and makes the next one, begin with an array
// that is there, where it began with a copy of that.
//
// Before:
//   %c: [n]f64 = imap (%i) in (%n) { %a = load %u[%i]  yield %a }
//   %r: [n]f64 = for %t in 0 to %k step 1 (%x: [n]f64 = %c) {
//     %y: [n]f64 = imap (%j) in (%n) { ... load %x[%p] ...  yield %s }
//     yield %y }
// After:
//   %runs = lt 0, %k
//   %r: [n]f64 = if %runs {
//     %s: [n]f64 = for %t in 0 to %k step 1 (%x: [n]f64 = %u) { ... }
//     yield %s } else {
//     %c: [n]f64 = imap (%i) in (%n) { %a = load %u[%i]  yield %a }
//     yield %c }
//
// `u = u.copy()` and a time loop, whose step makes `u` anew: on a GPU that is one pass over memory
// less. Two arrays that take turns on a core are both stored to, and begin with the copy.
//
// Assumes: index form, behind renew-arrays, which lets a step make an array anew, and behind
// place-results, which rather lets it write over the one that it has read.
// Refuses: copies that something else reads; sources that lie otherwise than in C order, or at any
// byte, or that are stored to before the loop ends; arrays of which the loop does more than read
// elements, or that change their shapes.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_copies.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/own_inits.h"
#include "passes/lowering/loop_counts.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr size_t kFirstInit = 3;  // Of a loop's operands.

// A copy that a loop begins with, by the operand that it is.
struct Begin {
  size_t operand;
  const Binding* copy;
  const Var* source;
};

class Beginner : public ir::Mutator {
 public:
  Beginner(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        inits_(function),
        patterns_(function),
        context_(context),
        may_overlap_(!function.entry || function.may_overlap) {
    for (const ir::Param& param : function.params) {
      if (!param.aligned) unaligned_.insert(param.var);
    }
    Find(*function.body);
  }

  bool has_found() const { return !begins_.empty(); }

 protected:
  void Visit(const Binding* b) override {
    if (copies_.contains(b)) return;
    const auto found = begins_.find(b);
    found == begins_.end() ? Mutator::Visit(b) : Write(*Rewrite(b), found->second);
  }

 private:
  void Find(const Block& block) {
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const Binding& b = *block.bindings[at];
      for (const Block* inner : b.blocks) Find(*inner);
      if (b.op != OpCode::kFor || !KeepsShapes(b)) continue;
      for (size_t k = kFirstInit; k < b.operands.size(); ++k) FindBegin(block, at, k);
    }
  }

  static bool KeepsShapes(const Binding& loop) {
    for (size_t k = 0; k < loop.results.size(); ++k) {
      if (ir::TypeOf(loop.operands[kFirstInit + k]) != loop.results[k]->type) return false;
    }
    return true;
  }

  void FindBegin(const Block& block, size_t at, size_t operand) {
    const Binding& loop = *block.bindings[at];
    const Operand& init = loop.operands[operand];
    const int made = init.IsVar() && init.var()->type.IsArray() ? MakerOf(block, init.var()) : -1;
    if (made < 0) return;
    const Binding& copy = *block.bindings[made];
    const bool is_fortran = copy.attrs.Int(ir::Attr::kFortran) != 0;
    const Var* source = is_fortran ? nullptr : CopiedWhole(copy);
    if (source == nullptr || !inits_.Has(loop, init, copy.attrs) || !MayBeRead(source)) return;
    const size_t carried = operand - kFirstInit;
    const Block& body = *loop.blocks[0];
    if (!OnlyLoads(body, body.params[1 + carried]) || !IsMadeIn(body, body.results[carried]))
      return;
    for (size_t k = made + 1; k <= at; ++k) {
      if (MayStoreTo(*block.bindings[k], source)) return;
    }
    begins_[&loop].push_back({operand, &copy, source});
    copies_.insert(&copy);
  }

  bool MayBeRead(const Var* source) const {
    return patterns_.LiesInC(source) && !Intersects(roots_.Of(source), unaligned_);
  }

  bool IsMadeIn(const Block& body, const Operand& result) const {
    if (!result.IsVar()) return false;
    const VarSet inside = ir::DefinedVars(body);
    const VarSet& roots = roots_.Of(result.var());
    return std::all_of(roots.begin(), roots.end(),
                       [&](const Var* root) { return inside.contains(root); });
  }

  bool MayStoreTo(const Binding& b, const Var* source) const {
    const VarSet writes = EffectsOf(b, roots_).writes;
    if (Intersects(writes, roots_.Of(source))) return true;
    return may_overlap_ && !roots_.IsFresh(source) &&
           std::any_of(writes.begin(), writes.end(),
                       [&](const Var* root) { return !roots_.IsFresh(root); });
  }

  void Write(const Binding& loop, const std::vector<Begin>& begins) {
    Binding running = loop;
    std::vector<Operand> first(loop.operands.begin() + kFirstInit, loop.operands.end());
    ir::Builder some = builder().Nested(), none = builder().Nested();
    for (const Begin& begin : begins) {
      context_.Note(begin.copy->span,
                    "where the loop, which begins with what is copied, has no steps",
                    Topic::kMemory, Verdict::kDone);
      running.operands[begin.operand] = Apply(Operand(begin.source));
      const Binding& copy = *Rewrite(begin.copy);
      none.Append(&copy);
      first[begin.operand - kFirstInit] = copy.result();
    }
    const Operand runs = RunsAtAll(builder(), loop);
    if (runs == Operand::Bool(true)) return builder().Append(arena()->New(std::move(running)));
    std::vector<Operand> last;
    for (const Var*& result : running.results) {
      result = some.NewVar(result->type, result->hint);
      last.push_back(result);
    }
    some.Append(arena()->New(std::move(running)));
    builder().Emit(OpCode::kIf, loop.results, {runs}, {},
                   {some.Finish({}, std::move(last)), none.Finish({}, std::move(first))});
  }

  Roots roots_;
  OwnInits inits_;
  AccessPatterns patterns_;
  Context& context_;
  bool may_overlap_;
  VarSet unaligned_;
  std::unordered_map<const Binding*, std::vector<Begin>> begins_;
  std::unordered_set<const Binding*> copies_;
};

bool HoldsCarryingLoops(const Block& body) {
  bool holds = false;
  ir::ForEachBinding(body, [&](const Binding& b) {
    holds |= b.op == OpCode::kFor && std::any_of(b.results.begin(), b.results.end(),
                                                 [](auto* r) { return r->type.IsArray(); });
  });
  return holds;
}

}  // namespace

ir::Program BeginWithSources(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HoldsCarryingLoops(*function->body)) return function;
    Beginner beginner(program.arena.get(), *function, context);
    return beginner.has_found() ? beginner.Run(function) : function;
  });
}

}  // namespace parakeet::passes
