#include "passes/analyses/find_reshapes.h"

#include <algorithm>
#include <unordered_map>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;
using ir::VarSet;

bool IsAmong(const Operand& operand, const VarSet& arrays) {
  return operand.IsVar() && arrays.contains(operand.var());
}

// Adds what the binding writes, or may write, through the values themselves.
void AddStored(const Binding& b, VarSet& stored) {
  const auto add = [&](const Operand& operand) {
    if (operand.IsVar()) stored.insert(operand.var());
  };
  if (b.op == OpCode::kCall) std::for_each(b.operands.begin(), b.operands.end(), add);
  for (const size_t operand : ir::StoredOperands(b)) add(b.operands[operand]);
}

class Finder {
 public:
  Finder(const ir::Function& function, const Roots& roots)
      : roots_(roots), written_(EffectsOf(*function.body, roots).writes) {
    ir::ForEachBinding(*function.body, [&](const Binding& b) { AddStored(b, stored_); });
  }

  void Visit(const Block& block) {
    for (size_t at = 0; at < block.bindings.size(); ++at) {
      const Binding& b = *block.bindings[at];
      for (const Block* inner : b.blocks) Visit(*inner);
      if (b.op == OpCode::kReshape && IsExposed(block, at)) exposed_.insert(b.result());
    }
  }

  const VarSet& exposed() const { return exposed_; }

 private:
  bool IsExposed(const Block& block, size_t at) const {
    const Var* result = block.bindings[at]->result();
    const VarSet derived = roots_.ViewsOf(result);
    return Intersects(derived, stored_) || OutlivesStore(block, at, derived);
  }

  // True where what the reshape is made of is written, and one of its views read then or later. A
  // loop makes it anew in each iteration.
  bool OutlivesStore(const Block& block, size_t at, const VarSet& derived) const {
    const VarSet& memory = roots_.Of(block.bindings[at]->result());
    if (!Intersects(memory, written_)) return false;
    bool written = false;
    for (size_t later = at + 1; later < block.bindings.size(); ++later) {
      const Binding& b = *block.bindings[later];
      written = written || Intersects(WrittenBy(b), memory);
      if (written && Intersects(ReadBy(b), derived)) return true;
    }
    return written && std::any_of(block.results.begin(), block.results.end(),
                                  [&](const Operand& r) { return IsAmong(r, derived); });
  }

  // Each is asked for every reshape before the binding.
  const VarSet& WrittenBy(const Binding& b) const {
    const auto [place, is_new] = written_by_.try_emplace(&b);
    if (is_new) place->second = EffectsOf(b, roots_).writes;
    return place->second;
  }
  const VarSet& ReadBy(const Binding& b) const {
    const auto [place, is_new] = read_by_.try_emplace(&b);
    if (is_new) place->second = ir::FreeVars(b);
    return place->second;
  }

  const Roots& roots_;
  mutable std::unordered_map<const Binding*, VarSet> written_by_;
  mutable std::unordered_map<const Binding*, VarSet> read_by_;
  VarSet written_;  // anywhere
  VarSet stored_;   // the values that are written through
  VarSet exposed_;
};

}  // namespace

VarSet FindExposedReshapes(const ir::Function& function, const Roots& roots) {
  Finder finder(function, roots);
  finder.Visit(*function.body);
  return finder.exposed();
}

}  // namespace parakeet::passes
