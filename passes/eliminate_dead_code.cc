// Drops bindings whose results nothing reads and whose running nobody can see.
//
// Before:
//   %a: f64 = exp %x
//   %t: [n]f64 = alloc (%n)
//   store %t[0], %a
//   return %x
// After:
//   return %x
//
// Assumes: nothing.
// Refuses: checks, calls, and stores to memory that is read, returned or a parameter's; `while`
// loops that something reads (they may not end, but a user's loop without effect is dropped as any
// other).
#include <algorithm>
#include <unordered_set>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/find_effects.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool IsStore(OpCode op) {
  return op == OpCode::kStore || op == OpCode::kStoreLanes || op == OpCode::kScatterLanes ||
         op == OpCode::kFree || op == OpCode::kCopy;
}

bool Carries(OpCode op) { return op == OpCode::kIf || op == OpCode::kFor || op == OpCode::kWhile; }

bool MakesArrays(OpCode op) { return op == OpCode::kImap || op == OpCode::kIfilter; }

// The array a store writes.
const Var* StoredArray(const Binding& b) { return b.operands[b.op == OpCode::kCopy ? 1 : 0].var(); }

// True where the binding itself writes, or frees, what may be one of the roots.
bool Writes(const Binding& b, const Roots& roots, const VarSet& written) {
  if (b.op == OpCode::kFree) return Intersects(roots.Of(StoredArray(b)), written);
  const std::vector<size_t> stored = ir::StoredOperands(b);
  return std::any_of(stored.begin(), stored.end(), [&](size_t operand) {
    return Intersects(roots.Of(b.operands[operand].var()), written);
  });
}

// Marks what is live, from the function's results backwards, to a fixed point over loops and
// memory.
class Liveness {
 public:
  explicit Liveness(const ir::Function& function) : roots_(function) {
    for (const Operand& result : function.body->results) NeedArray(result);
    for (const ir::Param& param : function.params)
      live_roots_.insert(roots_.Of(param.var).begin(), roots_.Of(param.var).end());
    do {
      grew_ = false;
      Mark(*function.body);
    } while (grew_);
  }

  bool IsLive(const Binding* binding) const { return live_.contains(binding); }
  // True when someone reads result `k` of an imap or ifilter, or nobody any of those for whose
  // checks it runs; and for what an ifilter keeps.
  bool IsMade(const Binding& b, size_t k) const {
    return needed_.contains(b.results[k]) || (b.op == OpCode::kIfilter && k == 0) ||
           std::none_of(b.results.begin(), b.results.end(),
                        [&](const Var* result) { return needed_.contains(result); });
  }
  // True when someone reads result `k` of an `if` or loop, or the loop itself reads the value it
  // carries there.
  bool IsCarried(const Binding& b, size_t k) const {
    if (needed_.contains(b.results[k])) return true;
    for (const Block* block : b.blocks) {
      const size_t first = FirstCarried(b);
      if (b.op != OpCode::kIf && needed_.contains(block->params[first + k])) return true;
    }
    return false;
  }

 private:
  void Mark(const Block& block) {
    for (auto it = block.bindings.rbegin(); it != block.bindings.rend(); ++it) Mark(**it);
  }

  void Mark(const Binding& b) {
    if (!live_.contains(&b) && MustRun(b)) {
      live_.insert(&b);
      grew_ = true;
      NeedInputs(b);
    }
    if (!live_.contains(&b)) return;
    if (Carries(b.op)) NeedCarried(b);
    if (MakesArrays(b.op)) NeedElements(b);
    for (const Block* block : b.blocks) Mark(*block);
  }

