#include "passes/lowering/checks_alone.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "ir/mutator.h"
#include "passes/analyses/needed_bindings.h"
#include "passes/lowering/loop_counts.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::Builder;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// What makes its elements one by one of their indexes, and nothing of one for another.
bool IsByIndex(OpCode op) {
  return op == OpCode::kImap || op == OpCode::kForeach || op == OpCode::kIreduce;
}

// Says of values in a loop's own block how they follow its index.
class IndexFollower {
 public:
  explicit IndexFollower(const Binding& loop) : index_(loop.blocks[0]->params[0]) {
    inside_ = ir::DefinedVars(*loop.blocks[0]);
    for (const Binding* b : loop.blocks[0]->bindings) {
      for (const Var* result : b->results) makers_[result] = b;
    }
  }

  // True where the indexes for which the test holds lie side by side. Notes what it asks of indexes
  // that may be counted from the end.
  bool IsOfAnInterval(const Operand& test, std::vector<const Binding*>& selections) const {
    const Binding* made = Made(test);
    if (made == nullptr) return false;
    if (made->op == OpCode::kAnd)
      return IsOfAnInterval(made->operands[0], selections) &&
             IsOfAnInterval(made->operands[1], selections);
    const bool compares = made->op == OpCode::kLt || made->op == OpCode::kGe;
    if (!compares || ir::TypeOf(made->operands[0]) != ir::Type(ir::DType::kI64)) return false;
    const Operand& limit = made->operands[1];
    if (Moves(limit) != 0) return false;
    if (MovesByOne(made->operands[0])) return true;
    const Binding* selection = Made(made->operands[0]);
    if (selection == nullptr || selection->op != OpCode::kSelect) return false;
    const Binding* is_negative = Made(selection->operands[0]);
    const Binding* from_end = Made(selection->operands[1]);
    const Operand& position = selection->operands[2];
    if (is_negative == nullptr || is_negative->op != OpCode::kLt || from_end == nullptr ||
        from_end->op != OpCode::kAdd || !MovesByOne(position))
      return false;
    const Operand& size = from_end->operands[1];
    const bool is_new =
        std::find(selections.begin(), selections.end(), selection) == selections.end();
    if (is_new) selections.push_back(selection);
    return is_negative->operands == std::vector{position, Operand::Int(0)} &&
           from_end->operands[0] == position && Moves(size) == 0 &&
           limit == (made->op == OpCode::kLt ? size : Operand::Int(0));
  }

 private:
  const Binding* Made(const Operand& value) const {
    const auto found = value.IsVar() ? makers_.find(value.var()) : makers_.end();
    return found == makers_.end() ? nullptr : found->second;
  }

  bool MovesByOne(const Operand& value) const { return std::abs(Moves(value)) == 1; }

  // How far the value moves when the index does by one; kUnknown where that is not known.
  int Moves(const Operand& value) const {
    if (value == Operand(index_)) return 1;
    if (!value.IsVar() || !inside_.contains(value.var())) return 0;
    const Binding* made = Made(value);
    if (made == nullptr || (made->op != OpCode::kAdd && made->op != OpCode::kSub)) return kUnknown;
    const int left = Moves(made->operands[0]), right = Moves(made->operands[1]);
    if (left == kUnknown || right == kUnknown) return kUnknown;
    return made->op == OpCode::kAdd ? left + right : left - right;
  }

  static constexpr int kUnknown = 1 << 20;
  const Var* index_;
  ir::VarSet inside_;
  ir::DefinitionMap makers_;
};

// Whether the element is true at every index.
Operand Conjunction(Builder& builder, std::vector<Operand> extents, const Block* element) {
  extents.push_back(Operand::Bool(true));
  return builder.EmitOne(
      OpCode::kIreduce, ir::DType::kBool, std::move(extents), {},
      {element, ir::CombineBlock(builder.arena(), OpCode::kAnd, ir::DType::kBool)});
}

class CheckRemover : public ir::Mutator {
 public:
  using Mutator::Mutator;
  using Mutator::Replace;
  const Block* Run(const Block& block) { return VisitBlock(&block); }

 protected:
  void Visit(const Binding* b) override {
    if (b->op != OpCode::kCheck) Mutator::Visit(b);
  }
};

}  // namespace

ChecksAlone::ChecksAlone(const Binding& loop, const Roots& roots, Form form)
    : loop_(loop),
      roots_(roots),
      form_(form),
      written_(EffectsOf(*loop.blocks[0], roots).writes),
      makers_(ir::Definitions(*loop.blocks[0])) {
  const auto carries = [&](const Binding& b) {
    if (b.op != OpCode::kFor && b.op != OpCode::kWhile) return;
    for (const Block* block : b.blocks) carried_.insert(block->params.begin(), block->params.end());
    if (b.op == OpCode::kFor) carried_.erase(b.blocks[0]->params[0]);
  };
  carries(loop);
  ir::ForEachBinding(*loop.blocks[0], carries);
  is_possible_ = FindChecks(*loop.blocks[0]) &&
                 std::all_of(needed_.begin(), needed_.end(),
                             [&](const Var* value) { return MayMakeAgain(value); });
  FindEnds(loop);
}

