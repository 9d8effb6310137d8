// Gives parallel loops of one block that take as many trips one cost, the largest of theirs.
//
// Before:
//   parallel for %i in 0 to %n step 1 cost 2560 { ... store %a ... }
//   parallel for %j in 0 to %n step 1 cost 1024 { ... load %a ... }
// After:
//   parallel for %i in 0 to %n step 1 cost 2560 { ... store %a ... }
//   parallel for %j in 0 to %n step 1 cost 2560 { ... load %a ... }
//
// Whether a fork is worth it is decided by a loop's cost. Where one loop is spread over threads and
// the next, somewhat cheaper, is not, what the one made has to come out of the caches of all cores
// into that of one: in a loop over time that takes longer than all the rest.
//
// Assumes: costs and trips are what later passes leave alone.
// Refuses: loops of unknown cost, which are always spread.
#include <algorithm>

#include "ir/mutator.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;

bool HasCost(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == "parallel" &&
         b.attrs.Int(Attr::kCost) > 0;
}

class CostEvener : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  const Block* VisitBlock(const Block* block) override {
    Block evened = *block;
    bool changes = false;
    for (const Binding*& b : evened.bindings) {
      if (!HasCost(*b)) continue;
      const int64_t cost = LargestAmong(*block, *b);
      if (cost == b->attrs.Int(Attr::kCost)) continue;
      Binding dearer = *b;
      dearer.attrs = b->attrs.With(Attr::kCost, cost);
      b = arena()->New(std::move(dearer));
      changes = true;
    }
    return Mutator::VisitBlock(changes ? arena()->New(std::move(evened)) : block);
  }

 private:
  static int64_t LargestAmong(const Block& block, const Binding& loop) {
    int64_t largest = 0;
    for (const Binding* b : block.bindings) {
      if (HasCost(*b) && b->operands == loop.operands)
        largest = std::max(largest, b->attrs.Int(Attr::kCost));
    }
    return largest;
  }
};

}  // namespace

ir::Program EvenCosts(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return CostEvener(program.arena.get()).Run(function);
  });
}

}  // namespace parakeet::passes
