#include "passes/lowering/loop_counts.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ir/mutator.h"
#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool CountsUp(const Binding& b) {
  return b.op == OpCode::kFor && b.operands[0].IsInt(0) && b.operands[2].IsInt(1);
}

void AddSizes(const ir::Type& type, VarSet& sizes) {
  if (!type.IsArray()) return;
  for (const Operand& dim : type.dims()) {
    if (dim.IsVar()) sizes.insert(dim.var());
  }
}

void AddSizes(const Binding& b, VarSet& sizes) {
  for (const Var* result : b.results) AddSizes(result->type, sizes);
  if (b.op == OpCode::kMax && b.operands[1].IsInt(0)) sizes.insert(b.result());
}

// Ends of loops within the binding that may be negative where the loop stands, in order.
void AddEnds(const Binding& b, VarSet sizes, std::vector<const Var*>& ends) {
  const bool has_end = CountsUp(b) && b.operands[1].IsVar();
  if (has_end && !sizes.contains(b.operands[1].var())) ends.push_back(b.operands[1].var());
  for (const Block* block : b.blocks) {
    VarSet inner = sizes;
    for (const Binding* own : block->bindings) {
      AddEnds(*own, inner, ends);
      AddSizes(*own, inner);
    }
  }
}

class LoopCounter : public ir::Mutator {
 public:
  LoopCounter(ir::Arena* arena, const ir::Function& function) : Mutator(arena) {
    for (const ir::Param& param : function.params) AddSizes(param.var->type, sizes_);
  }

 protected:
  void Visit(const Binding* b) override {
    if (!b->blocks.empty()) WriteCounts(*b);
    const Binding* rewritten = Rewrite(b);
    builder().Append(CountsUp(*b) ? WithCount(*rewritten) : rewritten);
    AddSizes(*rewritten, sizes_);
  }

  const Block* VisitBlock(const Block* block) override {
    const VarSet sizes = sizes_;
    const ir::Substitution counts = counts_;
    const Block* rewritten = Mutator::VisitBlock(block);
    sizes_ = sizes;
    counts_ = counts;
    return rewritten;
  }

 private:
  // The counts of all loops within the binding whose ends are known in front of it.
  void WriteCounts(const Binding& b) {
    std::vector<const Var*> ends;
    AddEnds(b, sizes_, ends);
    if (ends.empty()) return;
    VarSet inside;
    for (const Block* block : b.blocks) {
      for (const Var* var : ir::DefinedVars(*block)) inside.insert(var);
    }
    for (const Var* end : ends) {
      if (inside.contains(end) || counts_.contains(end)) continue;
      counts_[end] = builder().Scalar(OpCode::kMax, {Apply(end), Operand::Int(0)});
    }
  }

  const Binding* WithCount(const Binding& loop) {
    const Operand& end = loop.operands[1];
    Binding counted = loop;
    if (!end.IsVar()) {
      counted.operands[1] = Operand::Int(std::max<int64_t>(end.constant().integer, 0));
    } else if (!sizes_.contains(end.var())) {
      counted.operands[1] = counts_.at(end.var());
    }
    return counted.operands == loop.operands ? &loop : arena()->New(std::move(counted));
  }

  VarSet sizes_;             // Sizes of arrays here, and counts.
  ir::Substitution counts_;  // Of ends that are neither.
};

}  // namespace

const ir::Function* CountLoops(ir::Arena* arena, const ir::Function* function) {
  return LoopCounter(arena, *function).Run(function);
}

ir::Operand RunsAtAll(ir::Builder& builder, const Binding& loop) {
  const bool is_up = loop.operands[2].constant().integer > 0;
  return builder.Scalar(is_up ? OpCode::kLt : OpCode::kGt, {loop.operands[0], loop.operands[1]});
}

ir::Operand RunsAtLeast(ir::Builder& builder, const Binding& loop, int64_t least) {
  if (least == 1) return RunsAtAll(builder, loop);
  return builder.Scalar(OpCode::kGe, {TripCount(builder, loop), Operand::Int(least)});
}

bool RunsAtMost(const Binding& loop, int64_t most) {
  constexpr int64_t kLargestEnd = int64_t{1} << 31;
  const auto is_near = [](const Operand& end) {
    return end.IsConstant() && std::abs(double(end.constant().integer)) < kLargestEnd;
  };
  if (!is_near(loop.operands[0]) || !is_near(loop.operands[1]) || !loop.operands[2].IsInt(1))
    return false;
  return loop.operands[1].constant().integer - loop.operands[0].constant().integer <= most;
}

ir::Operand TripCount(ir::Builder& builder, const Binding& loop) {
  const int64_t step = loop.operands[2].constant().integer;
  // The larger end first: the difference of ends that lie far apart the other way would wrap.
  const Operand &lo = loop.operands[step > 0 ? 0 : 1], &hi = loop.operands[step > 0 ? 1 : 0];
  const Operand span = builder.Sub(builder.Scalar(OpCode::kMax, {hi, lo}), lo);
  const int64_t width = std::abs(step);
  if (width == 1) return span;
  return builder.Scalar(OpCode::kFloorDiv,
                        {builder.Add(span, Operand::Int(width - 1)), Operand::Int(width)});
}

const Block* CountedBlock(const ir::Builder& builder, const Binding& loop, const Block& body) {
  const bool counts = loop.operands[0].IsInt(0) && loop.operands[2].IsInt(1);
  if (counts) return builder.arena()->New(Block(body));
  ir::Builder inner = builder.Nested();
  std::vector<const Var*> params = body.params;
  params[0] = inner.NewVar(ir::DType::kI64, "k");
  const Operand moved = inner.Add(loop.operands[0], inner.Mul(params[0], loop.operands[2]));
  std::vector<Operand> results =
      ir::InlineBlock(inner, body, ir::Substitution{{body.params[0], moved}});
  return inner.Finish(std::move(params), std::move(results));
}

}  // namespace parakeet::passes
