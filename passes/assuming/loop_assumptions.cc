#include "passes/assuming/loop_assumptions.h"

#include <algorithm>

#include "passes/analyses/carried_values.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::Var;

void LoopAssumptions::AssumeInLoops(const ir::Block& block, bool repeats) {
  for (const Binding* b : block.bindings) {
    if (IsLoop(b->op) && repeats && guards_.empty()) AssumeRuns(*b);
    const bool is_branch = b->op == OpCode::kIf;
    if (is_branch && (!repeats || IsKnownAtEntry(b->operands[0]))) continue;
    if (is_branch) guards_.push_back(b->operands[0]);
    for (const ir::Block* inner : b->blocks) AssumeInLoops(*inner, true);
    if (is_branch) guards_.pop_back();
    if (b->op == OpCode::kSlice && repeats) AssumeInsideInLoops(*b);
    if (b->op != OpCode::kCheck || !repeats) continue;
    AssumeInRange(*b, b->operands[0]);
    AssumeChecked(*b);
  }
}

void LoopAssumptions::AssumeBehindStores(const ir::Block& block) {
  bool has_stored = false;
  for (const Binding* b : block.bindings) {
    if (b->op == OpCode::kCheck && has_stored) AssumeChecked(*b);
    has_stored |= Stores(*b);
  }
}

void LoopAssumptions::AssumeBlocks() {
  ir::VarSet lengths, taken;
  const auto add = [&](const Binding& b) {
    const Operand& divisor = b.op == OpCode::kFloorDiv ? b.operands[1] : Operand::Int(0);
    if (divisor.IsVar() && given_.contains(divisor.var())) lengths.insert(divisor.var());
  };
  ir::ForEachBinding(*function_.body, add);
  if (lengths.empty()) return;
  ir::ForEachBinding(*function_.body, [&](const Binding& b) {
    if (b.op != OpCode::kMul || !b.operands[0].IsVar() || !b.operands[1].IsVar()) return;
    for (const int side : {0, 1}) {
      const Var* length = b.operands[side].var();
      if (!loops_.contains(b.operands[1 - side].var()) || !lengths.contains(length)) continue;
      if (!taken.insert(length).second) continue;
      builder_.set_span(b.span);
      Require(builder_.Scalar(OpCode::kLt, {Operand::Int(0), length}));
      context_.Note(b.span, "a length of blocks taken to be positive, which a call checks first",
                    Topic::kShapes, Verdict::kDone);
    }
  });
}

void LoopAssumptions::AssumeRuns(const Binding& loop) {
  ir::VarSet read;
  for (const ir::Block* block : loop.blocks)
    ir::ForEachUse(*block, [&](const Var* var) { read.insert(var); });
  const std::vector<const Var*>& params = loop.blocks.back()->params;
  const bool reads_all = std::all_of(params.begin() + FirstCarried(loop), params.end(),
                                     [&](const Var* param) { return read.contains(param); });
  if (reads_all && !(loop.op == OpCode::kFor && StoresAtComputedPlaces(loop))) return;
  cost_ = 0;
  builder_.set_span(loop.span);
  std::optional<Operand> runs;
  if (loop.op == OpCode::kFor) {
    const std::optional<Operand> lo = AtEntry(loop.operands[0]), hi = AtEntry(loop.operands[1]);
    const bool up = loop.operands[2].constant().integer > 0;
    if (lo && hi) runs = builder_.Scalar(up ? OpCode::kLt : OpCode::kGt, {*lo, *hi});
  } else {
    runs = AtFirst(loop.blocks[0]->results[0], loop);
  }
  if (!runs || runs->IsConstant()) return;
  Require(*runs);
  context_.Note(loop.span, "a loop taken to run, which a call checks first", Topic::kShapes,
                Verdict::kDone);
}

std::optional<Operand> LoopAssumptions::AtFirst(const Operand& part, const Binding& loop) {
  const std::vector<const Var*>& params = loop.blocks[0]->params;
  for (size_t k = 0; k < params.size(); ++k) {
    if (part == Operand(params[k])) return AtEntry(loop.operands[k]);
  }
  const auto found = part.IsVar() ? definitions_.find(part.var()) : definitions_.end();
  if (found == definitions_.end() || !IsIndexExpression(*found->second)) return AtEntry(part);
  std::vector<Operand> operands;
  for (const Operand& operand : found->second->operands) {
    const std::optional<Operand> known = AtFirst(operand, loop);
    if (!known || ++cost_ > kLargestExpression) return std::nullopt;
    operands.push_back(*known);
  }
  return builder_.Scalar(found->second->op, std::move(operands));
}

ir::VarSet LoopAssumptions::LoopsBehind(const Var* value) const {
  ir::VarSet found;
  std::vector<const Var*> left = {value};
  while (!left.empty()) {
    const ir::VarSet loops = scalars_.LoopsIn(left.back());
    left.pop_back();
    for (const Var* index : loops) {
      if (!found.insert(index).second) continue;
      const IndexRange& loop = loops_.at(index);
      for (const Operand& end : {loop.begin, loop.end}) {
        if (end.IsVar()) left.push_back(end.var());
      }
    }
  }
  return found;
}

