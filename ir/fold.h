#ifndef PARAKEET_IR_FOLD_H_
#define PARAKEET_IR_FOLD_H_

#include <optional>
#include <vector>

#include "ir/ops.h"
#include "ir/type.h"

namespace parakeet::ir {

// The operand that a scalar operation on these operands always equals, where that is plain from the
// operands alone: constants evaluate (ir/evaluate.h), and x + 0, x * 1, min(x, x) ... give x.
// Exact: no float rule changes a bit. `type` is the result's.
std::optional<Operand> Fold(OpCode op, const std::vector<Operand>& operands, const Type& type);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_FOLD_H_
