#include "passes/analyses/device_scalars.h"

#include <algorithm>
#include <optional>

#include "passes/analyses/kernel_legality.h"

namespace parakeet::passes {

using ir::Attr;
using ir::Binding;
using ir::Block;
using ir::OpCode;
using ir::Operand;
using ir::Var;

namespace {

// What kernels have of complex numbers; for the rest a device may have no function.
bool IsComplexArithmetic(OpCode op) {
  using enum OpCode;
  return op == kAdd || op == kSub || op == kMul || op == kDiv || op == kNeg || op == kConj ||
         op == kReal || op == kImag || op == kMakeComplex || op == kCast || op == kEq ||
         op == kNe || op == kSelect || op == kAbs;
}

bool MayRunOnDevice(const Binding& b) {
  if (!ir::IsScalarOp(b.op) || !b.result()->type.IsScalar()) return false;
  bool is_complex = ir::IsComplex(b.result()->type.dtype());
  for (const Operand& operand : b.operands) is_complex |= ir::IsComplex(ir::DTypeOf(operand));
  return !is_complex || IsComplexArithmetic(b.op);
}

}  // namespace

namespace {

constexpr int64_t kMostKernels = 4;  // that are started for nothing

// Counts the kernels of a side of a branch; nothing where the host may not do the rest of it when
// the other side is taken. Loops count on nothing that kernels make.
std::optional<int64_t> KernelsOf(const Block& side, bool may_load) {
  int64_t kernels = 0;
  bool has_loaded = false;
  for (const Binding* b : side.bindings) {
    if (IsKernel(*b)) {
      ++kernels;
    } else if (b->op == OpCode::kFor || b->op == OpCode::kWhile) {
      if (has_loaded || IsOnHost(*b)) return std::nullopt;
      for (const Block* block : b->blocks) {
        const auto inside = KernelsOf(*block, false);
        if (!inside) return std::nullopt;
        kernels += *inside;
      }
    } else if (b->op == OpCode::kLoad) {
      if (!may_load) return std::nullopt;
      has_loaded = true;
    } else if (b->op != OpCode::kAlloc &&
               !(ir::IsScalarOp(b->op) && b->result()->type.IsScalar())) {
      return std::nullopt;
    }
  }
  return kernels;
}

bool IsOfFewKernels(const Binding& branch) {
  int64_t kernels = 0;
  for (const Block* side : branch.blocks) {
    const auto inside = KernelsOf(*side, true);
    if (!inside) return false;
    kernels += *inside;
  }
  return kernels > 0 && kernels <= kMostKernels;
}

}  // namespace

bool IsKernel(const Binding& b) {
  return b.op == OpCode::kFor && b.attrs.Text(Attr::kKind) == "block";
}

std::vector<CarriedSlot> CarriedSlots(const Binding& loop) {
  const bool is_for = loop.op == OpCode::kFor;
  const size_t first = is_for ? 3 : 0, first_param = is_for ? 1 : 0;
  std::vector<CarriedSlot> slots;
  for (size_t k = 0; k < loop.results.size(); ++k) {
    CarriedSlot slot{{}, loop.operands[first + k], loop.blocks.back()->results[k], loop.results[k]};
    for (const Block* block : loop.blocks) slot.params.push_back(block->params[first_param + k]);
    slots.push_back(std::move(slot));
  }
  return slots;
}

// Host code needs more of what the device could make than of the rest, which begins with what is
// not loaded for the host anyway; and then a branch may be the host's that was to be one of
// kernels, of which it needs more.
DeviceScalars::DeviceScalars(const ir::Function& function, const std::vector<size_t>& kept) {
  FindMade(*function.body);
  if (made_.empty()) return;
  FindNeeded(function, kept);
  do {
    made_.clear();
    FindMade(*function.body);
  } while (NeedAll(*function.body));
}

bool DeviceScalars::IsBranchOfKernels(const Binding& b) const {
  return b.op == OpCode::kIf && Has(b.operands[0]) && !needed_.contains(b.operands[0].var()) &&
         std::all_of(b.results.begin(), b.results.end(),
                     [](const Var* result) { return result->type.IsScalar(); }) &&
         IsOfFewKernels(b);
}

// --- What the device can make ---

void DeviceScalars::FindMade(const Block& body) {
  while (Make(body)) {
  }
}

bool DeviceScalars::Make(const Block& block) {
  bool has_changed = false;
  for (const Binding* b : block.bindings) has_changed |= Make(*b);
  return has_changed;
}

bool DeviceScalars::Make(const Binding& b) {
  if (IsKernel(b) || IsOnHost(b)) return false;
  bool has_changed = false;
  for (const Block* block : b.blocks) has_changed |= Make(*block);
  const auto is_made = [&](const Operand& operand) { return Has(operand); };
  if (b.op == OpCode::kLoad) return Add(b.result());
  if (b.op == OpCode::kIf) {
    for (size_t k = 0; k < b.results.size(); ++k) {
      const bool made = Has(b.blocks[0]->results[k]) || Has(b.blocks[1]->results[k]);
      has_changed |= made && Add(b.results[k]);
    }
  } else if (b.op == OpCode::kFor || b.op == OpCode::kWhile) {
    for (const CarriedSlot& slot : CarriedSlots(b)) {
      if (!Has(slot.init) && !Has(slot.next)) continue;
      for (const Var* param : slot.params) has_changed |= Add(param);
      has_changed |= Add(slot.result);
    }
  } else if (MayRunOnDevice(b) && std::any_of(b.operands.begin(), b.operands.end(), is_made)) {
    has_changed |= Add(b.result());
  }
  return has_changed;
}

bool DeviceScalars::Add(const Var* value) {
  return value->type.IsScalar() && !needed_.contains(value) && made_.insert(value).second;
}

// --- What the host needs ---

void DeviceScalars::FindNeeded(const ir::Function& function, const std::vector<size_t>& kept) {
  const std::vector<Operand>& results = function.body->results;
  for (size_t k = 0; k < results.size(); ++k) {
    if (std::find(kept.begin(), kept.end(), k) == kept.end()) Need(results[k]);
  }
  NeedAll(*function.body);
}

bool DeviceScalars::NeedAll(const Block& body) {
  bool has_changed = false;
  while (Need(body)) has_changed = true;
  return has_changed;
}

bool DeviceScalars::Need(const Block& block) {
  bool has_changed = false;
  const auto& bindings = block.bindings;
  for (size_t at = bindings.size(); at-- > 0;) has_changed |= Need(*bindings[at]);
  return has_changed;
}

bool DeviceScalars::Need(const Binding& b) {
  if (IsOnHost(b)) return false;  // Where it runs, it asks.
  bool has_changed = false;
  switch (b.op) {
    case OpCode::kStore: return false;
    case OpCode::kLoad: return needed_.contains(b.result()) && NeedUses(b);
    case OpCode::kIf:
      if (IsBranchOfKernels(b)) return NeedInside(b);
      has_changed = Need(b.operands[0]);
      for (size_t k = 0; k < b.results.size(); ++k) {
        if (!needed_.contains(b.results[k])) continue;
        for (const Block* block : b.blocks) has_changed |= Need(block->results[k]);
      }
      return NeedInside(b) || has_changed;
    case OpCode::kFor:
      for (size_t k = 0; k < 2; ++k) has_changed |= Need(b.operands[k]);
      return (!IsKernel(b) && NeedInside(b)) || has_changed;
    case OpCode::kWhile:
      has_changed = Need(b.blocks[0]->results[0]);
      return NeedInside(b) || has_changed;
    default:
      if (MayRunOnDevice(b) && !needed_.contains(b.result())) return false;
      return NeedUses(b);
  }
}

// A carried value is needed as a whole.
bool DeviceScalars::NeedInside(const Binding& b) {
  bool has_changed = false;
  for (const Block* block : b.blocks) has_changed |= Need(*block);
  for (const Var* result : b.results) {
    for (const Operand& dim : result->type.dims()) has_changed |= Need(dim);
  }
  if (b.op == OpCode::kIf) return has_changed;
  for (const CarriedSlot& slot : CarriedSlots(b)) {
    bool is_needed = needed_.contains(slot.result);
    for (const Var* param : slot.params) is_needed |= needed_.contains(param);
    if (!is_needed) continue;
    for (const Var* param : slot.params) has_changed |= Need(param);
    has_changed |= Need(slot.result);
    has_changed |= Need(slot.init);
    has_changed |= Need(slot.next);
  }
  return has_changed;
}

bool DeviceScalars::NeedUses(const Binding& b) {
  bool has_changed = false;
  ir::ForEachUse(b, [&](const Var* value) { has_changed |= Need(value); });
  return has_changed;
}

bool DeviceScalars::Need(const Operand& value) {
  return value.IsVar() && value.var()->type.IsScalar() && needed_.insert(value.var()).second;
}

}  // namespace parakeet::passes