// Finds what holds checks, and what these need. False where one is in code that ends when it likes,
// or that is no loop.
bool ChecksAlone::FindChecks(const Block& block) {
  for (const Binding* b : block.bindings) {
    if (!EffectsOf(*b, roots_).may_fail) continue;
    with_checks_.insert(b);
    const bool is_loop = b->op == OpCode::kFor;
    if (!is_loop && b->op != OpCode::kCheck && b->op != OpCode::kIf && !IsByIndex(b->op))
      return false;
    // What says whether it holds, which side is taken, or how often it runs.
    const size_t count = is_loop ? 3 : IsByIndex(b->op) ? b->blocks[0]->params.size() : 1;
    for (size_t k = 0; k < count; ++k) {
      if (b->operands[k].IsVar()) Need(b->operands[k].var());
    }
    for (const Block* inner : b->blocks) {
      if (!FindChecks(*inner)) return false;
    }
    if (is_loop) FindEnds(*b);
  }
  return true;
}

void ChecksAlone::FindEnds(const Binding& loop) {
  if (std::abs(loop.operands[2].constant().integer) != 1) return;
  const IndexFollower follower(loop);
  for (const Binding* b : loop.blocks[0]->bindings) {
    std::vector<const Binding*> selections;
    if (b->op != OpCode::kCheck || !follower.IsOfAnInterval(b->operands[0], selections)) continue;
    Ends& ends = at_ends_[&loop];
    ends.tests.push_back(b->operands[0]);
    ends.selections.insert(ends.selections.end(), selections.begin(), selections.end());
    with_checks_.erase(b);
  }
}

void ChecksAlone::Need(const Var* value) {
  if (!needed_.insert(value).second) return;
  const auto maker = makers_.find(value);
  if (maker != makers_.end()) ir::ForEachUse(*maker->second, [&](const Var* used) { Need(used); });
}

// True for what comes from outside, for indexes, and for what scalar code makes of these.
bool ChecksAlone::MayMakeAgain(const Var* value) const {
  if (carried_.contains(value)) return false;
  const auto maker = makers_.find(value);
  if (maker == makers_.end()) return true;
  const Binding& b = *maker->second;
  if (b.op == OpCode::kLoad) return !Intersects(EffectsOf(b, roots_).reads, written_);
  return ir::IsScalarOp(b.op) || ir::IsView(b.op) ||
         (b.op == OpCode::kIf && !with_checks_.contains(&b) && EffectsOf(b, roots_).IsPure());
}

bool ChecksAlone::IsNeeded(const Binding& b) const {
  return std::any_of(b.results.begin(), b.results.end(),
                     [&](const Var* made) { return needed_.contains(made); });
}

// Whether what the block needs from there on may only run where the checks before it hold.
bool ChecksAlone::NeedsGuard(const Block& block, size_t from) const {
  return std::any_of(block.bindings.begin() + from, block.bindings.end(), [&](const Binding* b) {
    const bool is_safe = ir::IsScalarOp(b->op) && b->op != OpCode::kPow;
    return b->op != OpCode::kCheck && !is_safe && (with_checks_.contains(b) || IsNeeded(*b));
  });
}

Operand ChecksAlone::Write(Builder& builder) const {
  Builder alone = builder.Nested();
  alone.set_span({});  // It is no loop of the source.
  const Operand holds = WriteWithin(alone, loop_);
  // It has the loop's own names so far.
  const Block* block = alone.Finish({}, {holds});
  return ir::InlineBlock(builder, *WithoutChecks(builder.arena(), *block),
                         std::vector<Operand>{})[0];
}

// Whether the checks of a block from there on hold.
Operand ChecksAlone::WriteBlock(Builder& builder, const Block& block, size_t from) const {
  Operand holds = Operand::Bool(true);
  for (size_t at = from; at < block.bindings.size(); ++at) {
    const Binding& b = *block.bindings[at];
    if (!with_checks_.contains(&b)) {
      if (IsNeeded(b)) builder.Append(&b);
      continue;
    }
    const Operand own = b.op == OpCode::kCheck ? b.operands[0] : WriteWithin(builder, b);
    holds = builder.Scalar(OpCode::kAnd, {holds, own});
    if (!NeedsGuard(block, at + 1)) continue;
    Builder rest = builder.Nested();
    const Operand behind = WriteBlock(rest, block, at + 1);
    const Block* otherwise = builder.Nested().Finish({}, {Operand::Bool(false)});
    return builder.EmitOne(OpCode::kIf, ir::DType::kBool, {holds}, {},
                           {rest.Finish({}, {behind}), otherwise});
  }
  return holds;
}

