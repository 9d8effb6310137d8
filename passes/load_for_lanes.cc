// Loads before a branch that lanes go both ways of what it reads at a place that is there whatever
// they do: a load under a mask takes several times as long on processors without mask registers.
//
// Before:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 tree(lanes 32) {
//     %a = load %x[%i]  %low = lt %a, 0.3
//     %v = if %low { %b = load %y[%i]  yield %b } else { yield 0.0 }
//     yield %v }
// After:
//   %s: f64 = ireduce (%i) in (%n) add from 0.0 tree(lanes 32) {
//     %a = load %x[%i]  %low = lt %a, 0.3  %b = load %y[%i]
//     %v = if %low { yield %b } else { yield 0.0 }
//     yield %v }
//
// Assumes: index form, behind schedule, which says what lanes take. What prove_bounds knows of
// sizes and checks counts here too.
// Refuses: places that lie elsewhere than next to that of the lane before, that the branch alone
// says to be there, that the branch may have stored to before, or that it finds by more than sums
// and products; loads in loops inside the branch.
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/ranges.h"
#include "passes/pass.h"

namespace parakeet::passes {
namespace {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class LaneLoader : public ir::Mutator {
 public:
  LaneLoader(ir::Arena* arena, const ir::Function& function)
      : Mutator(arena), roots_(function), patterns_(function) {
    for (const Var* size : function.Sizes()) ranges_.IsSize(size);
  }

 protected:
  void Visit(const Binding* b) override {
    if (moved_.contains(b)) return;
    if (b->op == OpCode::kIf && lane_ != nullptr) LoadBefore(*b);
    const Binding* rewritten = RewriteInside(*b);
    builder().Append(rewritten);
    ranges_.Define(*rewritten);
    if (b->op == OpCode::kCheck) ranges_.Assume(rewritten->operands[0], true);
  }

  const Block* VisitBlock(const Block* block) override {
    const size_t mark = ranges_.Enter();
    const Block* visited = Mutator::VisitBlock(block);
    ranges_.Leave(mark);
    return visited;
  }

 private:
  const Binding* RewriteInside(const Binding& b) {
    const size_t mark = ranges_.Enter();
    BoundIndexes(b);
    const Var* outer = lane_;
    if (b.op == OpCode::kIf) lane_ = nullptr;
    if (const Var* own = LaneIndexOf(b)) lane_ = own;
    const Binding* rewritten = Rewrite(&b);
    lane_ = outer;
    ranges_.Leave(mark);
    return rewritten;
  }

  void BoundIndexes(const Binding& b) {
    if (b.op == OpCode::kFor) {
      ranges_.Bound(b.blocks[0]->params[0], Apply(b.operands[0]), Apply(b.operands[1]),
                    b.operands[2].constant().integer);
    } else if (HasIndexes(b)) {
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis)
        ranges_.Bound(b.blocks[0]->params[axis], Operand::Int(0), Apply(b.operands[axis]), 1);
    }
  }

  static bool HasIndexes(const Binding& b) { return InfoOf(b.op).format == ir::OpFormat::kIndices; }

  // The index of the binding's own that lanes take; null for none.
  static const Var* LaneIndexOf(const Binding& b) {
    if (!HasIndexes(b)) return nullptr;
    const std::vector<const Var*>& params = b.blocks[0]->params;
    if (b.attrs.Has(Attr::kVector)) return params[b.attrs.Int(Attr::kVector)];
    return b.op == OpCode::kIreduce && b.attrs.Int(Attr::kLanes) > 1 ? params.back() : nullptr;
  }

  void LoadBefore(const Binding& branch) {
    for (const Block* block : branch.blocks) {
      places_.clear();
      ir::VarSet stored;
      LoadBefore(*block, stored);
    }
  }

  // `stored` is what the branch stores to before it comes to the block, and in it.
  void LoadBefore(const Block& block, ir::VarSet& stored) {
    for (const Binding* b : block.bindings) {
      if (b->op == OpCode::kIf) {
        for (const Block* inner : b->blocks) LoadBefore(*inner, stored);
        continue;
      }
      if (IsOfPlace(*b)) {
        places_.emplace(b->result(), b);
        ranges_.Define(*b);
      } else if (b->op == OpCode::kLoad && IsThere(*b, stored)) {
        for (size_t axis = 1; axis < b->operands.size(); ++axis) Move(b->operands[axis]);
        Move(*b);
      }
      stored.merge(EffectsOf(*b, roots_).writes);
    }
  }

  // True for what is computed of indexes and sizes, and may be so wherever these are.
  static bool IsOfPlace(const Binding& b) {
    const bool is_sum = b.op == OpCode::kAdd || b.op == OpCode::kSub || b.op == OpCode::kMul;
    return is_sum && b.result()->type == ir::Type(ir::DType::kI64);
  }

  bool IsThere(const Binding& load, const ir::VarSet& stored) const {
    const Var* array = load.operands[0].var();
    if (!patterns_.LiesNext(load, lane_) || Intersects(roots_.Of(array), stored)) return false;
    for (int axis = 0; axis < array->type.rank(); ++axis) {
      const Operand index = load.operands[1 + axis];
      if (!ranges_.ProvesLe(Operand::Int(0), Apply(index)) ||
          !ranges_.ProvesLt(Apply(index), Apply(array->type.dims()[axis])))
        return false;
    }
    return true;
  }

  // What an index is computed of in the branch.
  void Move(const Operand& index) {
    const auto made = index.IsVar() ? places_.find(index.var()) : places_.end();
    if (made == places_.end() || moved_.contains(made->second)) return;
    for (const Operand& operand : made->second->operands) Move(operand);
    Move(*made->second);
  }

  void Move(const Binding& b) {
    builder().Append(Rewrite(&b));
    moved_.insert(&b);
  }

  Roots roots_;
  AccessPatterns patterns_;
  Ranges ranges_;
  const Var* lane_ = nullptr;  // The index that lanes take of what is visited.
  std::unordered_map<const Var*, const Binding*> places_;  // that the branch has made so far
  std::unordered_set<const Binding*> moved_;
};

}  // namespace

ir::Program LoadForLanes(const ir::Program& program, Context&) {
  return ForEachFunction(program, [&](const ir::Function* function) {
    return LaneLoader(program.arena.get(), *function).Run(function);
  });
}

}  // namespace parakeet::passes
