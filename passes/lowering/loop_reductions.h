#ifndef PARAKEET_PASSES_LOWERING_LOOP_REDUCTIONS_H_
#define PARAKEET_PASSES_LOWERING_LOOP_REDUCTIONS_H_

#include <string>
#include <vector>

#include "ir/node.h"

namespace parakeet::passes {

// A `for` that carries values from one iteration to the next, as a reduction: what each iteration
// yields is made of no carried value, and the combine puts it in.
struct LoopReduction {
  std::string why_not;  // Empty where the loop is one; the rest says nothing otherwise.
  ir::Block element;    // Takes the loop's index, and the indices of a nest within it.
  std::vector<ir::Operand> inner_extents;  // Of that nest.
  ir::Block combine;
  std::vector<const ir::Var*> totals;
  std::vector<ir::Operand> inits;
  std::vector<const ir::Binding*> after;  // What makes the loop's results of the totals.
};

// Two ways to carry a value are known, each of them exact but for the order of roundings.
//
// A chain: the value goes through `op` with an associative op, any number of times, through
// branches that need not take it, and through inner reductions that start from it:
//   s -> if c { s + a } else { s } -> ireduce add from s        is s + ((c ? a : -0.0) + ireduce)
// and a flag that a cheap condition may set, `f or x` or `f and x`.
//
// An extreme: it is replaced by x where x compares greater (or less), and others with it:
//   c = x > m; m, k = if c { x, v } else { m, k }
// Each iteration yields x, v and its index, by which the first (or last) of equal values is kept
// whatever the order. What is never taken is yielded as the worst value, at no index: a nan, which
// never compares, and what is not beyond the worst value either. An integer alone is a chain
// through max or min.
LoopReduction ReductionOf(ir::Arena* arena, const ir::Binding& loop);

// The same of a loop whose prefixes are asked for: its combine takes what comes first from the
// left, so that an extreme needs no index to tell equal values apart, and starts from what the loop
// starts from. The totals are the loop's results.
LoopReduction ScanOf(ir::Arena* arena, const ir::Binding& loop);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOOP_REDUCTIONS_H_