  // Of what an `if` chooses or a loop carries, only what is read is needed.
  void NeedCarried(const Binding& b) {
    const size_t first_init = b.operands.size() - (b.op == OpCode::kIf ? 0 : b.results.size());
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!IsCarried(b, k)) continue;
      if (b.op != OpCode::kIf) NeedArray(b.operands[first_init + k]);
      if (b.op == OpCode::kIf) NeedArray(b.blocks[0]->results[k]);
      NeedArray(b.blocks.back()->results[k]);
      for (const Operand& dim : b.results[k]->type.dims()) Need(dim);
    }
  }

  // Of the arrays that an imap or ifilter makes, only those that are read are needed.
  void NeedElements(const Binding& b) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!IsMade(b, k)) continue;
      NeedArray(b.blocks[0]->results[k]);
      for (const Operand& dim : b.results[k]->type.dims()) Need(dim);
    }
  }

  bool MustRun(const Binding& b) const {
    for (const Var* result : b.results) {
      if (needed_.contains(result)) return true;
    }
    if (b.op == OpCode::kCheck || b.op == OpCode::kBroadcastSize || b.op == OpCode::kCall ||
        b.op == OpCode::kMark || b.op == OpCode::kDrain)
      return true;
    if (Writes(b, roots_, live_roots_)) return true;
    if (b.op == OpCode::kPrefetch) return Intersects(roots_.Of(b.operands[0].var()), live_roots_);
    for (const Block* block : b.blocks) {
      for (const Binding* inner : block->bindings) {
        if (MustRun(*inner)) return true;
      }
    }
    return false;
  }

  void NeedInputs(const Binding& b) {
    if (Carries(b.op)) {
      const size_t carried = b.op == OpCode::kIf ? 0 : b.results.size();
      for (size_t k = 0; k + carried < b.operands.size(); ++k) NeedArray(b.operands[k]);
      if (b.op == OpCode::kWhile) NeedArray(b.blocks[0]->results[0]);
      return;
    }
    for (const Operand& operand : b.operands)
      IsStore(b.op) && operand.var() == StoredArray(b) ? Need(operand) : NeedArray(operand);
    if (MakesArrays(b.op)) return;
    for (const Var* result : b.results) {
      for (const Operand& dim : result->type.dims()) Need(dim);
    }
    for (const Block* block : b.blocks) {
      for (const Operand& result : block->results) NeedArray(result);
      for (const Var* param : block->params) {
        for (const Operand& dim : param->type.dims()) Need(dim);
      }
    }
  }

  void Need(const Operand& operand) {
    if (operand.IsVar() && needed_.insert(operand.var()).second) grew_ = true;
  }

  // The value is read: if it is an array, so may its memory be.
  void NeedArray(const Operand& operand) {
    Need(operand);
    if (!operand.IsVar() || !operand.var()->type.IsArray()) return;
    for (const Var* root : roots_.Of(operand.var())) grew_ |= live_roots_.insert(root).second;
  }

  Roots roots_;
  VarSet needed_;
  VarSet live_roots_;
  std::unordered_set<const Binding*> live_;
  bool grew_ = false;
};

class Eliminator : public ir::Mutator {
 public:
  Eliminator(ir::Arena* arena, const Liveness& liveness) : Mutator(arena), liveness_(liveness) {}

 protected:
  void Visit(const Binding* binding) override {
    if (!liveness_.IsLive(binding)) return;
    const Binding* rewritten = Rewrite(binding);
    if (Carries(binding->op)) rewritten = WithoutDead(*binding, *rewritten);
    if (MakesArrays(binding->op)) rewritten = WithoutUnread(*binding, *rewritten);
    builder().Append(rewritten);
  }

 private:
  // The `if` or loop without the results that nothing reads; `b` is `original` with its blocks
  // cleaned.
  const Binding* WithoutDead(const Binding& original, const Binding& b) {
    std::vector<bool> keeps;
    for (size_t k = 0; k < b.results.size(); ++k) keeps.push_back(liveness_.IsCarried(original, k));
    return KeepResults(arena(), b, keeps);
  }

  // The imap or ifilter without the arrays that nothing reads; `b` is `original` with its block
  // cleaned.
  const Binding* WithoutUnread(const Binding& original, const Binding& b) {
    Binding copy = b;
    Block body = *b.blocks[0];
    copy.results.clear();
    body.results.clear();
    for (size_t k = 0; k < b.results.size(); ++k) {
      if (!liveness_.IsMade(original, k)) continue;
      copy.results.push_back(b.results[k]);
      body.results.push_back(b.blocks[0]->results[k]);
    }
    if (copy.results.size() == b.results.size()) return &b;
    copy.blocks = {arena()->New(std::move(body))};
    return arena()->New(std::move(copy));
  }

  const Liveness& liveness_;
};

}  // namespace

ir::Program EliminateDeadCode(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return Eliminator(program.arena.get(), Liveness(*function)).Run(function);
  });
}

}  // namespace parakeet::passes
