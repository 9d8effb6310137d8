#ifndef PARAKEET_PASSES_ANALYSES_CARRIED_VALUES_H_
#define PARAKEET_PASSES_ANALYSES_CARRIED_VALUES_H_

#include <cstddef>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

inline bool IsLoop(ir::OpCode op) { return op == ir::OpCode::kFor || op == ir::OpCode::kWhile; }

// Where the initial values begin among the operands of a `for` or `while`.
inline size_t FirstInit(const ir::Binding& loop) { return loop.op == ir::OpCode::kFor ? 3 : 0; }

// Where the carried values begin among the parameters of its blocks.
inline size_t FirstCarried(const ir::Binding& loop) { return loop.op == ir::OpCode::kFor ? 1 : 0; }

// The `if`, `for` or `while` with only those of its results, and of what it carries or chooses for
// them, that `keeps` says; the same pointer where that is all. Nothing may read the others.
const ir::Binding* KeepResults(ir::Arena* arena, const ir::Binding& binding,
                               const std::vector<bool>& keeps);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_CARRIED_VALUES_H_
