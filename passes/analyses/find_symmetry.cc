#include "passes/analyses/find_symmetry.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "ir/uses.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::Operand;
using ir::Var;

class Exchange {
 public:
  Exchange(const Block& block, const Var* a, const Var* b) : a_(a), b_(b) {
    for (const Binding* binding : block.bindings) {
      for (const Var* result : binding->results) made_by_[result] = binding;
    }
  }

  // Whether `one` is `other` once the parameters have changed places.
  bool Gives(const Operand& one, const Operand& other) {
    if (!one.IsVar() || !other.IsVar()) return one == other;
    const Var *from = one.var(), *to = other.var();
    if (from == a_ || from == b_) return to == (from == a_ ? b_ : a_);
    const auto maker = made_by_.find(from), other_maker = made_by_.find(to);
    if (maker == made_by_.end() || other_maker == made_by_.end()) return from == to;
    const auto [known, is_new] = known_.try_emplace({from, to}, false);
    if (is_new) known->second = GivesResult(*maker->second, *other_maker->second);
    return known->second;
  }

 private:
  bool GivesResult(const Binding& one, const Binding& other) {
    const bool is_plain = one.results.size() == 1 && one.blocks.empty() && other.blocks.empty();
    if (!is_plain || one.op != other.op || !(one.attrs == other.attrs)) return false;
    if (one.result()->type != other.result()->type) return false;
    if (one.operands.size() != other.operands.size()) return false;
    const auto gives = [&](const Operand& x, const Operand& y) { return Gives(x, y); };
    if (std::equal(one.operands.begin(), one.operands.end(), other.operands.begin(), gives))
      return true;
    return ir::IsCommutative(one.op) && one.operands.size() == 2 &&
           Gives(one.operands[0], other.operands[1]) && Gives(one.operands[1], other.operands[0]);
  }

  const Var* const a_;
  const Var* const b_;
  ir::DefinitionMap made_by_;
  std::map<std::pair<const Var*, const Var*>, bool> known_;
};

}  // namespace

bool IsSymmetric(const Block& block, const Var* a, const Var* b) {
  // What stores or fails does so at its own indexes.
  for (const Binding* binding : block.bindings) {
    if (binding->results.empty() || !binding->blocks.empty()) return false;
  }
  Exchange exchange(block, a, b);
  return std::all_of(block.results.begin(), block.results.end(),
                     [&](const Operand& result) { return exchange.Gives(result, result); });
}

}  // namespace parakeet::passes
