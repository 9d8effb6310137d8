#include "passes/analyses/scan_costs.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/builder.h"
#include "ir/ops.h"
#include "ir/uses.h"
#include "passes/analyses/find_cost.h"
#include "passes/analyses/vector_legality.h"

namespace parakeet::passes {

using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

constexpr int64_t kDearCombine = 16;  // One that costs more takes lanes, where there are some.
constexpr int64_t kDearScanned = 8;   // One that costs more is not computed twice.
constexpr int64_t kCheapElement = 4;  // One that costs no more waits for memory in any order.

constexpr int64_t kMostShared = 40000;  // Bytes: several blocks of threads fit a processor.

bool IsOrder(OpCode op) {
  return op == OpCode::kGt || op == OpCode::kGe || op == OpCode::kLt || op == OpCode::kLe;
}

// The order of the values by which `select (a order b), a, b` chooses; nothing for another value.
const Binding* ChoiceIn(const Block& block, const Operand& value) {
  const ir::DefinitionMap definitions = ir::Definitions(block);
  const auto made = value.IsVar() ? definitions.find(value.var()) : definitions.end();
  if (made == definitions.end() || made->second->op != OpCode::kSelect) return nullptr;
  const std::vector<Operand>& chosen = made->second->operands;
  const auto order = chosen[0].IsVar() ? definitions.find(chosen[0].var()) : definitions.end();
  const bool is_choice = order != definitions.end() && IsOrder(order->second->op) &&
                         std::equal(order->second->operands.begin(), order->second->operands.end(),
                                    chosen.begin() + 1, chosen.end());
  return is_choice ? order->second : nullptr;
}

// Whether the right one replaces the left one where it is better, and is never nan: as far as what
// is not beyond some number is that number.
bool KeepsExtreme(const Binding& scan) {
  const Block& combine = *scan.blocks[1];
  const Binding* better = ChoiceIn(combine, combine.results[0]);
  if (better == nullptr || combine.bindings.size() != 2 ||
      better->operands[0] != Operand(combine.params[1]))
    return false;
  if (!ir::IsFloat(scan.result()->type.dtype())) return true;
  const Block& element = *scan.blocks[0];
  const Binding* counts = ChoiceIn(element, element.results[0]);
  return counts != nullptr && counts->operands[1].IsConstant();
}

}  // namespace

int64_t StepCost(const Binding& scan) {
  return int64_t{CostOf(*scan.blocks[0])} + CostOf(*scan.blocks[1]);
}

bool CombinesInLanes(const Binding& scan) {
  const Block& combine = *scan.blocks[1];
  bool is_plain = true;
  ir::ForEachBinding(combine, [&](const Binding& b) { is_plain &= ir::IsScalarOp(b.op); });
  for (const Var* param : combine.params) is_plain &= WhyNotVector(combine, param).empty();
  for (const Operand& result : combine.results) {
    const ir::DType dtype = ir::DTypeOf(result);
    is_plain &= !ir::IsComplex(dtype) && dtype != ir::DType::kF16;
  }
  return is_plain;
}

bool HasElementsInLanes(const Binding& scan) {
  return WhyNotVector(*scan.blocks[0], scan.blocks[0]->params[0]).empty();
}

bool IsDearToCombine(const Binding& scan) { return CostOf(*scan.blocks[1]) > kDearCombine; }

bool StoresElementsFirst(const Binding& scan) {
  if (IsDearToCombine(scan)) return CombinesInLanes(scan) && !HasElementsInLanes(scan);
  return CostOf(*scan.blocks[0]) > kDearScanned;
}

bool MayGoInOrder(const Binding& scan) {
  if (scan.results.size() != 1 || CostOf(*scan.blocks[0]) > kCheapElement) return false;
  if (KeepsExtreme(scan)) return true;
  const std::optional<OpCode> op = ir::CombineOp(*scan.blocks[1]);
  if (!op) return false;
  const ir::DType dtype = scan.result()->type.dtype();
  return *op == OpCode::kMin || *op == OpCode::kMax ||
         ((ir::IsInteger(dtype) || ir::IsBool(dtype)) && ir::IsAssociative(*op));
}

bool NeedsItsArrays(const Binding& scan) {
  if (scan.attrs.Int(ir::Attr::kBlock) == 0) return false;
  return StoresElementsFirst(scan) || IsDearToCombine(scan);
}

bool HasElementsInShared(const Binding& scan) {
  int64_t bytes = 0;
  for (const Operand& result : scan.blocks[1]->results)
    bytes += scan.attrs.Int(ir::Attr::kBlock) * ir::SizeInBytes(ir::DTypeOf(result));
  return bytes <= kMostShared;
}

}  // namespace parakeet::passes