// Whether what is asked of the loop's ends holds there, if it runs at all.
Operand ChecksAlone::WriteEnds(Builder& builder, const Binding& loop) const {
  const Ends& ends = at_ends_.at(&loop);
  Block block{{loop.blocks[0]->params[0]}, {}, ends.tests};
  for (const Binding* selection : ends.selections) block.results.push_back(selection->operands[2]);
  block.bindings = NeededBindings(*loop.blocks[0], block.results);
  const int64_t step = loop.operands[2].constant().integer;
  const Operand &lo = loop.operands[0], &hi = loop.operands[1];
  const Operand last = builder.Sub(hi, Operand::Int(step));
  Operand all = Operand::Bool(true);
  for (const Operand& end : {lo, last}) {
    const std::vector<Operand> made = ir::InlineBlock(builder, block, std::vector{end});
    for (size_t k = 0; k < made.size(); ++k) {
      const Operand holds =
          k < ends.tests.size() ? made[k] : builder.Scalar(OpCode::kGe, {made[k], Operand::Int(0)});
      all = builder.Scalar(OpCode::kAnd, {all, holds});
    }
  }
  const Operand is_empty = builder.Scalar(step > 0 ? OpCode::kGe : OpCode::kLe, {lo, hi});
  return builder.Scalar(OpCode::kOr, {is_empty, all});
}

// The same of all blocks of a loop or a branch.
Operand ChecksAlone::WriteWithin(Builder& builder, const Binding& b) const {
  if (at_ends_.contains(&b)) {
    const Operand ends = WriteEnds(builder, b);
    const std::vector<const Binding*>& bindings = b.blocks[0]->bindings;
    const bool has_more = std::any_of(bindings.begin(), bindings.end(), [&](const Binding* each) {
      return with_checks_.contains(each);
    });
    if (!has_more) return ends;
    Builder rest = builder.Nested();
    const Operand behind = WriteEach(rest, b);
    const Block* otherwise = builder.Nested().Finish({}, {Operand::Bool(false)});
    return builder.EmitOne(OpCode::kIf, ir::DType::kBool, {ends}, {},
                           {rest.Finish({}, {behind}), otherwise});
  }
  return WriteEach(builder, b);
}

// The same, but for what holds where it does at the ends.
Operand ChecksAlone::WriteEach(Builder& builder, const Binding& b) const {
  Builder inner = builder.Nested();
  Operand holds = WriteBlock(inner, *b.blocks[0], 0);
  if (b.op == OpCode::kIf) {
    Builder other = builder.Nested();
    const Operand otherwise = WriteBlock(other, *b.blocks[1], 0);
    return builder.EmitOne(OpCode::kIf, ir::DType::kBool, {b.operands[0]}, {},
                           {inner.Finish({}, {holds}), other.Finish({}, {otherwise})});
  }
  if (b.op == OpCode::kFor) return WriteLoop(builder, b, inner, holds);
  const std::vector<const Var*>& params = b.blocks[0]->params;
  return Conjunction(builder, {b.operands.begin(), b.operands.begin() + params.size()},
                     inner.Finish(params, {holds}));
}

// The same of a `for`, whose block `inner` has so far.
Operand ChecksAlone::WriteLoop(Builder& builder, const Binding& loop, Builder& inner,
                               const Operand& holds) const {
  const Var* index = loop.blocks[0]->params[0];
  if (form_ == Form::kReduction) {
    const Block* element = inner.Finish({index}, {holds});
    const Operand trips = TripCount(builder, loop);
    return Conjunction(builder, {trips}, CountedBlock(builder, loop, *element));
  }
  const Var* before = builder.NewVar(ir::DType::kBool, "before");
  const Operand both = inner.Scalar(OpCode::kAnd, {before, holds});
  return builder.EmitOne(
      OpCode::kFor, ir::DType::kBool,
      {loop.operands[0], loop.operands[1], loop.operands[2], Operand::Bool(true)}, {},
      {inner.Finish({index, before}, {both})});
}

const Block* ChecksAlone::Unchecked(ir::Arena* arena) const {
  return ir::CloneBlock(arena, *WithoutChecks(arena, *loop_.blocks[0]));
}

// The block where all checks hold, and no index that moves by one is counted from the end.
const Block* ChecksAlone::WithoutChecks(ir::Arena* arena, const Block& block) const {
  CheckRemover remover(arena);
  for (const auto& [loop, ends] : at_ends_) {
    for (const Binding* selection : ends.selections)
      remover.Replace(selection->result(), selection->operands[2]);
  }
  return remover.Run(block);
}

}  // namespace parakeet::passes
