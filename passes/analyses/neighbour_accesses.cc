#include "passes/analyses/neighbour_accesses.h"

#include <algorithm>

#include "ir/dtype.h"

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool IsAccess(const Binding& b) { return b.op == OpCode::kLoad || b.op == OpCode::kStore; }

// As an array along one axis, or seen as one.
bool LiesSideBySide(const Var* array, const AccessPatterns& patterns,
                    const ir::DefinitionMap& definitions) {
  if (array->type.rank() != 1) return false;
  const auto found = definitions.find(array);
  if (found == definitions.end() || found->second->op != OpCode::kView)
    return patterns.LiesInC(array);
  const Binding& view = *found->second;
  return view.attrs.Int(ir::Attr::kFlat) != 0 && view.operands[1].IsInt(0) &&
         view.operands[2].IsInt(1) && patterns.LiesInC(view.operands[0].var());
}

bool HoldsCheck(const Binding& branch) {
  bool holds = false;
  for (const Block* block : branch.blocks)
    ir::ForEachBinding(*block, [&](const Binding& b) { holds |= b.op == OpCode::kCheck; });
  return holds;
}

// At one place, whatever the index.
bool StaysWhereItIs(const Binding& load, const ir::VarSet& inside) {
  return std::none_of(load.operands.begin(), load.operands.end(),
                      [&](const Operand& operand) { return inside.contains(operand.var()); });
}

}  // namespace

std::optional<std::set<size_t>> NeighbourAccesses(const Binding& loop,
                                                  const AccessPatterns& patterns,
                                                  const ir::DefinitionMap& definitions) {
  const Block& body = *loop.blocks[0];
  const ir::VarSet inside = ir::DefinedVars(body);
  std::set<size_t> accesses;
  ir::VarSet found;                        // what elements say
  ir::VarSet of_index = {body.params[0]};  // what the index itself says
  bool stores = false;
  bool checks = false;  // what may say that there is an element of the index
  for (size_t at = 0; at < body.bindings.size(); ++at) {
    const Binding& b = *body.bindings[at];
    const bool is_store = b.op == OpCode::kStore;
    if (stores && !is_store) return std::nullopt;
    stores |= is_store;
    const auto is_found = [&](const Operand& value) { return found.contains(value.var()); };
    if (b.op == OpCode::kLoad || std::any_of(b.operands.begin(), b.operands.end(), is_found))
      found.insert(b.results.begin(), b.results.end());
    const auto is_of_index = [&](const Operand& value) { return of_index.contains(value.var()); };
    if (b.op == OpCode::kCheck) checks |= is_of_index(b.operands[0]) || !is_found(b.operands[0]);
    checks |= HoldsCheck(b);
    if (!b.blocks.empty() ||
        (ir::IsScalarOp(b.op) && std::any_of(b.operands.begin(), b.operands.end(), is_of_index)))
      of_index.insert(b.results.begin(), b.results.end());
    if (!IsAccess(b)) {
      if (!ir::IsScalarOp(b.op) && b.op != OpCode::kIf && b.op != OpCode::kCheck)
        return std::nullopt;
      bool is_scalar = true;
      for (const Block* block : b.blocks) {
        ir::ForEachBinding(*block, [&](const Binding& inner) {
          is_scalar &=
              ir::IsScalarOp(inner.op) || inner.op == OpCode::kIf || inner.op == OpCode::kCheck;
        });
      }
      if (!is_scalar) return std::nullopt;
      continue;
    }
    if (!is_store && StaysWhereItIs(b, inside)) continue;
    const Var* array = b.operands[0].var();
    const bool is_own = b.operands[1] == Operand(body.params[0]) &&
                        !ir::IsComplex(array->type.dtype()) &&
                        LiesSideBySide(array, patterns, definitions);
    const bool is_anywhere =
        !is_store && std::any_of(b.operands.begin() + 1, b.operands.end(), is_found);
    if (!is_own && is_anywhere) continue;
    if (!is_own) return std::nullopt;
    // It would be read in front of the check.
    if (!is_store && checks && array->type.dims()[0] != loop.operands[1]) return std::nullopt;
    accesses.insert(at);
  }
  if (accesses.empty()) return std::nullopt;
  return accesses;
}

}  // namespace parakeet::passes
