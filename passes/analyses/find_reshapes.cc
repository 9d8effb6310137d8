#include "passes/analyses/find_reshapes.h"

#include <algorithm>

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

// True for what writes, or may write, through one of the values themselves.
bool StoresTo(const Binding& b, const VarSet& arrays) {
  if (b.op == OpCode::kCall) {
    return std::any_of(b.operands.begin(), b.operands.end(),
                       [&](const Operand& operand) { return IsAmong(operand, arrays); });
  }
  const std::vector<size_t> stored = ir::StoredOperands(b);
  return std::any_of(stored.begin(), stored.end(),
                     [&](size_t operand) { return IsAmong(b.operands[operand], arrays); });
}

class Finder {
 public:
  Finder(const ir::Function& function, const Roots& roots) : function_(function), roots_(roots) {}

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
    bool stored = false;
    ir::ForEachBinding(*function_.body, [&](const Binding& b) { stored |= StoresTo(b, derived); });
    return stored || OutlivesStore(block, at, derived);
  }

  // True where what the reshape is made of is written, and one of its views read then or later. A
  // loop makes it anew in each iteration.
  bool OutlivesStore(const Block& block, size_t at, const VarSet& derived) const {
    const VarSet& memory = roots_.Of(block.bindings[at]->result());
    bool written = false;
    for (size_t later = at + 1; later < block.bindings.size(); ++later) {
      const Binding& b = *block.bindings[later];
      written |= Intersects(EffectsOf(b, roots_).writes, memory);
      if (written && Intersects(ir::FreeVars(b), derived)) return true;
    }
    return written && std::any_of(block.results.begin(), block.results.end(),
                                  [&](const Operand& r) { return IsAmong(r, derived); });
  }

  const ir::Function& function_;
  const Roots& roots_;
  VarSet exposed_;
};

}  // namespace

VarSet FindExposedReshapes(const ir::Function& function, const Roots& roots) {
  Finder finder(function, roots);
  finder.Visit(*function.body);
  return finder.exposed();
}

}  // namespace parakeet::passes
