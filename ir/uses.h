#ifndef PARAKEET_IR_USES_H_
#define PARAKEET_IR_USES_H_

#include <functional>
#include <vector>

#include "ir/flat_table.h"
#include "ir/node.h"

namespace parakeet::ir {

using VarSet = FlatSet<const Var*>;
// The binding that defines a value.
using DefinitionMap = FlatMap<const Var*, const Binding*>;

// Calls `see` on every value a binding reads: operands, sizes in the types of its results, and the
// same of its blocks.
void ForEachUse(const Binding& binding, const std::function<void(const Var*)>& see);
// The same of all of a block, its results included.
void ForEachUse(const Block& block, const std::function<void(const Var*)>& see);

// Calls `see` on every binding of the block and of the blocks inside it, outer before inner, in
// order.
void ForEachBinding(const Block& block, const std::function<void(const Binding&)>& see);

// The operands whose elements the binding itself writes: not its blocks, nor what it calls.
std::vector<size_t> StoredOperands(const Binding& binding);

// True where what the binding makes lies in Fortran order.
inline bool IsFortran(const Binding& binding) { return binding.attrs.Int(Attr::kFortran) != 0; }

// The values that a block, or a binding with its blocks, reads but does not define.
VarSet FreeVars(const Block& block);
VarSet FreeVars(const Binding& binding);

// The values defined by a block: its parameters, its bindings' results and the same of blocks
// inside.
VarSet DefinedVars(const Block& block);

// The binding that defines each value; parameters of blocks and functions have none.
DefinitionMap Definitions(const Block& block);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_USES_H_
