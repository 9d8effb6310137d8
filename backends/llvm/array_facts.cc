#include "backends/llvm/array_facts.h"

#include <utility>

namespace parakeet::backends {
namespace {

using ir::Attr;
using ir::Operand;
using ir::Var;

MemoryOrder OrderOf(ir::Layout layout, int rank) {
  if (layout == ir::Layout::kStrided) return MemoryOrder::kStrided;
  const bool is_c = layout == ir::Layout::kC || rank <= 1;
  return is_c ? MemoryOrder::kC : MemoryOrder::kFortran;
}

bool HasUnitRows(MemoryOrder order) {
  return order == MemoryOrder::kC || order == MemoryOrder::kRows;
}

MemoryOrder JoinOrders(MemoryOrder a, MemoryOrder b) {
  if (a == b) return a;
  return HasUnitRows(a) && HasUnitRows(b) ? MemoryOrder::kRows : MemoryOrder::kStrided;
}

ArrayFacts Joined(const ArrayFacts& a, const ArrayFacts& b) {
  ArrayFacts joined = a;
  joined.order = JoinOrders(a.order, b.order);
  joined.aligned = a.aligned && b.aligned;
  joined.roots.insert(b.roots.begin(), b.roots.end());
  joined.anywhere = a.anywhere || b.anywhere;
  return joined;
}

// The coefficient of root axis `k` and view axis `j`.
const Operand& Coefficient(const ir::Binding& view, int root_rank, int rank, int k, int j) {
  return view.operands[1 + root_rank + k * rank + j];
}

int RootRank(const ir::Binding& view) {
  return view.attrs.Int(Attr::kFlat) ? 1 : TypeOf(view.operands[0]).rank();
}

// Whether the view's index is the root's but for the offset.
bool IsIdentity(const ir::Binding& view) {
  const int rank = view.result()->type.rank();
  const int root_rank = RootRank(view);
  if (rank != root_rank) return false;
  for (int k = 0; k < rank; ++k) {
    for (int j = 0; j < rank; ++j) {
      if (!Coefficient(view, root_rank, rank, k, j).IsInt(k == j)) return false;
    }
  }
  return true;
}

// Whether all axes but the first have the root's sizes.
bool HasSameRows(const ir::Type& a, const ir::Type& b) {
  for (int axis = 1; axis < a.rank(); ++axis) {
    if (!(a.dims()[axis] == b.dims()[axis])) return false;
  }
  return a.rank() == b.rank();
}

// Whether a step along the view's last axis is a step along the root's last axis.
bool StepsAlongRows(const ir::Binding& view) {
  const int rank = view.result()->type.rank();
  const int root_rank = RootRank(view);
  if (rank == 0 || root_rank == 0) return false;
  for (int k = 0; k < root_rank; ++k) {
    const bool is_last = k == root_rank - 1;
    if (!Coefficient(view, root_rank, rank, k, rank - 1).IsInt(is_last)) return false;
  }
  return true;
}

}  // namespace

ArrayAnalysis::ArrayAnalysis(const ir::Function& function, bool as_entry) {
  const bool are_distinct = as_entry && !function.may_overlap;
  const int outside = are_distinct ? -1 : root_count_++;
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    ArrayFacts facts;
    facts.order = OrderOf(param.layout, param.var->type.rank());
    facts.aligned = param.aligned;
    facts.roots = {are_distinct ? NumberOf(param.var) : outside};
    facts_[param.var] = std::move(facts);
  }
  do {
    changed_ = false;
    Visit(*function.body);
  } while (changed_);
}

int ArrayAnalysis::NumberOf(const Var* root) {
  const auto [place, is_new] = numbers_.emplace(root, root_count_);
  if (is_new) ++root_count_;
  return place->second;
}

void ArrayAnalysis::Set(const Var* array, ArrayFacts facts) {
  const auto known = facts_.find(array);
  if (known != facts_.end() && known->second == facts) return;
  facts_[array] = std::move(facts);
  changed_ = true;
}

void ArrayAnalysis::Join(const Var* into, const Operand& from) {
  if (!into->type.IsArray()) return;
  const ArrayFacts& incoming = facts_.at(from.var());
  const auto known = facts_.find(into);
  Set(into, known == facts_.end() ? incoming : Joined(known->second, incoming));
}

void ArrayAnalysis::JoinAll(const std::vector<const Var*>& into, const std::vector<Operand>& from) {
  for (size_t i = 0; i < into.size(); ++i) Join(into[i], from[i]);
}

void ArrayAnalysis::Visit(const ir::Block& block) {
  for (const ir::Binding* binding : block.bindings) Visit(*binding);
}

void ArrayAnalysis::Visit(const ir::Binding& binding) {
  switch (binding.op) {
    case ir::OpCode::kAlloc: {
      ArrayFacts facts;
      const bool is_fortran = binding.attrs.Int(Attr::kFortran);
      facts.order = OrderOf(is_fortran ? ir::Layout::kFortran : ir::Layout::kC,
                            binding.result()->type.rank());
      facts.roots = {NumberOf(binding.result())};
      return Set(binding.result(), std::move(facts));
    }
    case ir::OpCode::kView: return Set(binding.result(), FactsOfView(binding));
    case ir::OpCode::kCall: {
      ArrayFacts facts;
      facts.anywhere = true;
      facts.aligned = false;
      for (const Var* result : binding.results) {
        if (result->type.IsArray()) Set(result, facts);
      }
      return;
    }
    case ir::OpCode::kIf:
      for (const ir::Block* block : binding.blocks) {
        Visit(*block);
        JoinAll(binding.results, block->results);
      }
      return;
    case ir::OpCode::kFor: return VisitLoop(binding, *binding.blocks[0], 3, 1);
    case ir::OpCode::kWhile: return VisitLoop(binding, *binding.blocks[1], 0, 0);
    default: return;
  }
}

// A loop's results are its initial values after no trip, and its carried ones after some; both are
// what its parameters join.
void ArrayAnalysis::VisitLoop(const ir::Binding& binding, const ir::Block& body, size_t first_init,
                              size_t first_param) {
  const size_t count = binding.results.size();
  const auto join_params = [&](const ir::Block& block, size_t first,
                               const std::vector<Operand>& from, size_t skipped) {
    for (size_t i = 0; i < count; ++i) Join(block.params[first + i], from[skipped + i]);
  };
  for (const ir::Block* block : binding.blocks) {
    join_params(*block, first_param, binding.operands, first_init);
    // Before the second block has been visited once, nothing is known of what it yields.
    Visit(*block);
  }
  for (const ir::Block* block : binding.blocks) join_params(*block, first_param, body.results, 0);
  for (size_t i = 0; i < count; ++i) Join(binding.results[i], body.params[first_param + i]);
}

ArrayFacts ArrayAnalysis::FactsOfView(const ir::Binding& view) const {
  const Var* root = view.operands[0].var();
  ArrayFacts facts = facts_.at(root);
  const bool is_flat = view.attrs.Int(Attr::kFlat);
  const MemoryOrder root_order = is_flat ? MemoryOrder::kC : facts.order;
  facts.order = MemoryOrder::kStrided;
  if (HasUnitRows(root_order) && StepsAlongRows(view)) {
    facts.order = MemoryOrder::kRows;
    const bool has_c_root = root_order == MemoryOrder::kC && IsIdentity(view);
    const bool is_line = view.result()->type.rank() == 1;
    if (is_line || (has_c_root && !is_flat && HasSameRows(root->type, view.result()->type))) {
      facts.order = MemoryOrder::kC;
    }
  }
  return facts;
}

}  // namespace parakeet::backends
