#ifndef PARAKEET_PASSES_LOWERING_GUARDED_COMPARISONS_H_
#define PARAKEET_PASSES_LOWERING_GUARDED_COMPARISONS_H_

#include "ir/node.h"

namespace parakeet::passes {

// The `for` with comparisons of what it carries that stand behind other conditions as comparisons
// alone, of a value that never compares where those do not hold; the same pointer where it has
// none:
//   %c = if %p { %x = load %a[%i]  %b = lt %x, %m  yield %b } else { yield false }
//   %m.2 = if %c { %y = load %a[%i]  yield %y } else { yield %m }
// is, with no store between,
//   %v = if %p { %x = load %a[%i]  yield %x } else { yield inf }
//   %c = lt %v, %m
//   %m.2 = if %c { yield %v } else { yield %m }
const ir::Binding* WithPlainComparisons(ir::Arena* arena, const ir::Binding& loop);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_GUARDED_COMPARISONS_H_
