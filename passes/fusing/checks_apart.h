#ifndef PARAKEET_PASSES_FUSING_CHECKS_APART_H_
#define PARAKEET_PASSES_FUSING_CHECKS_APART_H_

#include "ir/builder.h"
#include "ir/node.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// Checks of an imap's elements, as those of indexes that arrays give, apart from the elements: a
// nest of checks that stands where the imap stood, behind which elements without checks may be
// computed anywhere.

// True where elements are computed, with nothing done in place, and raise by checks of their own
// block alone, of what scalar code and loads make.
bool HasChecksOnly(const ir::Binding& imap, const Roots& roots);

// True where one of the bindings of the block itself is a check.
bool HasChecks(const ir::Block& block);

// The block where all checks hold, without what only they need.
ir::Block WithoutChecks(const ir::Block& block);

// Appends a foreach that checks what the elements do. It goes through those indexes alone that say
// something to a check: the first failure is the same.
void WriteChecks(ir::Builder& builder, const ir::Binding& imap);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_CHECKS_APART_H_
