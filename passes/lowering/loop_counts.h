#ifndef PARAKEET_PASSES_LOWERING_LOOP_COUNTS_H_
#define PARAKEET_PASSES_LOWERING_LOOP_COUNTS_H_

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// The function with every `for` from 0 by 1 going to a count: an end that may be negative is
// replaced by max(end, 0), written in front of the outermost loop or branch that has it. The
// extents of an operator are counts: a product of two negative ones would be taken for elements.
const ir::Function* CountLoops(ir::Arena* arena, const ir::Function* function);

// Whether a `for` runs at all, or as often as that, and how often, which is appended.
ir::Operand RunsAtAll(ir::Builder& builder, const ir::Binding& loop);
ir::Operand RunsAtLeast(ir::Builder& builder, const ir::Binding& loop, int64_t least);
ir::Operand TripCount(ir::Builder& builder, const ir::Binding& loop);

// True for a `for` that is known to run no more often than that.
bool RunsAtMost(const ir::Binding& loop, int64_t most);

// The block of a `for`, or what it has become, over an index that counts from 0.
const ir::Block* CountedBlock(const ir::Builder& builder, const ir::Binding& loop,
                              const ir::Block& body);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_COUNTS_H_