bool LoopAssumptions::IsGuarded(const LinearForm& index) const {
  const bool is_own = index.terms.size() == 1 && index.terms[0].second == 1 && index.constant == 0;
  const auto asks_about = [&](const Operand& guard, const Var* part) {
    ir::VarSet seen;
    return IsMadeOf(guard, part, !is_own, &seen);
  };
  return std::any_of(guards_.begin(), guards_.end(), [&](const Operand& guard) {
    return std::any_of(index.terms.begin(), index.terms.end(), [&](const auto& term) {
      const ir::VarSet loops = LoopsBehind(term.first);
      return asks_about(guard, term.first) ||
             std::any_of(loops.begin(), loops.end(),
                         [&](const Var* loop) { return asks_about(guard, loop); });
    });
  });
}

bool LoopAssumptions::IsMadeOf(const Operand& value, const Var* part, bool by_equality,
                               ir::VarSet* seen) const {
  if (!value.IsVar() || !seen->insert(value.var()).second) return false;
  if (value.var() == part) return true;
  const auto found = definitions_.find(value.var());
  if (found == definitions_.end() || found->second->op == OpCode::kLoad) return false;
  const Binding& b = *found->second;
  if (!by_equality && (b.op == OpCode::kEq || b.op == OpCode::kNe)) return false;
  const auto is_made_of = [&](const Operand& operand) {
    return IsMadeOf(operand, part, by_equality, seen);
  };
  if (std::any_of(b.operands.begin(), b.operands.end(), is_made_of)) return true;
  return std::any_of(b.blocks.begin(), b.blocks.end(), [&](const ir::Block* block) {
    return std::any_of(block->results.begin(), block->results.end(), is_made_of);
  });
}

bool LoopAssumptions::StoresAtComputedPlaces(const Binding& loop) const {
  bool stores = false;
  ir::ForEachBinding(*loop.blocks[0], [&](const Binding& b) {
    if (b.op != OpCode::kStore || b.operands[0].var()->type.rank() != 1) return;
    stores |= b.operands[1].IsVar() && scalars_.LoopsIn(b.operands[1].var()).size() > 1;
  });
  return stores;
}

bool LoopAssumptions::Stores(const Binding& b) {
  bool stores = !ir::StoredOperands(b).empty();
  for (const ir::Block* block : b.blocks) {
    ir::ForEachBinding(*block,
                       [&](const Binding& inner) { stores |= !ir::StoredOperands(inner).empty(); });
  }
  return stores;
}

void LoopAssumptions::AssumeChecked(const Binding& check) {
  const Binding* negated = DefinitionOf(check.operands[0], OpCode::kNot);
  const Binding* equal = negated != nullptr ? DefinitionOf(negated->operands[0], OpCode::kNe)
                                            : DefinitionOf(check.operands[0], OpCode::kEq);
  if (equal != nullptr && ir::DTypeOf(equal->operands[0]) == ir::DType::kI64)
    AssumeEqual(check, {equal->operands[0], equal->operands[1]});
}

void LoopAssumptions::AssumeInRange(const Binding& check, const Operand& condition) {
  if (const Binding* both = DefinitionOf(condition, OpCode::kAnd)) {
    for (const Operand& part : both->operands) AssumeInRange(check, part);
    return;
  }
  const Binding* below = DefinitionOf(condition, OpCode::kLt);
  if (below == nullptr || ir::DTypeOf(below->operands[0]) != ir::DType::kI64) return;
  AssumeClipped(check, below->operands[0]);
  if (guards_.empty()) AssumeMasked(check, below->operands[0], below->operands[1]);
  const std::optional<LinearForm> index = Likely(below->operands[0]);
  const bool is_plain =
      index && (index->IsConstant() || GoesOneWay(*index) || IsNeverNegative(*index));
  if (!is_plain) return;
  if (IsGuarded(*index)) return AssumeGuarded(check, *index, below->operands[1]);
  cost_ = 0;
  const std::optional<Operand> size = AtEntry(below->operands[1]);
  const std::optional<Operand> least = ExtremeOf(*index, false), most = ExtremeOf(*index, true);
  if (!size || !least || !most) return;
  builder_.set_span(check.span);
  const Operand begins = builder_.Scalar(OpCode::kLe, {Operand::Int(0), *least});
  const Operand ends = builder_.Scalar(OpCode::kLt, {*most, *size});
  if (begins.IsInt(0) || ends.IsInt(0)) return;  // It counts from the end, or raises.
  for (const Operand& holds : {begins, ends}) {
    if (!holds.IsConstant()) Require(holds);
  }
  context_.Note(check.span, "an index taken to be in range, which a call checks first");
}

