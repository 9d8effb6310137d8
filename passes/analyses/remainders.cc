#include "passes/analyses/remainders.h"

#include <utility>
#include <vector>

#include "passes/analyses/find_effects.h"
#include "passes/analyses/ranges.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Walks a function with what is known of its values where each is made.
class RemainderFinder {
 public:
  explicit RemainderFinder(const ir::Function& function) {
    for (const Var* size : function.Sizes()) ranges_.IsSize(size);
    const Roots roots(function);
    const Effects effects = EffectsOf(*function.body, roots);
    for (const ir::Param& param : function.params) {
      const bool is_kept = param.var->type.IsArray() && !function.may_overlap &&
                           !Intersects(roots.Of(param.var), effects.writes);
      if (is_kept) ranges_.NeverChanges(param.var);
    }
  }

  std::unordered_map<const Var*, Remainders::Remainder> Find(const Block& body) {
    Visit(body);
    return std::move(found_);
  }

 private:
  void Visit(const Block& block) {
    const size_t mark = ranges_.Enter();
    for (const Binding* b : block.bindings) Visit(*b);
    ranges_.EndBlock(block);
    ranges_.Leave(mark);
  }

  void Visit(const Binding& b) {
    const size_t mark = ranges_.Enter();
    if (b.op == OpCode::kFor) {
      ranges_.Bound(b.blocks[0]->params[0], b.operands[0], b.operands[1],
                    b.operands[2].constant().integer);
    } else if (InfoOf(b.op).format == ir::OpFormat::kIndices) {
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis)
        ranges_.Bound(b.blocks[0]->params[axis], Operand::Int(0), b.operands[axis], 1);
    }
    for (const Block* block : b.blocks) Visit(*block);
    ranges_.Leave(mark);
    ranges_.Define(b);
    if (b.op == OpCode::kCheck) ranges_.Assume(b.operands[0], true);
    if (b.results.size() != 1 || !(b.result()->type == ir::Type(ir::DType::kI64))) return;
    if (b.op == OpCode::kMod) found_[b.result()] = {ranges_.FormOf(b.operands[0]), b.operands[1]};
    if (b.op == OpCode::kAdd || b.op == OpCode::kSub) moves_[b.result()] = &b;
    if (b.op == OpCode::kSelect) FindChosen(b);
  }

  // The value as a sum, or as one modulo something (a modulus of 0 stands for none).
  std::vector<Remainders::Remainder> WaysToSee(const Operand& value) const {
    std::vector<Remainders::Remainder> ways = {{ranges_.FormOf(value), Operand::Int(0)}};
    if (!value.IsVar()) return ways;
    const auto known = found_.find(value.var());
    if (known != found_.end()) ways.push_back(known->second);
    const auto move = moves_.find(value.var());
    if (move == moves_.end()) return ways;
    const Binding& b = *move->second;
    LinearForm moved = ranges_.FormOf(b.operands[0]);
    const LinearForm from = moved;
    moved.Add(ranges_.FormOf(b.operands[1]), b.op == OpCode::kAdd ? 1 : -1);
    if (SameForm(moved, ways[0].of)) ways.push_back({from, b.operands[1]});
    return ways;
  }

  // select %is_inside, %s, (add %s, %n)
  void FindChosen(const Binding& select) {
    for (const Remainders::Remainder& one : WaysToSee(select.operands[1])) {
      for (const Remainders::Remainder& other : WaysToSee(select.operands[2])) {
        const Operand& modulus = one.modulus.IsInt(0) ? other.modulus : one.modulus;
        const bool is_one = other.modulus.IsInt(0) || other.modulus == modulus;
        if (modulus.IsInt(0) || !is_one || !SameForm(one.of, other.of)) continue;
        found_[select.result()] = {one.of, modulus};
      }
    }
  }

  Ranges ranges_;
  ir::DefinitionMap moves_;
  std::unordered_map<const Var*, Remainders::Remainder> found_;
};

}  // namespace

const Remainders::Remainder* Remainders::Find(const Operand& value) const {
  if (!value.IsVar()) return nullptr;
  if (!remainders_) remainders_ = RemainderFinder(function_).Find(*function_.body);
  const auto found = remainders_->find(value.var());
  return found == remainders_->end() ? nullptr : &found->second;
}

}  // namespace parakeet::passes
