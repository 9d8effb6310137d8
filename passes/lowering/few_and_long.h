#ifndef PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_
#define PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_

#include <algorithm>
#include <vector>

#include "ir/builder.h"
#include "ir/uses.h"
#include "passes/analyses/access_patterns.h"

namespace parakeet::passes {

// Below how many iterations threads of the host sooner share what each does, and of how many
// elements that is, at least. Nine iterations of 160,000 elements took sixteen threads a third less
// time where each had one than where they shared each.
inline constexpr int64_t kFewIterations = 6;
inline constexpr int64_t kElementsOfTeam = 65536;

// Whether that many iterations, each of that many elements, are.
inline ir::Operand AreFewAndLong(ir::Builder& builder, const ir::Operand& count,
                                 const ir::Operand& elements) {
  using ir::OpCode;
  using ir::Operand;
  const Operand are_few = builder.Scalar(OpCode::kLt, {count, Operand::Int(kFewIterations)});
  const Operand are_long = builder.Scalar(OpCode::kGt, {elements, Operand::Int(kElementsOfTeam)});
  return builder.Scalar(OpCode::kAnd, {are_few, are_long});
}

inline ir::VarSet SizesOfParameters(const ir::Function& function) {
  ir::VarSet sizes;
  for (const ir::Param& param : function.params) {
    if (!param.var->type.IsArray()) continue;
    for (const ir::Operand& dim : param.var->type.dims()) {
      if (dim.IsVar()) sizes.insert(dim.var());
    }
  }
  return sizes;
}

// Whether each is a constant or one of these.
inline bool AreAmong(const ir::VarSet& sizes, const std::vector<ir::Operand>& extents) {
  return std::all_of(extents.begin(), extents.end(), [&](const ir::Operand& extent) {
    return extent.IsConstant() || sizes.contains(extent.var());
  });
}

// Whether an operator goes from element to element, and not down a column.
inline bool GoesAlong(const AccessPatterns& patterns, const ir::Binding& b) {
  return patterns.UnitStrides(*b.blocks[0], b.blocks[0]->params.back()) > 0;
}

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_
