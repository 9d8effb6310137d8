// Substitutes a producer into its consumers, so that the array between them is never made.
//
// Before:
//   %y: [n]f32 = imap (%i) in (%n) { %a: f32 = load %x[%i]  %b: f32 = mul %a, %a  yield %b }
//   %s: f32 = ireduce (%i) in (%n) add from 0.0:f32 { %c: f32 = load %y[%i]  yield %c }
// After:
//   %s: f32 = ireduce (%i) in (%n) add from 0.0:f32 { %a: f32 = load %x[%i]  %b: f32 = mul %a, %a
//   yield %b }
//
// Assumes: index form; a load of the producer's result is in range. What one block needs of a
// producer at one index it computes once.
// Refuses: a producer whose result is returned, joined, stored to or passed on; one that stores, or
// may fail but by checks of its elements, which stay (in a kernel, where it is inside a nest, by
// those too); one that reads memory which is written before the consumer reads it, unless the
// consumer is the writer and each of its iterations reads only the element that it writes; a dear
// one that would be computed in several places, or again in a loop that its index does not follow;
// on a core, one that reduces columns for a reduction, which would go down them one by one.
#include "passes/fusing/fuse_producers.h"

namespace parakeet::passes {

ir::Program FuseVertically(const ir::Program& program, Context& context) {
  return FuseProducers(program, false, context);
}

}  // namespace parakeet::passes
