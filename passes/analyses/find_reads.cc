#include "passes/analyses/find_reads.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

bool IsNest(const Binding& b) { return InfoOf(b.op).format == ir::OpFormat::kIndices; }

// The indexes that the blocks of a loop or operator run over, but for those that stand still.
std::vector<const Var*> IndexesOf(const Binding& b) {
  const std::vector<const Var*>& params = b.blocks[0]->params;
  if (b.op == OpCode::kFor) return {params[0]};
  std::vector<const Var*> indexes;
  for (size_t k = 0; IsNest(b) && k < params.size(); ++k) {
    if (!b.operands[k].IsInt(1)) indexes.push_back(params[k]);
  }
  return indexes;
}

}  // namespace

ReadFinder::ReadFinder(const ir::Function& function) { Visit(*function.body); }

void ReadFinder::Visit(const Block& block) {
  for (const Binding* b : block.bindings) Visit(*b, block);
  for (const Operand& result : block.results) {
    const auto found = reads_.find(result.var());
    if (found != reads_.end()) found->second.is_result = true;
  }
}

void ReadFinder::Visit(const Binding& b, const Block& block) {
  for (size_t i = 0; i < b.operands.size(); ++i) See(b, i, block);
  around_.push_back(&b);
  for (size_t k = 0; k < b.blocks.size(); ++k) {
    const bool has_index = k == 0 && (b.op == OpCode::kFor || IsNest(b));
    if (b.op != OpCode::kIf)
      loops_.push_back({has_index, has_index ? IndexesOf(b) : std::vector<const Var*>()});
    Visit(*b.blocks[k]);
    if (b.op != OpCode::kIf) loops_.pop_back();
  }
  around_.pop_back();
  for (const Var* result : b.results) {
    definitions_[result] = &b;
    if (b.op != OpCode::kImap) continue;
    reads_[result];
    depth_[result] = {loops_.size(), around_.size()};
  }
}

void ReadFinder::See(const Binding& b, size_t operand, const Block& block) {
  const Var* var = b.operands[operand].var();
  const auto found = reads_.find(var);
  if (found == reads_.end()) return;
  if (b.op != OpCode::kLoad || operand != 0) {
    found->second.other = &b;
    return;
  }
  const Depth& depth = depth_.at(var);
  const Binding* reader = depth.bindings < around_.size() ? around_[depth.bindings] : nullptr;
  found->second.loads.push_back({&b, &block, reader});
  found->second.recomputes |= !Follows(b, depth.loops);
}

// True when every index of every loop around the load, inside the producer's scope, moves it.
bool ReadFinder::Follows(const Binding& load, size_t depth) const {
  for (size_t loop = depth; loop < loops_.size(); ++loop) {
    if (!loops_[loop].has_index) return false;
    for (const Var* index : loops_[loop].indexes) {
      const bool moves = std::any_of(load.operands.begin() + 1, load.operands.end(),
                                     [&](const Operand& o) { return Mentions(o, index); });
      if (!moves) return false;
    }
  }
  return true;
}

// True where the operand is the index, or a sum or multiple of it.
bool ReadFinder::Mentions(const Operand& operand, const Var* index) const {
  if (!operand.IsVar()) return false;
  if (operand.var() == index) return true;
  const auto definition = definitions_.find(operand.var());
  if (definition == definitions_.end()) return false;
  const Binding& b = *definition->second;
  if (b.op != OpCode::kAdd && b.op != OpCode::kSub && b.op != OpCode::kMul) return false;
  return Mentions(b.operands[0], index) || Mentions(b.operands[1], index);
}

}  // namespace parakeet::passes
