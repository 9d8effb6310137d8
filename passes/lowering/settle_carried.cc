#include "passes/lowering/settle_carried.h"

#include <unordered_map>
#include <vector>

#include "ir/mutator.h"
#include "passes/analyses/carried_values.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

class CarriedSettler : public ir::Mutator {
 public:
  using Mutator::Mutator;

 protected:
  void Visit(const Binding* b) override { Mutator::Visit(IsLoop(b->op) ? Settled(*b) : b); }

 private:
  const Binding* Settled(const Binding& loop) {
    const std::vector<bool> stays = FindStaying(loop);
    std::vector<bool> keeps;
    for (size_t k = 0; k < loop.results.size(); ++k) {
      keeps.push_back(!stays[k]);
      if (!stays[k]) continue;
      const Operand init = loop.operands[FirstInit(loop) + k];
      for (const Block* block : loop.blocks) Replace(block->params[FirstCarried(loop) + k], init);
      Replace(loop.results[k], init);
    }
    return KeepResults(arena(), loop, keeps);
  }

  // Those whose next value is their first, while that is so of all of them.
  std::vector<bool> FindStaying(const Binding& loop) {
    std::vector<bool> stays;
    for (const Var* result : loop.results) stays.push_back(result->type.IsScalar());
    const Block& body = *loop.blocks.back();
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      first_.clear();
      for (size_t k = 0; k < stays.size(); ++k) {
        const Operand init = Apply(loop.operands[FirstInit(loop) + k]);
        if (stays[k]) first_.emplace(body.params[FirstCarried(loop) + k], init);
      }
      for (const Binding* b : body.bindings) Follow(*b);
      for (size_t k = 0; k < stays.size(); ++k) {
        const Operand init = Apply(loop.operands[FirstInit(loop) + k]);
        if (!stays[k] || Followed(body.results[k]) == init) continue;
        stays[k] = false;
        goes_on = true;
      }
    }
    return stays;
  }

  // A choice between one and the same.
  void Follow(const Binding& b) {
    const bool chooses = b.op == OpCode::kSelect || b.op == OpCode::kMin || b.op == OpCode::kMax;
    if (!chooses || !(b.result()->type == ir::Type(ir::DType::kI64))) return;
    const size_t first = b.op == OpCode::kSelect ? 1 : 0;
    const Operand one = Followed(b.operands[first]), other = Followed(b.operands[first + 1]);
    if (one == other) first_.emplace(b.result(), one);
  }

  Operand Followed(const Operand& value) const {
    const auto found = value.IsVar() ? first_.find(value.var()) : first_.end();
    return found == first_.end() ? Apply(value) : found->second;
  }

  std::unordered_map<const Var*, Operand> first_;
};

}  // namespace

const ir::Function* SettleCarried(ir::Arena* arena, const ir::Function* function) {
  return CarriedSettler(arena).Run(function);
}

}  // namespace parakeet::passes
