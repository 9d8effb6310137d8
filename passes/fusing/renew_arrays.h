#ifndef PARAKEET_PASSES_FUSING_RENEW_ARRAYS_H_
#define PARAKEET_PASSES_FUSING_RENEW_ARRAYS_H_

#include "passes/pass.h"

namespace parakeet::passes {

// Makes an array anew in each iteration of a loop that stores to nearly all of it what it makes of
// elements around.
//
// Before:
//   for %t in 0 to %steps step 1 {
//     %new: [%h][%w]f64 = imap (%i, %j) in (%h, %w) { ... load %u[%i, %q] ...  yield %s }
//     foreach (%k, %l) in (%h, %w) {
//       %s = load %new[%k, %l]  %p = add %k, 1  %q = add %l, 1  store %u[%p, %q], %s } }
// After:
//   %last: [n][m]f64 = for %t in 0 to %steps step 1 (%old: [n][m]f64 = %u) {
//     %v: [n][m]f64 = imap (%i, %j) in (%n, %m) { %a = load %old[%i, %j]  yield %a }
//     foreach (%k, %l) in (%h, %w) {
//       %p = add %k, 1  %q = add %l, 1  ... load %old[%k, %q] ...  store %v[%p, %q], %s }
//     yield %v }
//
// The region is then stored where the array is made, and memory gone through once, where a new
// array that is copied back goes through it twice.
//
// An array that the loop's block has not made is copied back behind the loop.
//
// Refuses: arrays of which the region is more than a few elements smaller, or that lie otherwise
// than in C order; those that others see where the loop may raise; maps that may raise or hold
// loops; regions that do more than copy; what stands between the two and is more than arithmetic.
const ir::Function* RenewArrays(ir::Arena* arena, const ir::Function* function, Context& context);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_RENEW_ARRAYS_H_
