// Loads in front of a loop what a branch in it reads at a place that is there whatever happens, the
// same in every iteration: lanes then load it once, and not under the branch's mask each time.
//
// Before:
//   imap (%i) in (%n) {
//     %s = for %j in 0 to %n step 1 (%t = 0.0) {
//       %same = eq %j, %i
//       %u = if %same { yield %t } else { %a = load %x[%i]  ...  yield %v }
//       yield %u }
//     yield %s }
// After:
//   imap (%i) in (%n) {
//     %a = load %x[%i]
//     %s = for %j in 0 to %n step 1 (%t = 0.0) { ... }
//     yield %s }
//
// Sums over all other bodies, neighbours other than the point itself: `if j == i: continue`.
//
// Assumes: index form, behind all that looks for reductions and contractions.
// Refuses: places that are not indexes of loops over the array's own axes, or numbers below a known
// length; arrays that the loop stores to; more than kMostLoads of one loop.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/known_lengths.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

constexpr size_t kMostLoads = 32;  // What registers do not hold is read again from the stack.

bool HasIndices(const Binding& b) { return InfoOf(b.op).format == ir::OpFormat::kIndices; }

class EarlyLoader : public ir::Mutator {
 public:
  EarlyLoader(ir::Arena* arena, const ir::Function& function, const Options& options)
      : Mutator(arena), roots_(function), lengths_(function, options) {}

 protected:
  // Outer loops first: what leaves them is no load of an inner one.
  void Visit(const Binding* b) override {
    if (moved_.contains(b)) return;
    const bool repeats = HasIndices(*b) || b->op == OpCode::kFor || b->op == OpCode::kWhile;
    if (repeats) LoadBefore(*b);
    NameExtents(*b);
    builder().Append(Rewrite(b));
  }

 private:
  // Indexes that are places of an axis of that size.
  void NameExtents(const Binding& b) {
    if (HasIndices(b)) {
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis)
        extents_.emplace(b.blocks[0]->params[axis], b.operands[axis]);
    }
    const bool counts_up = b.op == OpCode::kFor && b.operands[0].IsConstant() &&
                           b.operands[0].constant().integer >= 0 &&
                           b.operands[2].constant().integer > 0;
    if (counts_up) extents_.emplace(b.blocks[0]->params[0], b.operands[1]);
  }

  void LoadBefore(const Binding& loop) {
    std::vector<const Binding*> loads;
    const VarSet inside = DefinedIn(loop);
    const VarSet writes = EffectsOf(loop, roots_).writes;
    for (const Block* block : loop.blocks) Find(*block, false, inside, writes, &loads);
    if (loads.empty() || loads.size() > kMostLoads) return;
    std::vector<const Binding*> made;
    moved_.insert(loads.begin(), loads.end());
    for (const Binding* load : loads) {
      const auto same = std::find_if(made.begin(), made.end(), [&](const Binding* other) {
        return other->operands == load->operands;
      });
      if (same != made.end()) {
        Replace(load->result(), (*same)->result());
        continue;
      }
      made.push_back(load);
      builder().Append(Rewrite(load));
    }
  }

  static VarSet DefinedIn(const Binding& loop) {
    VarSet inside;
    for (const Block* block : loop.blocks) inside.merge(ir::DefinedVars(*block));
    return inside;
  }

  void Find(const Block& block, bool in_branch, const VarSet& inside, const VarSet& writes,
            std::vector<const Binding*>* loads) const {
    for (const Binding* b : block.bindings) {
      const bool is_load = in_branch && b->op == OpCode::kLoad && !moved_.contains(b);
      if (is_load && !Intersects(roots_.Of(b->operands[0].var()), writes) && IsThere(*b, inside))
        loads->push_back(b);
      for (const Block* inner : b->blocks)
        Find(*inner, in_branch || b->op == OpCode::kIf, inside, writes, loads);
    }
  }

  // True where the array and the place are known before the loop, and the place is one of its own.
  bool IsThere(const Binding& load, const VarSet& inside) const {
    const Var* array = load.operands[0].var();
    if (inside.contains(array)) return false;
    bool moves = false;
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      const Operand& index = load.operands[axis + 1];
      if (index.IsVar() && inside.contains(index.var())) return false;
      if (!IsPlace(index, array->type.dims()[axis])) return false;
      moves |= index.IsVar();
    }
    return moves;
  }

  bool IsPlace(const Operand& index, const Operand& size) const {
    if (index.IsConstant()) {
      const std::optional<int64_t> length = lengths_.Of(size);
      return index.constant().integer >= 0 && length && index.constant().integer < *length;
    }
    const auto extent = extents_.find(index.var());
    return extent != extents_.end() && extent->second == size;
  }

  Roots roots_;
  KnownLengths lengths_;
  std::unordered_map<const Var*, Operand> extents_;  // of indexes
  std::unordered_set<const Binding*> moved_;
};

}  // namespace

ir::Program LoadBeforeBranches(const ir::Program& program, Context& context) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return EarlyLoader(program.arena.get(), *function, context.options).Run(function);
  });
}

}  // namespace parakeet::passes
