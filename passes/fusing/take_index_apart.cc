#include "passes/fusing/take_index_apart.h"

#include <algorithm>
#include <optional>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

using DefinitionTable = ir::DefinitionMap;

// Appends what a value is a product of.
void AddFactors(const Operand& value, const DefinitionTable& definitions,
                std::vector<Operand>& factors) {
  const auto found = value.IsVar() ? definitions.find(value.var()) : definitions.end();
  if (found == definitions.end() || found->second->op != OpCode::kMul) {
    factors.push_back(value);
    return;
  }
  for (const Operand& operand : found->second->operands) AddFactors(operand, definitions, factors);
}

std::vector<Operand> FactorsOf(const Operand& value, const DefinitionTable& definitions) {
  std::vector<Operand> factors;
  AddFactors(value, definitions, factors);
  return factors;
}

// Rewrites a block with an index of each axis in place of the quotients and remainders of one.
class IndexSplitter : public ir::Mutator {
 public:
  IndexSplitter(ir::Arena* arena, const Var* index, std::vector<Operand> sizes,
                const DefinitionTable& definitions)
      : Mutator(arena), sizes_(std::move(sizes)), definitions_(definitions) {
    for (size_t axis = 0; axis < sizes_.size(); ++axis) {
      indexes_.push_back(arena->New(Var{ir::DType::kI64, axis == 0 ? index->hint : "j"}));
    }
    quotients_[index] = sizes_.size();
  }

  const std::vector<const Var*>& indexes() const { return indexes_; }

  // Null where something else is made of the index.
  const Block* Split(const Block& block) {
    const Block* split = VisitBlock(&block);
    for (const Var* value : ir::FreeVars(Block{{}, split->bindings, split->results})) {
      if (quotients_.contains(value)) return nullptr;
    }
    Block whole = *split;
    whole.params.erase(whole.params.begin());
    whole.params.insert(whole.params.begin(), indexes_.begin(), indexes_.end());
    return arena()->New(std::move(whole));
  }

 protected:
  void Visit(const Binding* b) override {
    const auto place = b->operands.empty() || !b->operands[0].IsVar()
                           ? quotients_.end()
                           : quotients_.find(b->operands[0].var());
    if (place != quotients_.end() && b->op == OpCode::kMod &&
        b->operands[1] == sizes_[place->second - 1]) {
      return Replace(b->result(), indexes_[place->second - 1]);
    }
    if (place != quotients_.end() && b->op == OpCode::kFloorDiv) {
      const size_t left = AxesLeft(place->second, b->operands[1]);
      if (left == 1) return Replace(b->result(), indexes_[0]);
      if (left > 1) {
        quotients_[b->result()] = left;
        return;
      }
    }
    Mutator::Visit(b);
  }

 private:
  // How many axes a place in the first `axes` still counts when it is divided by `divisor`, the
  // product of the sizes of the others; 0 where it is not.
  size_t AxesLeft(size_t axes, const Operand& divisor) const {
    std::vector<Operand> factors = FactorsOf(divisor, definitions_);
    while (!factors.empty() && axes > 1) {
      const auto found = std::find(factors.begin(), factors.end(), sizes_[axes - 1]);
      if (found == factors.end()) return 0;
      factors.erase(found);
      --axes;
    }
    return factors.empty() ? axes : 0;
  }

  std::vector<Operand> sizes_;
  const DefinitionTable& definitions_;
  std::vector<const Var*> indexes_;
  std::unordered_map<const Var*, size_t> quotients_;  // to the number of axes that they count
};

}  // namespace

IndexedBlock TakeIndexApart(ir::Arena* arena, IndexedBlock space,
                            const DefinitionTable& definitions) {
  const std::vector<Operand> sizes = FactorsOf(space.extents[0], definitions);
  if (sizes.size() < 2) return space;
  IndexSplitter splitter(arena, space.block->params[0], sizes, definitions);
  const Block* block = splitter.Split(*space.block);
  if (block == nullptr) return space;
  space.extents.erase(space.extents.begin());
  space.extents.insert(space.extents.begin(), sizes.begin(), sizes.end());
  space.block = block;
  return space;
}

}  // namespace parakeet::passes
