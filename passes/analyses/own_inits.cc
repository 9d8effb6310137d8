#include "passes/analyses/own_inits.h"

#include <algorithm>

#include "ir/uses.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// Of operands and of what blocks yield: a size in a type reads no array.
std::unordered_map<const Var*, int> CountUses(const ir::Function& function) {
  std::unordered_map<const Var*, int> uses;
  const auto count = [&](const Operand& operand) {
    if (operand.IsVar()) ++uses[operand.var()];
  };
  const auto count_results = [&](const Block& block) {
    std::for_each(block.results.begin(), block.results.end(), count);
  };
  count_results(*function.body);
  ir::ForEachBinding(*function.body, [&](const Binding& b) {
    std::for_each(b.operands.begin(), b.operands.end(), count);
    for (const Block* block : b.blocks) count_results(*block);
  });
  return uses;
}

}  // namespace

OwnInits::OwnInits(const ir::Function& function) { See(*function.body, CountUses(function)); }

// A loop inside another takes what is made outside more than once, so both stand in one block.
void OwnInits::See(const Block& block, const std::unordered_map<const Var*, int>& uses) {
  std::unordered_map<const Var*, const Binding*> made;
  for (const Binding* b : block.bindings) {
    for (const Var* result : b->results) {
      if (b->op == OpCode::kImap) made[result] = b;
    }
    for (const Operand& operand : b->operands) {
      const auto maker = operand.IsVar() ? made.find(operand.var()) : made.end();
      if (b->op == OpCode::kFor && maker != made.end() && uses.at(operand.var()) == 1)
        inits_.insert({operand.var(), {maker->second->attrs, b->results[0]}});
    }
    for (const Block* inner : b->blocks) See(*inner, uses);
  }
}

bool OwnInits::Has(const Binding& loop, const Operand& init, const ir::Attributes& order) const {
  const auto found = init.IsVar() ? inits_.find(init.var()) : inits_.end();
  return found != inits_.end() && found->second.result == loop.results[0] &&
         found->second.order == order;
}

bool OwnInits::HasAll(const Binding& loop, const ir::Attributes& order) const {
  return std::all_of(loop.operands.begin() + 3, loop.operands.end(),
                     [&](const Operand& init) { return Has(loop, init, order); });
}

}  // namespace parakeet::passes
