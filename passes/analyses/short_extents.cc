#include "passes/analyses/short_extents.h"

#include <algorithm>

namespace parakeet::passes {

using ir::Binding;
using ir::OpCode;
using ir::Operand;

namespace {

constexpr size_t kMostSides = 8;

}  // namespace

ShortExtents::ShortExtents(const ir::Function& function)
    : forms_(function), definitions_(ir::Definitions(*function.body)) {}

void ShortExtents::Sides(const Operand& value, OpCode op, std::vector<LinearForm>& sides) const {
  const auto made = value.IsVar() ? definitions_.find(value.var()) : definitions_.end();
  if (made != definitions_.end() && made->second->op == op && sides.size() < kMostSides) {
    for (const Operand& side : made->second->operands) Sides(side, op, sides);
  } else {
    sides.push_back(forms_.Of(value));
  }
}

// Of max(end, begin) - begin, where there may be nothing between.
Operand ShortExtents::EndOf(const Binding& extent) const {
  const Operand& end = extent.operands[0];
  const auto made = end.IsVar() ? definitions_.find(end.var()) : definitions_.end();
  if (made == definitions_.end() || made->second->op != OpCode::kMax) return end;
  for (const int side : {0, 1}) {
    if (made->second->operands[1 - side] == extent.operands[1]) return made->second->operands[side];
  }
  return end;
}

std::optional<int64_t> ShortExtents::MostOf(const Operand& extent) const {
  if (extent.IsConstant()) return extent.constant().integer;
  const auto made = definitions_.find(extent.var());
  if (made == definitions_.end()) return std::nullopt;
  const Binding& b = *made->second;
  std::vector<LinearForm> ends, begins;
  if (b.op == OpCode::kSub) {
    Sides(EndOf(b), OpCode::kMin, ends);
    Sides(b.operands[1], OpCode::kMax, begins);
  } else if (b.op == OpCode::kMax || b.op == OpCode::kMin) {  // max(end - begin, 0)
    const std::optional<int64_t> a = MostOf(b.operands[0]), c = MostOf(b.operands[1]);
    if (b.op == OpCode::kMax) return a && c ? std::optional(std::max(*a, *c)) : std::nullopt;
    return a && c ? std::min(*a, *c) : a ? a : c;
  }
  std::optional<int64_t> most;
  for (const LinearForm& end : ends) {
    for (const LinearForm& begin : begins) {
      const LinearForm gap = Difference(end, begin);
      if (gap.IsConstant()) most = std::min(most.value_or(gap.constant), gap.constant);
    }
  }
  return most;
}

bool ShortExtents::AreWithin(const std::vector<Operand>& extents, int64_t most) const {
  int64_t all = 1;
  return std::all_of(extents.begin(), extents.end(), [&](const Operand& extent) {
    const std::optional<int64_t> length = MostOf(extent);
    if (!length || *length > most) return false;
    all *= std::max<int64_t>(*length, 1);
    return all <= most;
  });
}

}  // namespace parakeet::passes