void LoopAssumptions::AssumeClipped(const Binding& check, const Operand& index) {
  const auto found = index.IsVar() ? definitions_.find(index.var()) : definitions_.end();
  if (found == definitions_.end() || !IsIndexExpression(*found->second)) return;
  const Binding& b = *found->second;
  if (b.op == OpCode::kSelect && IsFromTheEnd(b)) return AssumeClipped(check, b.operands[2]);
  if (b.op != OpCode::kMin && b.op != OpCode::kMax && b.op != OpCode::kAdd) return;
  for (const Operand& part : b.operands) {
    AssumeClipped(check, part);
    if (b.op == OpCode::kMin) AssumeIsPlace(check, part);
  }
}

void LoopAssumptions::AssumeMasked(const Binding& check, Operand index, const Operand& size) {
  const Binding* select = DefinitionOf(index, OpCode::kSelect);
  if (select != nullptr && IsFromTheEnd(*select)) index = select->operands[2];
  std::optional<int64_t> most;
  for (const OpCode op : {OpCode::kAnd, OpCode::kMod}) {
    const Binding* masked = DefinitionOf(index, op);
    if (masked == nullptr || !masked->operands[1].IsConstant()) continue;
    most = masked->operands[1].constant().integer - (op == OpCode::kMod ? 1 : 0);
  }
  if (!most || *most < 0 || !size.IsVar() || !given_.contains(size.var())) return;
  builder_.set_span(check.span);
  Require(builder_.Scalar(OpCode::kLt, {Operand::Int(*most), size}));
  context_.Note(check.span, "a table taken to be as long as a mask says, which a call checks first",
                Topic::kShapes, Verdict::kDone);
}

void LoopAssumptions::AssumeIsPlace(const Binding& check, const Operand& last) {
  const std::optional<LinearForm> form = Likely(last);
  if (!form || form->constant >= 0 || !IsLikelyNatural(*form)) return;
  if (form->terms.size() != 1 || form->terms[0].second != 1) return;
  if (!seen_.insert(last.var()).second) return;
  builder_.set_span(check.span);
  const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), WriteScalar(*form)});
  Require(holds);
  context_.Note(check.span, "an array taken not to be empty, which a call checks first");
}

bool LoopAssumptions::GoesOneWay(const LinearForm& form) const {
  const auto is_loop = [&](const auto& term) { return !scalars_.LoopsIn(term.first).empty(); };
  const auto loops = std::count_if(form.terms.begin(), form.terms.end(), is_loop);
  const bool falls = std::any_of(form.terms.begin(), form.terms.end(), [&](const auto& term) {
    return is_loop(term) && term.second < 0;
  });
  return loops == 1 || (loops > 1 && !falls);
}

void LoopAssumptions::AssumeGuarded(const Binding& check, const LinearForm& index,
                                    const Operand& size) {
  const std::optional<LinearForm> end = Likely(size);
  if (!end) return;
  const std::optional<LinearForm> left = LeastOf(Difference(*end, index));
  if (!left || left->IsConstant() || left->constant < 1) return;
  if (std::any_of(left->terms.begin(), left->terms.end(),
                  [](const auto& term) { return term.second < 0; }))
    return;
  builder_.set_span(check.span);
  Require(builder_.Scalar(OpCode::kLt, {Operand::Int(0), WriteScalar(*left)}));
  context_.Note(check.span, "an index taken to be in range, which a call checks first");
}

void LoopAssumptions::AssumeInsideInLoops(const Binding& slice) {
  std::vector<LinearForm> least;
  std::vector<Operand> parts(slice.operands.begin() + 1, slice.operands.end());
  while (!parts.empty()) {
    const Operand part = parts.back();
    parts.pop_back();
    const auto found = part.IsVar() ? definitions_.find(part.var()) : definitions_.end();
    if (found == definitions_.end() || !IsIndexExpression(*found->second)) continue;
    const Binding& b = *found->second;
    parts.insert(parts.end(), b.operands.begin(), b.operands.end());
    std::optional<LinearForm> gap;
    if (b.op == OpCode::kSelect && IsFromTheEnd(b)) gap = Likely(b.operands[2]);
    if (b.op == OpCode::kMin) gap = LikelyGap({b.operands[1], b.operands[0]});
    const Binding* turned = DefinitionOf(b.operands[0], OpCode::kSelect);
    const bool is_own = b.op == OpCode::kMax && (turned == nullptr || !IsFromTheEnd(*turned));
    if (is_own) return;  // The program cares for that end itself.
    if (!gap) continue;
    if (IsGuarded(*gap)) return;
    const std::optional<LinearForm> value = LeastOf(*gap);
    if (!value || !IsLikelyNatural(*value)) return;
    least.push_back(*value);
  }
  builder_.set_span(slice.span);
  for (const LinearForm& value : least) {
    const Operand holds = builder_.Scalar(OpCode::kLe, {Operand::Int(0), WriteScalar(value)});
    if (!holds.IsConstant()) Require(holds);
  }
  if (!least.empty())
    context_.Note(slice.span, "taken to lie inside its array, which a call checks first",
                  Topic::kShapes, Verdict::kDone);
}

}  // namespace parakeet::passes
