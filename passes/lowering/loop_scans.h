#ifndef PARAKEET_PASSES_LOWERING_LOOP_SCANS_H_
#define PARAKEET_PASSES_LOWERING_LOOP_SCANS_H_

#include <vector>

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// What makes a `for` a scan and a loop over its prefixes, whose arrays hold what the loop carries
// behind each iteration.

// How often the loop runs. The end of one from 0 by 1 is a count already (loop_counts.h).
ir::Operand CountOf(ir::Builder& builder, const ir::Binding& loop);

// The block where the same checks have passed before.
ir::Block WithoutChecks(ir::Block block);

// A foreach of what the loop stores, which reads prefixes where that read what is carried.
void WriteStores(ir::Builder& builder, const ir::Binding& loop, const ir::Operand& count,
                 const std::vector<const ir::Var*>& prefixes, ir::Block stores);

// Result `k` of the loop: the last prefix, or what it begins with.
void WriteLast(ir::Builder& builder, const ir::Binding& loop, size_t k, const ir::Operand& count,
               const ir::Var* prefixes);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_SCANS_H_
