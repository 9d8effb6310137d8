// Puts a loop that cannot run in parallel inside the index spaces that it goes through, where each
// of its elements depends on itself alone.
//
// Before:
//   for %t in 0 to %T step 1 {
//     foreach (%i) in (%n) { %a = load %x[%i]  %b = mul %a, %a  store %x[%i], %b }
//     foreach (%j) in (%n) { %c = load %x[%j]  %d = add %c, 1.0  store %x[%j], %d } }
// After:
//   foreach (%i) in (%n) {
//     for %t in 0 to %T step 1 { %a = load %x[%i]  ...  store %x[%i], %b  %c = load %x[%i]  ... } }
//
// An array is then gone through once, in registers or cache, and not at every step. An array that a
// step makes for the next one, and arrays that it makes for itself, become elements.
//
// Assumes: index form, behind fusion; what it joins is cleaned by hoist-invariants and
// eliminate_common_subexpressions.
// What a step hands on to the next under another name (p, q = q, f(p, q)) is carried on likewise,
// where the loop runs so often that all it leaves is made by it.
//
// Refuses: what may raise, and calls; arrays that only change places; steps that hold anything but
// maps over one index space and cheap scalars; arrays of which a step writes what another element
// reads, or that have two names; steps whose memory is next to each other within the step, and far
// apart from one of many steps to the next.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/find_steps.h"
#include "passes/analyses/linear_forms.h"
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

// Writes a loop inside its index space. What it carries, what a step makes for itself and the
// elements that it holds are scalars.
class InsideWriter : public ir::Mutator {
 public:
  InsideWriter(ir::Arena* arena, const Binding& loop, const Steps& steps)
      : Mutator(arena), loop_(loop), body_(*loop.blocks[0]), steps_(steps) {}

  // The space around the loop, which makes `results`.
  const Binding* Write(const std::vector<const Var*>& results) {
    builder().set_span(loop_.span);
    for (const Var* index : steps_.indexes()) {
      indexes_.push_back(builder().NewVar(ir::DType::kI64, index->hint));
      Replace(index, indexes_.back());
    }
    const bool carries = !loop_.results.empty();
    std::vector<Operand> made;
    if (carries) {
      made = WriteLoop();
    } else {
      WriteGuarded();
    }
    const Block* element = builder().Finish(indexes_, std::move(made));
    return arena()->New(Binding{carries ? OpCode::kImap : OpCode::kForeach,
                                results,
                                steps_.extents,
                                {element},
                                steps_.order,
                                loop_.span});
  }

 protected:
  void Visit(const Binding* b) override {
    if (b->op == OpCode::kIf && StoresHeld(*b)) return WriteIf(*b);
    const bool accesses = b->op == OpCode::kLoad || b->op == OpCode::kStore;
    const auto element = accesses ? elements_.find(b->operands[0].var()) : elements_.end();
    if (element == elements_.end()) return Mutator::Visit(b);
    if (b->op == OpCode::kLoad) return Replace(b->result(), element->second);
    element->second = Apply(b->operands.back());
  }

 private:
  // The elements that are held are read and written where the loop runs at all.
  void WriteGuarded() {
    if (steps_.held.empty()) {
      WriteLoop();
      return;
    }
    const Operand runs = RunsAtAll(builder(), loop_);
    ir::Builder around = std::exchange(builder(), builder().Nested());
    std::vector<std::vector<Operand>> places;
    for (const Steps::Held& held : steps_.held) {
      places.emplace_back();
      for (const LinearForm& form : held.place) places.back().push_back(ValueOf(form));
      elements_[held.array] = builder().Load(Operand(held.array), places.back());
    }
    const std::vector<Operand> last = WriteLoop();
    for (size_t k = 0; k < last.size(); ++k)
      builder().Store(Operand(steps_.held[k].array), places[k], last[k]);
    const Block* then = builder().Finish({}, {});
    builder() = std::move(around);
    builder().Emit(OpCode::kIf, {}, {runs}, {}, {then, builder().Nested().Finish({}, {})});
  }

  static bool IsNest(const Binding& b) { return b.op == OpCode::kImap || b.op == OpCode::kForeach; }

  // Appends the loop over what it carries and holds, and returns the last of each.
  std::vector<Operand> WriteLoop() {
    Binding loop{OpCode::kFor, {}, {}, {}, loop_.attrs.Without(ir::Attr::kWhy), loop_.span};
    loop.operands.assign(loop_.operands.begin(), loop_.operands.begin() + 3);
    Block steps{{body_.params[0]}, {}, {}};
    const auto carry = [&](const Var* array, const Operand& init) {
      const ir::Type type(array->type.dtype());
      steps.params.push_back(builder().NewVar(type, array->hint));
      loop.operands.push_back(init);
      loop.results.push_back(builder().NewVar(type, array->hint));
      elements_[array] = steps.params.back();
    };
    for (size_t k = 0; k < loop_.results.size(); ++k)
      carry(body_.params[1 + k], builder().Load(loop_.operands[3 + k], Indexes()));
    for (const Steps::Held& held : steps_.held) carry(held.array, elements_.at(held.array));
    ir::Builder around = std::exchange(builder(), builder().Nested());
    for (const Binding* b : body_.bindings) IsNest(*b) ? WriteNest(*b) : builder().Append(b);
    for (const Operand& result : body_.results) steps.results.push_back(elements_.at(result.var()));
    for (const Steps::Held& held : steps_.held) steps.results.push_back(elements_.at(held.array));
    steps.bindings = builder().bindings();
    builder() = std::move(around);
    loop.blocks = {arena()->New(std::move(steps))};
    builder().Append(arena()->New(loop));
    return {loop.results.begin(), loop.results.end()};
  }

