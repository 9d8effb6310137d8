// Substitutes producers of scalar code into their consumers, and leaves those that hold reductions.
//
// Before:
//   %t: [l]f64 = imap (%i) in (%l) { %a: f64 = load %x[%i]  %b: f64 = mul %a, 0.5  yield %b }
//   %s: [n]f64 = imap (%j) in (%n) { %c: f64 = ireduce (%k) in (%l) add from 0.0 { %d: f64 = load
//   %t[%k]  %e: f64 = load %y[%j, %k]  %f: f64 = mul %d, %e  yield %f }  yield %c }
//   %r: [n]f64 = imap (%j) in (%n) { %g: f64 = load %s[%j]  %h: f64 = tanh %g  yield %h }
// After:
//   %s: [n]f64 = imap (%j) in (%n) { %c: f64 = ireduce (%k) in (%l) add from 0.0 { %a: f64 = load
//   %x[%k]  %b: f64 = mul %a, 0.5  %e: f64 = load %y[%j, %k]  %f: f64 = mul %b, %e  yield %f }
//   yield %c }
//   %r: [n]f64 = imap (%j) in (%n) { %g: f64 = load %s[%j]  %h: f64 = tanh %g  yield %h }
// where recognize-contractions finds sums of products by themselves. Of a producer whose elements
// are checked, as indexes that arrays give, the checks stay: a foreach in its place.
//
// Assumes: index form; a load of the producer's result is in range.
// Refuses: what fuse-vertically refuses, and a producer that holds a reduction, unless a row or a
// diagonal is all that is read of it.
#include "passes/fusing/fuse_producers.h"

namespace parakeet::passes {

ir::Program FuseElements(const ir::Program& program, Context& context) {
  return FuseProducers(program, true, context);
}

}  // namespace parakeet::passes
