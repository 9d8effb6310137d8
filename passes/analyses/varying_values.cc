#include "passes/analyses/varying_values.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "passes/analyses/carried_values.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

// Takes all for the same in every lane, and goes over the block until nothing more is found to
// vary.
class VaryingFinder {
 public:
  VarSet Find(const Block& block, const Var* index) {
    Add(index);
    while (std::exchange(found_, false)) See(block);
    return std::move(varying_);
  }

 private:
  void See(const Block& block) {
    for (const Binding* b : block.bindings) See(*b);
  }

  void See(const Binding& b) {
    if (ir::IsScalarOp(b.op) || b.op == OpCode::kLoad) return AddIf(AnyVaries(b.operands), b);
    switch (b.op) {
      case OpCode::kIf: return SeeIf(b);
      case OpCode::kFor: return SeeLoop(b, AnyVaries({b.operands.begin(), b.operands.begin() + 3}));
      case OpCode::kWhile: return SeeLoop(b, Varies(b.blocks[0]->results[0]));
      case OpCode::kForeach: return SeeIndices(b);
      case OpCode::kIreduce: return SeeReduction(b);
      default: return SeeAny(b);
    }
  }

  void SeeIf(const Binding& b) {
    for (const Block* block : b.blocks) See(*block);
    const bool parts = Varies(b.operands[0]);
    for (size_t k = 0; k < b.results.size(); ++k) {
      const Operand& then = b.blocks[0]->results[k];
      const Operand& otherwise = b.blocks[1]->results[k];
      if (Varies(then) || Varies(otherwise) || (parts && then != otherwise)) Add(b.results[k]);
    }
  }

  // Where lanes do not run it alike, all that it carries varies behind it. In a `while` that they
  // leave one by one, what is the same in those that go on does not.
  void SeeLoop(const Binding& b, bool parts) {
    if (parts && b.op == OpCode::kFor) Add(b.blocks[0]->params[0]);
    const Block& body = *b.blocks.back();
    for (size_t k = 0; k < b.results.size(); ++k) {
      const bool differs = Varies(b.operands[FirstInit(b) + k]) || Varies(body.results[k]);
      if (parts || differs) Add(b.results[k]);
      if (!differs && (!parts || b.op == OpCode::kWhile)) continue;
      for (const Block* block : b.blocks) Add(block->params[FirstCarried(b) + k]);
    }
    for (const Block* block : b.blocks) See(*block);
  }

  void SeeIndices(const Binding& b) {
    const std::vector<const Var*>& indices = b.blocks[0]->params;
    if (AnyVaries({b.operands.begin(), b.operands.begin() + indices.size()})) AddAll(indices);
    See(*b.blocks[0]);
  }

  // Accumulators are combined together: all of them vary, or none.
  void SeeReduction(const Binding& b) {
    SeeIndices(b);
    bool varies = AnyVaries(b.operands) || AnyVaries(b.blocks[0]->results);
    for (size_t k = 1; k < b.blocks.size(); ++k) {
      See(*b.blocks[k]);
      varies |= AnyVaries(b.blocks[k]->results);
    }
    if (!varies) return;
    AddAll(b.results);
    for (size_t k = 1; k < b.blocks.size(); ++k) AddAll(b.blocks[k]->params);
  }

  void SeeAny(const Binding& b) {
    AddAll(b.results);
    for (const Block* block : b.blocks) {
      AddAll(block->params);
      See(*block);
    }
  }

  bool Varies(const Operand& operand) const {
    return operand.IsVar() && varying_.contains(operand.var());
  }
  bool AnyVaries(const std::vector<Operand>& operands) const {
    return std::any_of(operands.begin(), operands.end(), [&](auto& o) { return Varies(o); });
  }

  void Add(const Var* var) { found_ |= varying_.insert(var).second; }
  void AddAll(const std::vector<const Var*>& vars) {
    for (const Var* var : vars) Add(var);
  }
  void AddIf(bool varies, const Binding& b) {
    if (varies) AddAll(b.results);
  }

  VarSet varying_;
  bool found_ = false;  // Something since the last time over the block began.
};

}  // namespace

VarSet VaryingValues(const Block& block, const Var* index) {
  return VaryingFinder().Find(block, index);
}

}  // namespace parakeet::passes