  std::vector<Operand> Indexes() const { return {indexes_.begin(), indexes_.end()}; }

  Operand ValueOf(const LinearForm& form) {
    return Written(builder(), form, [&](const Var* var) { return Apply(Operand(var)); });
  }

  // The nest's body at the indexes around.
  void WriteNest(const Binding& nest) {
    const Block& body = *nest.blocks[0];
    for (size_t k = 0; k < body.params.size(); ++k) Replace(body.params[k], indexes_[k]);
    for (const Binding* b : body.bindings) Visit(b);
    for (size_t k = 0; k < nest.results.size(); ++k)
      elements_[nest.results[k]] = Apply(body.results[k]);
  }

  bool StoresHeld(const Binding& b) const {
    bool stores = false;
    for (const Block* block : b.blocks) {
      ir::ForEachBinding(*block, [&](const Binding& inner) {
        stores |= inner.op == OpCode::kStore && elements_.contains(inner.operands[0].var());
      });
    }
    return stores;
  }

  // The branch, which yields what it leaves of the elements that are held.
  void WriteIf(const Binding& b) {
    Binding branch{OpCode::kIf, b.results, Apply(b.operands), {}, b.attrs, b.span};
    const auto before = elements_;
    for (const Block* block : b.blocks) {
      elements_ = before;
      ir::Builder around = std::exchange(builder(), builder().Nested());
      for (const Binding* inner : block->bindings) Visit(inner);
      std::vector<Operand> results = Apply(block->results);
      for (const Steps::Held& held : steps_.held) results.push_back(elements_.at(held.array));
      branch.blocks.push_back(builder().Finish({}, std::move(results)));
      builder() = std::move(around);
    }
    elements_ = before;
    for (const Steps::Held& held : steps_.held) {
      const Var* left = builder().NewVar(ir::Type(held.array->type.dtype()), held.array->hint);
      branch.results.push_back(left);
      elements_[held.array] = left;
    }
    builder().Append(arena()->New(std::move(branch)));
  }

  const Binding& loop_;
  const Block& body_;
  const Steps& steps_;
  std::vector<const Var*> indexes_;
  std::unordered_map<const Var*, Operand> elements_;  // of arrays: what they are now
};

class LoopInterchanger : public ir::Mutator {
 public:
  LoopInterchanger(ir::Arena* arena, const ir::Function& function, Context& context)
      : Mutator(arena),
        roots_(function),
        forms_(function),
        may_overlap_(function.may_overlap),
        own_inits_(function),
        context_(context) {}

 protected:
  void Visit(const Binding* b) override {
    const bool may_move =
        b->op == OpCode::kFor && b->attrs.Text(ir::Attr::kKind).empty() && !may_overlap_;
    if (!may_move || kept_.contains(b)) return Mutator::Visit(b);
    Steps steps;
    const std::string reason = FindSteps(*b, roots_, forms_, steps);
    if (!reason.empty()) {
      if (!steps.nests.empty()) context_.Note(b->span, "steps stay outside: " + reason);
      return Mutator::Visit(b);
    }
    context_.Note(b->span, "each element goes through all steps by itself", Topic::kNests,
                  Verdict::kDone);
    InsideWriter writer(arena(), *b, steps);
    if (own_inits_.HasAll(*b, steps.order)) return Mutator::Visit(writer.Write(b->results));
    WriteUnlessNone(*b, steps, writer);
  }

 private:
  // A loop that does not run gives what it began with, the very arrays.
  void WriteUnlessNone(const Binding& loop, const Steps& steps, InsideWriter& writer) {
    const Operand runs = RunsAtLeast(builder(), loop, steps.until_made);
    if (runs == Operand::Bool(true)) return Mutator::Visit(writer.Write(loop.results));
    std::vector<const Var*> made;
    for (const Var* result : loop.results)
      made.push_back(builder().NewVar(result->type, result->hint));
    ir::Builder then = builder().Nested();
    then.Append(writer.Write(made));
    Mutator::Visit(arena()->New(
        Binding{OpCode::kIf,
                loop.results,
                {runs},
                {then.Finish({}, {made.begin(), made.end()}), WithoutSteps(loop, steps.until_made)},
                {},
                loop.span}));
  }

  // What so few steps leave that some of it is what the loop began with.
  const Block* WithoutSteps(const Binding& loop, int64_t until_made) {
    ir::Builder otherwise = builder().Nested();
    if (until_made == 1)
      return otherwise.Finish({}, {loop.operands.begin() + 3, loop.operands.end()});
    Binding again = loop;
    for (const Var*& result : again.results) result = builder().NewVar(result->type, result->hint);
    again.blocks = {ir::CloneBlock(arena(), *loop.blocks[0])};
    const Binding* kept = arena()->New(std::move(again));
    kept_.insert(kept);
    otherwise.Append(kept);
    return otherwise.Finish({}, {kept->results.begin(), kept->results.end()});
  }

  Roots roots_;
  WrappingForms forms_;
  bool may_overlap_;
  OwnInits own_inits_;
  std::unordered_set<const Binding*> kept_;  // Loops that stay as they are.
  Context& context_;
};

}  // namespace

ir::Program InterchangeLoops(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LoopInterchanger(program.arena.get(), *function, context).Run(function);
  });
}

}  // namespace parakeet::passes
