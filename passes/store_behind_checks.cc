// Stores behind the checks of an iteration what it makes: lanes may then check all of theirs
// before anything is stored.
//
// Before:
//   foreach (%i) in (%n) {
//     %p = lt %a, 256  check %p, site 0  store %r[%i, 0], %a
//     %q = lt %b, 256  check %q, site 1  store %r[%i, 1], %b }
// After:
//   foreach (%i) in (%n) {
//     %p = lt %a, 256  check %p, site 0  %q = lt %b, 256  check %q, site 1
//     store %r[%i, 0], %a  store %r[%i, 1], %b }
//
// Assumes: index form. Nobody sees behind an error what an array holds that the function has made.
// Refuses: arrays that the function is given; stores that something reads before the last check, or
// that are not all in the iteration itself.
#include <algorithm>

#include "ir/mutator.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;

class StoreMover : public ir::Mutator {
 public:
  StoreMover(ir::Arena* arena, const ir::Function& function) : Mutator(arena), roots_(function) {}

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kForeach || !IsBetter(*b->blocks[0])) return Mutator::Visit(b);
    Binding moved = *b;
    moved.blocks = {arena()->New(Moved(*b->blocks[0]))};
    Mutator::Visit(arena()->New(std::move(moved)));
  }

 private:
  bool IsMovable(const Binding& b) const {
    return b.op == OpCode::kStore && roots_.IsFresh(b.operands[0].var());
  }

  // True where the first of all stores may come behind the last check.
  bool IsBetter(const Block& body) const {
    const auto& bindings = body.bindings;
    const auto is_check = [](const Binding* b) { return b->op == OpCode::kCheck; };
    const auto is_store = [](const Binding* b) { return b->op == OpCode::kStore; };
    const auto last = std::find_if(bindings.rbegin(), bindings.rend(), is_check).base();
    const auto first = std::find_if(bindings.begin(), last, is_store);
    if (first == last) return false;
    ir::VarSet stored;
    return std::all_of(first, last, [&](const Binding* b) {
      const Effects effects = EffectsOf(*b, roots_);
      if (Intersects(effects.reads, stored)) return false;
      if (!IsMovable(*b)) return effects.writes.empty();
      stored.insert(effects.writes.begin(), effects.writes.end());
      return true;
    });
  }

  // Stores stay in order among themselves.
  static Block Moved(const Block& body) {
    Block moved = body;
    const auto last = std::find_if(moved.bindings.rbegin(), moved.bindings.rend(),
                                   [](const Binding* b) { return b->op == OpCode::kCheck; });
    std::stable_partition(moved.bindings.begin(), last.base(),
                          [](const Binding* b) { return b->op != OpCode::kStore; });
    return moved;
  }

  const Roots roots_;
};

}  // namespace

ir::Program StoreBehindChecks(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return StoreMover(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
