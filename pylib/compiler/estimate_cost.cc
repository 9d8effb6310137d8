#include "pylib/compiler/estimate_cost.h"

#include <algorithm>
#include <utility>

#include "ir/uses.h"
#include "runtime/abi.h"

namespace parakeet::pylib {
namespace {

using ir::Binding;
using ir::OpCode;
using ir::Operand;
using ir::OpFormat;

// A product of constants and argument slots.
struct Product {
  double factor = 1;
  std::vector<uint32_t> slots;
};

class Estimator {
 public:
  explicit Estimator(const ir::Function& entry)
      : definitions_(ir::Definitions(*entry.body)), slots_(SlotsOf(entry)) {
    Visit(*entry.body, {});
  }

  CostEstimate Take() { return std::move(estimate_); }

 private:
  void Visit(const ir::Block& block, const Product& trips) {
    double cycles = 0;
    for (const Binding* binding : block.bindings) {
      cycles += InfoOf(binding->op).cost;
      if (binding->op == OpCode::kCall || binding->op == OpCode::kWhile) {
        estimate_.is_bounded = false;
      }
      if (binding->op == OpCode::kCopy) {
        AddTerm(Spanned(binding->operands.front(), trips), 1);
      }
      if (binding->blocks.empty()) continue;
      const Product inner = Times(trips, TripsOf(*binding));
      for (const ir::Block* body : binding->blocks) Visit(*body, inner);
    }
    AddTerm(trips, cycles);
  }

  Product TripsOf(const Binding& binding) {
    switch (InfoOf(binding.op).format) {
      case OpFormat::kIndices: {
        Product product;
        const size_t extents = binding.blocks.front()->params.size();
        for (size_t i = 0; i < std::min(extents, binding.operands.size()); ++i) {
          product = Times(product, SizeOf(binding.operands[i], 0));
        }
        return product;
      }
      case OpFormat::kFor: return SizeOf(binding.operands[1], 0);
      case OpFormat::kElements: return Spanned(binding.operands.front(), {});
      default: return {};
    }
  }

  // All elements of an array.
  Product Spanned(const Operand& array, Product product) {
    if (!array.IsVar()) return product;
    for (const Operand& size : array.var()->type.dims()) product = Times(product, SizeOf(size, 0));
    return product;
  }

  // A size as a product; follows the first argument of what computes it.
  Product SizeOf(const Operand& size, int depth) {
    if (size.IsConstant()) return {std::max(0.0, double(size.constant().integer)), {}};
    if (const auto slot = slots_.find(size.var()); slot != slots_.end()) {
      return {1, {slot->second}};
    }
    const auto found = definitions_.find(size.var());
    if (depth < kMaxDepth && found != definitions_.end()) {
      const Binding& binding = *found->second;
      const bool is_followed = IsScalarOp(binding.op) || binding.op == OpCode::kBroadcastSize;
      for (const Operand& operand : binding.operands) {
        if (is_followed && operand.IsVar()) return SizeOf(operand, depth + 1);
      }
    }
    estimate_.is_bounded = false;
    return {};
  }

  static Product Times(Product a, const Product& b) {
    a.factor *= b.factor;
    a.slots.insert(a.slots.end(), b.slots.begin(), b.slots.end());
    return a;
  }

  void AddTerm(const Product& trips, double cycles) {
    cycles *= trips.factor;
    if (cycles == 0) return;
    std::vector<uint32_t> slots = trips.slots;
    std::sort(slots.begin(), slots.end());
    for (CostTerm& term : estimate_.terms) {
      if (term.extents != slots) continue;
      term.cycles += cycles;
      return;
    }
    estimate_.terms.push_back({cycles, std::move(slots)});
  }

  static constexpr int kMaxDepth = 8;

  ir::DefinitionMap definitions_;
  const std::unordered_map<const ir::Var*, uint32_t> slots_;
  CostEstimate estimate_;
};

}  // namespace

std::unordered_map<const ir::Var*, uint32_t> SlotsOf(const ir::Function& entry) {
  std::unordered_map<const ir::Var*, uint32_t> slots;
  uint32_t slot = 0;
  for (const ir::Param& param : entry.params) {
    const ir::Type& type = param.var->type;
    if (!type.IsArray()) {
      slots[param.var] = slot;
      slot += IsComplex(type.dtype()) ? 2 : 1;
      continue;
    }
    for (int axis = 0; axis < type.rank(); ++axis) {
      const Operand& size = type.dims()[axis];
      if (size.IsVar()) slots.try_emplace(size.var(), slot + 1 + axis);
    }
    slot += uint32_t(PkArraySlots(type.rank()));
  }
  return slots;
}

CostEstimate EstimateCost(const ir::Function& entry) { return Estimator(entry).Take(); }

}  // namespace parakeet::pylib
