#ifndef PARAKEET_PASSES_ANALYSES_CONTRACTION_OPERANDS_H_
#define PARAKEET_PASSES_ANALYSES_CONTRACTION_OPERANDS_H_

#include "ir/builder.h"
#include "passes/analyses/linear_forms.h"

namespace parakeet::passes {

// An imap or foreach with one ireduce, as a contraction takes it: its indexes go through what it
// sums one by one. What lies at multiples of indexes from some place on is seen through a view;
// what neither gives, but not all free indexes decide, is made an array of its own. Both are
// appended. The nest itself where it would be no contraction even so, or has such operands already.
//
// In:
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 {
//     %at = add %lo, %i  %a = load %X[%at, %k]
//     %g = load %idx[%k]  %b = load %Y[%g, %j] ... } ... }
// Out:
//   %rows: [n][l]f64 = view %X offset (%lo, 0) strides ((1, 0), (0, 1))
//   %made: [l][m]f64 = imap (%k, %j) in (%l, %m) { %g = load %idx[%k]  %b = load %Y[%g, %j] ... }
//   imap (%i, %j) in (%n, %m) { %s = ireduce (%k) in (%l) add from 0.0 {
//     %a = load %rows[%i, %k]  %b = load %made[%k, %j] ... } ... }
const ir::Binding* WithPlainOperands(ir::Builder& builder, const WrappingForms& forms,
                                     const ir::Binding& nest);

// True where an element's code is scalar and reads arrays at its indexes, none of which is a number
// in it: a contraction may hold it.
bool ReadsAsContractions(const ir::Block& element);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_CONTRACTION_OPERANDS_H_
