#include "passes/analyses/needed_bindings.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::Var;
using ir::VarSet;

std::vector<const Binding*> NeededBindings(const ir::Block& block, VarSet values) {
  std::vector<const Binding*> needed;
  for (auto b = block.bindings.rbegin(); b != block.bindings.rend(); ++b) {
    const auto is_needed = [&](const Var* result) { return values.contains(result); };
    if (!std::any_of((*b)->results.begin(), (*b)->results.end(), is_needed)) continue;
    needed.push_back(*b);
    ir::ForEachUse(**b, [&](const Var* used) { values.insert(used); });
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

std::vector<const Binding*> NeededBindings(const ir::Block& block,
                                           const std::vector<ir::Operand>& values) {
  VarSet vars;
  for (const ir::Operand& value : values) {
    if (value.IsVar()) vars.insert(value.var());
  }
  return NeededBindings(block, std::move(vars));
}

size_t CountReaders(const ir::Block& block, const Var* value) {
  size_t readers = std::count(block.results.begin(), block.results.end(), ir::Operand(value));
  for (const Binding* b : block.bindings) readers += ir::FreeVars(*b).contains(value);
  return readers;
}

}  // namespace parakeet::passes
