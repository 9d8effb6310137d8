// Lets what an iteration has of the one before it join a least, a greatest or a sum of integers
// last.
//
// Before:
//   %l = for %j in 1 to %m step 1 (%left: i64 = %first) {
//     ...  %a = add %left, 1  %b = min %a, %up  %c = min %diagonal, %b  ...  yield %c }
// After:
//     ...  %a = add %left, 1  %b = min %up, %diagonal  %c = min %b, %a  ...  yield %c }
//
// A processor makes ahead what follows from no iteration before; the chain of what does is how long
// an iteration takes. Operands are joined as they are there: of all that are left, the two that
// wait least for what is carried. Orders change where the chain gets shorter, and there alone.
//
// Assumes: scheduled loops, before eliminate-dead-code.
// Refuses: floats, whose sums and extremes follow from their order; what something else reads too.
#include <algorithm>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/carried_values.h"
#include "passes/analyses/holds_op.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::DType;
using ir::OpCode;
using ir::Operand;
using ir::Var;

// What follows from nothing carried waits for nothing.
constexpr int kReady = -1;
constexpr int kLoadLatency = 5;
// Of a loop inside, which takes longer than what stands beside it.
constexpr int kLoopLatency = 100;

bool MayBeReordered(const Binding& b) {
  if (b.results.size() != 1 || !ir::IsScalarOp(b.op) || !ir::IsAssociative(b.op)) return false;
  const DType dtype = b.result()->type.dtype();
  return b.operands.size() == 2 && (ir::IsInteger(dtype) || ir::IsBool(dtype));
}

int LatencyOf(const Binding& b) {
  if (IsLoop(b.op)) return kLoopLatency;
  if (ir::IsScalarOp(b.op)) return std::max<int>(1, ir::InfoOf(b.op).cost);
  return b.op == OpCode::kIf ? 1 : kLoadLatency;
}

class Combiner : public ir::Mutator {
 public:
  Combiner(ir::Arena* arena, const ir::Function& function) : Mutator(arena) {
    ir::ForEachUse(*function.body, [&](const Var* var) { ++uses_[var]; });
    // Comparisons that nothing reads any more are no readers.
    ir::ForEachBinding(*function.body, [&](const Binding& b) {
      if (!ir::IsComparison(b.op) || uses_.contains(b.result())) return;
      for (const Operand& operand : b.operands) {
        if (operand.IsVar()) --uses_[operand.var()];
      }
    });
  }

 protected:
  const Block* VisitBlock(const Block* block) override {
    ir::DefinitionMap outer = std::move(here_);
    ir::VarSet outer_inside = std::move(inside_);
    here_ = {};
    inside_ = {};
    for (const Binding* b : block->bindings) {
      if (!MayBeReordered(*b)) continue;
      for (const Operand& operand : b->operands) {
        if (IsInside(*b, operand)) inside_.insert(operand.var());
      }
      here_.insert({b->result(), b});
    }
    const Block* visited = Mutator::VisitBlock(block);
    here_ = std::move(outer);
    inside_ = std::move(outer_inside);
    return visited;
  }

  void Visit(const Binding* b) override {
    if (IsLoop(b->op)) return VisitLoop(b);
    if (waits_.empty() || !MayBeReordered(*b) || !Reorder(*b)) Mutator::Visit(b);
    NoteWait(*b);
  }

 private:
  struct Leaf {
    Operand operand;
    int wait;
  };

  void VisitLoop(const Binding* loop) {
    // What an outer loop carries is there when an inner one begins.
    ir::FlatMap<const Var*, int> outer = std::move(waits_);
    waits_ = {};
    std::vector<bool> waits;
    if (!loop->results.empty()) waits = Recurrences(*loop->blocks.back(), FirstCarried(*loop));
    for (size_t k = 0; k < waits.size(); ++k) {
      if (!waits[k]) continue;
      for (const Block* block : loop->blocks) waits_[block->params[FirstCarried(*loop) + k]] = 0;
    }
    Mutator::Visit(loop);
    waits_ = std::move(outer);
    NoteWait(*loop);
  }

  // Of each carried value, whether it follows from one of the iteration before that does too. What
  // goes by a constant step runs ahead, and so does what is made of nothing else that is carried.
  static std::vector<bool> Recurrences(const Block& body, size_t first) {
    const ir::DefinitionMap made = ir::Definitions(body);
    std::vector<bool> recur;
    std::vector<ir::VarSet> needed;
    for (size_t k = 0; k < body.results.size(); ++k) {
      recur.push_back(!IsCounter(body.results[k], body.params[first + k], made));
      needed.push_back(NeededFor(body.results[k], made));
    }
    for (bool changes = true; changes;) {
      changes = false;
      for (size_t k = 0; k < recur.size(); ++k) {
        const auto waits_for = [&](size_t other) {
          return recur[other] && needed[k].contains(body.params[first + other]);
        };
        bool stays = false;
        for (size_t other = 0; other < recur.size(); ++other) stays |= waits_for(other);
        changes |= recur[k] && !stays;
        recur[k] = recur[k] && stays;
      }
    }
    return recur;
  }

