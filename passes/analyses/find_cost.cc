#include "passes/analyses/find_cost.h"

#include <algorithm>

namespace parakeet::passes {
namespace {

using ir::Binding;
using ir::Operand;

int64_t Clamp(int64_t cost) { return std::min<int64_t>(cost, kHugeCost); }

int64_t TripsOf(const Operand& extent) {
  return extent.IsConstant() ? std::clamp<int64_t>(extent.constant().integer, 0, kHugeCost)
                             : kUnknownTrips;
}

int64_t Trips(const Binding& b) {
  switch (InfoOf(b.op).format) {
    case ir::OpFormat::kIndices: {
      int64_t trips = 1;
      for (size_t axis = 0; axis < b.blocks[0]->params.size(); ++axis)
        trips = Clamp(trips * TripsOf(b.operands[axis]));
      return trips;
    }
    case ir::OpFormat::kFor:
      if (b.operands[0].IsConstant() && b.operands[1].IsConstant()) {
        return Clamp(std::max<int64_t>(
            0, b.operands[1].constant().integer - b.operands[0].constant().integer));
      }
      return kUnknownTrips;
    case ir::OpFormat::kIf: return 1;
    default: return kUnknownTrips;
  }
}

int64_t Cost(const ir::Block& block, const std::function<int(const Binding&)>& of_binding) {
  int64_t cost = 0;
  for (const Binding* b : block.bindings) {
    cost += of_binding(*b);
    const int64_t trips = b->blocks.empty() ? 0 : Trips(*b);
    for (const ir::Block* inner : b->blocks) cost += Clamp(trips * Cost(*inner, of_binding));
    cost = Clamp(cost);
  }
  return cost;
}

}  // namespace

int HalfCyclesOf(const ir::Block& block) {
  constexpr int kSimple = 2;  // the dearest operation that is one instruction
  const auto half_cycles = [](const Binding& b) {
    if (b.op == ir::OpCode::kLoad || b.op == ir::OpCode::kStore) return 2;
    const int cost = InfoOf(b.op).cost;
    return cost <= kSimple ? cost : 4 * cost;
  };
  return CostOf(block, half_cycles);
}

int CostOf(const ir::Block& block) {
  return CostOf(block, [](const Binding& b) { return int{InfoOf(b.op).cost}; });
}

int CostOf(const ir::Block& block, const std::function<int(const Binding&)>& of_binding) {
  return static_cast<int>(Cost(block, of_binding));
}

}  // namespace parakeet::passes
