#include "ir/uses.h"

#include "ir/library_routines.h"

namespace parakeet::ir {
namespace {

using See = std::function<void(const Var*)>;

void SeeOperands(const std::vector<Operand>& operands, const See& see) {
  for (const Operand& operand : operands) {
    if (operand.IsVar()) see(operand.var());
  }
}

void SeeSizes(const std::vector<const Var*>& vars, const See& see) {
  for (const Var* var : vars) SeeOperands(var->type.dims(), see);
}

void Define(const Block& block, VarSet& defined) {
  defined.insert(block.params.begin(), block.params.end());
  ForEachBinding(block, [&](const Binding& binding) {
    defined.insert(binding.results.begin(), binding.results.end());
    for (const Block* inner : binding.blocks)
      defined.insert(inner->params.begin(), inner->params.end());
  });
}

}  // namespace

void ForEachUse(const Binding& binding, const See& see) {
  SeeOperands(binding.operands, see);
  SeeSizes(binding.results, see);
  for (const Block* block : binding.blocks) ForEachUse(*block, see);
}

void ForEachUse(const Block& block, const See& see) {
  SeeSizes(block.params, see);
  for (const Binding* binding : block.bindings) ForEachUse(*binding, see);
  SeeOperands(block.results, see);
}

void ForEachBinding(const Block& block, const std::function<void(const Binding&)>& see) {
  for (const Binding* binding : block.bindings) {
    see(*binding);
    for (const Block* inner : binding->blocks) ForEachBinding(*inner, see);
  }
}

std::vector<size_t> StoredOperands(const Binding& binding) {
  switch (binding.op) {
    case OpCode::kStore:
    case OpCode::kAtomic:
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes: return {0};
    case OpCode::kCopy: return {1};
    case OpCode::kLibraryCall: {
      // The verifier asks of malformed ones, too.
      const Routine* routine = TryRoutineOf(binding);
      std::vector<size_t> stored;
      for (size_t i = 0; routine != nullptr && i < routine->size(); ++i) {
        if (routine->IsWritten(i)) stored.push_back(i);
      }
      return stored;
    }
    default: return {};
  }
}

VarSet DefinedVars(const Block& block) {
  VarSet defined;
  Define(block, defined);
  return defined;
}

VarSet FreeVars(const Block& block) {
  const VarSet defined = DefinedVars(block);
  VarSet free;
  ForEachUse(block, [&](const Var* var) {
    if (!defined.contains(var)) free.insert(var);
  });
  return free;
}

VarSet FreeVars(const Binding& binding) {
  VarSet defined(binding.results.begin(), binding.results.end());
  for (const Block* block : binding.blocks) Define(*block, defined);
  VarSet free;
  ForEachUse(binding, [&](const Var* var) {
    if (!defined.contains(var)) free.insert(var);
  });
  return free;
}

DefinitionMap Definitions(const Block& block) {
  DefinitionMap definitions;
  ForEachBinding(block, [&](const Binding& binding) {
    for (const Var* result : binding.results) definitions[result] = &binding;
  });
  return definitions;
}

}  // namespace parakeet::ir
