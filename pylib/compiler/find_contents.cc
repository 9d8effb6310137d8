#include "pylib/compiler/find_contents.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "ir/ops.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::pylib {
namespace {

using ir::Binding;
using ir::Function;
using ir::OpCode;
using ir::Operand;
using ir::Var;

bool IsIn(const Var* param, const ir::VarSet& roots) { return roots.contains(param); }

// The operand that an operation stores to and does not read, or -1.
int StoredOnly(const Binding& b) {
  switch (b.op) {
    case OpCode::kStore:
    case OpCode::kStoreLanes:
    case OpCode::kScatterLanes:
    case OpCode::kFree: return 0;
    case OpCode::kCopy: return 1;
    default: return -1;
  }
}

// Whether an operation, apart from its blocks, has to do with the elements of a parameter. What it
// makes of an array without looking at elements is a view.
bool Touches(const Binding& b, const Var* param, const passes::Roots& roots, bool stores_too) {
  if (ir::IsView(b.op)) return b.op == OpCode::kReshape && IsIn(param, roots.Of(b.result()));
  for (size_t i = 0; i < b.operands.size(); ++i) {
    const Operand& operand = b.operands[i];
    if (!operand.IsVar() || !operand.var()->type.IsArray()) continue;
    if (int(i) == StoredOnly(b) && !stores_too) continue;
    if (IsIn(param, roots.Of(operand.var()))) return true;
  }
  return false;
}

bool TouchesWithin(const Binding& b, const Var* param, const passes::Roots& roots,
                   bool stores_too = true) {
  bool touches = Touches(b, param, roots, stores_too);
  for (const ir::Block* block : b.blocks) {
    ir::ForEachBinding(*block, [&](const Binding& inner) {
      touches = touches || Touches(inner, param, roots, stores_too);
    });
  }
  return touches;
}

// Sizes that the checks at the top of a function, where it goes on, make equal.
class EqualSizes {
 public:
  explicit EqualSizes(const ir::Block& body) {
    for (const Binding* b : body.bindings) {
      if (b->op != OpCode::kCheck || !b->operands[0].IsVar()) continue;
      for (const Binding* eq : body.bindings) {
        const bool is_it = eq->op == OpCode::kEq && eq->result() == b->operands[0].var();
        if (is_it) Join(eq->operands[0], eq->operands[1]);
      }
    }
  }

  bool AreEqual(const Operand& a, const Operand& b) const { return Find(a) == Find(b); }

 private:
  Operand Find(const Operand& size) const {
    for (const auto& [from, to] : joined_) {
      if (from == size) return Find(to);
    }
    return size;
  }
  void Join(const Operand& a, const Operand& b) {
    const Operand first = Find(a), second = Find(b);
    if (!(first == second)) joined_.emplace_back(first, second);
  }

  std::vector<std::pair<Operand, Operand>> joined_;
};

// Whether the indices of a store are those of the foreach around it, each for an axis that is as
// long as it goes, so that every element is stored.
bool GoesOverAll(const Binding& foreach, const Binding& store, const EqualSizes& sizes) {
  const std::vector<Operand>& dims = store.operands[0].var()->type.dims();
  const auto& indices = foreach.blocks[0]->params;
  if (indices.size() != dims.size()) return false;
  std::vector<bool> used(indices.size());
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    const Operand& index = store.operands[1 + axis];
    const auto at =
        std::find(indices.begin(), indices.end(), index.IsVar() ? index.var() : nullptr);
    if (at == indices.end()) return false;
    const size_t k = size_t(at - indices.begin());
    if (used[k] || !sizes.AreEqual(foreach.operands[k], dims[axis])) return false;
    used[k] = true;
  }
  return true;
}

bool StoresAll(const Binding& b, const Var* param, const EqualSizes& sizes) {
  if (b.op == OpCode::kCopy) return b.operands[1] == Operand(param);
  if (b.op != OpCode::kForeach) return false;
  const auto& inside = b.blocks[0]->bindings;
  return std::any_of(inside.begin(), inside.end(), [&](const Binding* store) {
    return store->op == OpCode::kStore && store->operands[0] == Operand(param) &&
           GoesOverAll(b, *store, sizes);
  });
}

// Whether the first that touches the parameter replaces all its elements, and nothing fails from
// there on.
bool IsReplaced(const Function& entry, const Var* param, const passes::Roots& roots) {
  const auto& bindings = entry.body->bindings;
  const auto first = std::find_if(bindings.begin(), bindings.end(), [&](const Binding* b) {
    return TouchesWithin(*b, param, roots);
  });
  if (first == bindings.end()) return false;
  const bool is_read = TouchesWithin(**first, param, roots, /*stores_too=*/false);
  if (is_read || !StoresAll(**first, param, EqualSizes(*entry.body))) return false;
  return std::none_of(first, bindings.end(),
                      [&](const Binding* b) { return passes::EffectsOf(*b, roots).may_fail; });
}

bool IsTouched(const Function& entry, const Var* param, const passes::Roots& roots) {
  const auto& bindings = entry.body->bindings;
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const Binding* b) { return TouchesWithin(*b, param, roots); });
}

std::vector<const Var*> ArraysOf(const Function& entry) {
  std::vector<const Var*> arrays;
  for (const ir::Param& param : entry.params) {
    if (param.var->type.IsArray()) arrays.push_back(param.var);
  }
  return arrays;
}

}  // namespace

std::vector<uint8_t> FindContents(const ir::Program& indexed, const ir::Program& last) {
  const Function &before = *indexed.functions.front(), &after = *last.functions.front();
  const passes::Roots roots_before(before), roots_after(after);
  const std::vector<const Var*> params = ArraysOf(after), earlier = ArraysOf(before);
  std::vector<uint8_t> matters(params.size(), 1);
  // Where arguments may overlap, a store to one may be to another.
  if (after.may_overlap || params.size() != earlier.size()) return matters;
  for (size_t i = 0; i < params.size(); ++i) {
    matters[i] =
        IsTouched(after, params[i], roots_after) && !IsReplaced(before, earlier[i], roots_before);
  }
  return matters;
}

}  // namespace parakeet::pylib
