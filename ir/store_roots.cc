#include "ir/store_roots.h"

#include <algorithm>
#include <string>

#include "ir/uses.h"

namespace parakeet::ir {
namespace {

// The operands that a binding writes to or frees.
std::vector<size_t> TargetsOf(const Binding& binding) {
  return binding.op == OpCode::kFree ? std::vector<size_t>{0} : StoredOperands(binding);
}

}  // namespace

bool IsDataParallel(OpCode op) {
  const OpFormat format = InfoOf(op).format;
  return op != OpCode::kForeach && (format == OpFormat::kElements || format == OpFormat::kIndices);
}

void StoreRoots::Own(const Var* var, int depth) {
  if (!var->type.IsArray()) return;
  nodes_.try_emplace(var);
  if (owned_.size() <= static_cast<size_t>(depth)) owned_.resize(depth + 1);
  owned_[depth].push_back(var);
}

void StoreRoots::Derive(const Var* var, const Operand& from) {
  if (var->type.IsArray() && from.IsVar()) nodes_[from.var()].dependents.push_back(var);
}

void StoreRoots::AddEffect(const Binding& binding, int depth) {
  for (const size_t target : TargetsOf(binding)) {
    if (target >= binding.operands.size()) return;
    const Operand& array = binding.operands[target];
    if (array.IsVar() && (depth > 0 || binding.op == OpCode::kFree))
      effects_.push_back({&binding, array.var(), depth});
  }
}

// Carried arrays are the initial ones or those of an earlier trip.
void StoreRoots::AddLoop(const Binding& binding, const Block& last, size_t first_init) {
  for (const Block* block : binding.blocks) {
    const size_t index_params = binding.op == OpCode::kFor ? 1 : 0;
    for (size_t i = 0; index_params + i < block->params.size(); ++i) {
      const Var* param = block->params[index_params + i];
      if (first_init + i < binding.operands.size()) Derive(param, binding.operands[first_init + i]);
      if (i < last.results.size()) Derive(param, last.results[i]);
    }
  }
  for (size_t i = 0; i < binding.results.size(); ++i) {
    if (first_init + i < binding.operands.size())
      Derive(binding.results[i], binding.operands[first_init + i]);
    if (i < last.results.size()) Derive(binding.results[i], last.results[i]);
  }
}

void StoreRoots::Add(const Binding& binding, int depth) {
  AddEffect(binding, depth);
  const bool is_loop = binding.op == OpCode::kFor || binding.op == OpCode::kWhile;
  if (is_loop && !binding.blocks.empty()) {
    AddLoop(binding, *binding.blocks.back(), binding.op == OpCode::kFor ? 3 : 0);
  } else if (binding.op == OpCode::kIf) {
    for (const Block* block : binding.blocks) {
      const size_t count = std::min(block->results.size(), binding.results.size());
      for (size_t i = 0; i < count; ++i) Derive(binding.results[i], block->results[i]);
    }
  } else if (IsView(binding.op)) {
    for (const Var* result : binding.results) {
      if (!binding.operands.empty()) Derive(result, binding.operands[0]);
    }
  } else {
    for (const Var* result : binding.results) Own(result, depth);
    for (const Block* block : binding.blocks) {
      for (const Var* param : block->params)
        Own(param, depth);  // An operand's memory, which is outside.
    }
    if (binding.op == OpCode::kAlloc || binding.op == OpCode::kCall) {
      makers_.insert(makers_.end(), binding.results.begin(), binding.results.end());
    }
  }
}

// From the outermost roots inwards, so that the depth that first reaches a value is its least.
void StoreRoots::Propagate() {
  for (size_t depth = 0; depth < owned_.size(); ++depth) {
    std::vector<const Var*> reached = owned_[depth];
    while (!reached.empty()) {
      Node& node = nodes_[reached.back()];
      reached.pop_back();
      if (node.depth != INT_MAX) continue;
      node.depth = static_cast<int>(depth);
      reached.insert(reached.end(), node.dependents.begin(), node.dependents.end());
    }
  }
}

// What may be an array that the function makes.
void StoreRoots::FindMade() {
  std::vector<const Var*> reached = makers_;
  while (!reached.empty()) {
    const Var* next = reached.back();
    reached.pop_back();
    if (!made_.insert(next).second) continue;
    const std::vector<const Var*>& dependents = nodes_[next].dependents;
    reached.insert(reached.end(), dependents.begin(), dependents.end());
  }
}

void StoreRoots::Report(Breaches& breaches) {
  if (effects_.empty()) return;
  Propagate();
  FindMade();
  for (const Effect& effect : effects_) {
    breaches.Enter(effect.binding);
    const std::string name = breaches.Text(effect.array);
    if (effect.binding->op == OpCode::kFree) {
      breaches.Require(made_.contains(effect.array), Invariant::kFreesAreOwn,
                       name + " is never what the function allocates");
    }
    const auto node = nodes_.find(effect.array);
    const bool is_local = node == nodes_.end() || node->second.depth >= effect.depth;
    breaches.Require(is_local, Invariant::kStoresAreLocal,
                     name + " is of memory outside the operator");
  }
}

}  // namespace parakeet::ir
