// Gives temporary arrays back as soon as nothing reads them any more.
//
// Before:
//   %t: [n]f64 = alloc (%n)
//   ... the last read of %t
//   ... more
// After:
//   %t: [n]f64 = alloc (%n)
//   ... the last read of %t
//   free %t
//   ... more
//
// Assumes: scheduled IR; an error or the end of the call frees what is still held.
// Refuses: arrays that leave their block, by a result, a loop's carried value or a store of none
// of theirs to tell;
// the call frees those, or its caller owns them.
#include <unordered_map>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class MemoryPlanner : public ir::Mutator {
 public:
  MemoryPlanner(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function) {}

 protected:
  const Block* VisitBlock(const Block* block) override {
    std::unordered_map<const Binding*, std::vector<const Var*>> ending = Endings(*block);
    const Block* rewritten = Mutator::VisitBlock(block);
    if (ending.empty()) return rewritten;
    // Visiting keeps the number and order of a block's bindings.
    Block copy = *rewritten;
    copy.bindings.clear();
    for (size_t at = 0; at < block->bindings.size(); ++at) {
      copy.bindings.push_back(rewritten->bindings[at]);
      for (const Var* array : ending[block->bindings[at]]) copy.bindings.push_back(FreeOf(array));
    }
    return arena()->New(std::move(copy));
  }

 private:
  const Binding* FreeOf(const Var* array) {
    return arena()->New(Binding{OpCode::kFree, {}, {array}, {}, {}, {}});
  }

  // The arrays allocated in the block that do not leave it, by the last binding that may touch
  // them.
  std::unordered_map<const Binding*, std::vector<const Var*>> Endings(const Block& block) {
    std::unordered_map<const Var*, const Binding*> last;
    std::vector<const Var*> allocated;
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kAlloc) {
        allocated.push_back(b->result());
        last[b->result()] = b;
      }
      for (const Var* used : ir::FreeVars(*b)) {
        if (!used->type.IsArray()) continue;
        for (const Var* root : roots_.Of(used)) {
          if (last.contains(root)) last[root] = b;
        }
      }
    }
    for (const Operand& result : block.results) {
      if (!result.IsVar() || !result.var()->type.IsArray()) continue;
      for (const Var* root : roots_.Of(result.var())) last.erase(root);
    }
    std::unordered_map<const Binding*, std::vector<const Var*>> endings;
    for (const Var* array : allocated) {
      if (last.contains(array)) endings[last[array]].push_back(array);
    }
    return endings;
  }

  Roots roots_;
};

}  // namespace

ir::Program PlanMemory(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return MemoryPlanner(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
