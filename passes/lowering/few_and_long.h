#ifndef PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_
#define PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_

#include "ir/builder.h"
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

// Whether an operator goes from element to element, and not down a column.
inline bool GoesAlong(const AccessPatterns& patterns, const ir::Binding& b) {
  return patterns.UnitStrides(*b.blocks[0], b.blocks[0]->params.back()) > 0;
}

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_FEW_AND_LONG_H_