  static bool IsCounter(const Operand& next, const Var* param, const ir::DefinitionMap& made) {
    const auto found = next.IsVar() ? made.find(next.var()) : made.end();
    if (found == made.end()) return false;
    const Binding& step = *found->second;
    return (step.op == OpCode::kAdd || step.op == OpCode::kSub) &&
           step.operands[0] == Operand(param) && step.operands[1].IsConstant();
  }

  // All values that a value is made of.
  static ir::VarSet NeededFor(const Operand& value, const ir::DefinitionMap& made) {
    ir::VarSet needed;
    std::vector<const Var*> left;
    const auto need = [&](const Var* var) {
      if (needed.insert(var).second) left.push_back(var);
    };
    if (value.IsVar()) need(value.var());
    while (!left.empty()) {
      const auto found = made.find(left.back());
      left.pop_back();
      if (found != made.end()) ir::ForEachUse(*found->second, need);
    }
    return needed;
  }

  // How many cycles behind what is carried the binding has its results.
  void NoteWait(const Binding& b) {
    if (waits_.empty()) return;
    int longest = kReady;
    ir::ForEachUse(b, [&](const Var* used) { longest = std::max(longest, WaitOf(used)); });
    if (longest == kReady) return;
    for (const Var* result : b.results) waits_[result] = longest + LatencyOf(b);
  }

  int WaitOf(const Operand& operand) const {
    const auto found = operand.IsVar() ? waits_.find(operand.var()) : waits_.end();
    return found == waits_.end() ? kReady : found->second;
  }

  // Writes the operation with its operands in the order in which they are there; false where that
  // is no sooner.
  bool Reorder(const Binding& root) {
    if (inside_.contains(root.result())) return false;
    std::vector<Leaf> leaves;
    Gather(root, leaves);
    if (leaves.size() < 3) return false;
    const auto sooner = [](const Leaf& a, const Leaf& b) { return a.wait < b.wait; };
    std::stable_sort(leaves.begin(), leaves.end(), sooner);
    const int latency = LatencyOf(root);
    if (WaitOf(leaves, latency) >= WaitOf(root.operands) + latency) return false;
    while (leaves.size() > 2) {
      const ir::Type& type = root.result()->type;
      const Operand both = builder().EmitOne(root.op, type, {leaves[0].operand, leaves[1].operand});
      const Leaf joined{both, Joined(leaves[0], leaves[1], latency)};
      if (joined.wait != kReady) waits_[both.var()] = joined.wait;
      leaves.erase(leaves.begin(), leaves.begin() + 2);
      leaves.insert(std::lower_bound(leaves.begin(), leaves.end(), joined, sooner), joined);
    }
    builder().Emit(root.op, {root.result()}, {leaves[0].operand, leaves[1].operand});
    return true;
  }

  // Whether an operand is made in this block by an operation like its reader, and for it alone.
  bool IsInside(const Binding& reader, const Operand& operand) const {
    const auto found = operand.IsVar() ? here_.find(operand.var()) : here_.end();
    return found != here_.end() && found->second->op == reader.op &&
           uses_.find(operand.var())->second == 1;
  }

  void Gather(const Binding& b, std::vector<Leaf>& leaves) const {
    for (const Operand& operand : b.operands) {
      if (IsInside(b, operand)) {
        Gather(*here_.find(operand.var())->second, leaves);
      } else {
        const Operand applied = Apply(operand);
        leaves.push_back({applied, WaitOf(applied)});
      }
    }
  }

  static int Joined(const Leaf& a, const Leaf& b, int latency) {
    const int longest = std::max(a.wait, b.wait);
    return longest == kReady ? kReady : longest + latency;
  }

  int WaitOf(const std::vector<Operand>& operands) const {
    return std::max(WaitOf(operands[0]), WaitOf(operands[1]));
  }

  // Of all of them, joined two by two.
  static int WaitOf(std::vector<Leaf> leaves, int latency) {
    const auto sooner = [](const Leaf& a, const Leaf& b) { return a.wait < b.wait; };
    while (leaves.size() > 1) {
      const Leaf joined{{}, Joined(leaves[0], leaves[1], latency)};
      leaves.erase(leaves.begin(), leaves.begin() + 2);
      leaves.insert(std::lower_bound(leaves.begin(), leaves.end(), joined, sooner), joined);
    }
    return leaves[0].wait;
  }

  ir::FlatMap<const Var*, int> uses_;
  // Of the block being visited, what may be reordered, and what of it is an operand of its like.
  ir::DefinitionMap here_;
  ir::VarSet inside_;
  // Of what follows from what the loop around it carries.
  ir::FlatMap<const Var*, int> waits_;
};

}  // namespace

ir::Program CombineCarriedLast(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    if (!HoldsOp(*function->body, OpCode::kFor) && !HoldsOp(*function->body, OpCode::kWhile))
      return function;
    return Combiner(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
