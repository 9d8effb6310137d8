#ifndef PARAKEET_PASSES_ANALYSES_COMBINES_H_
#define PARAKEET_PASSES_ANALYSES_COMBINES_H_

#include "ir/node.h"

namespace parakeet::passes {

// True for a combine that takes all accumulators from one side: the one where some accumulator is
// greater (or less), of equals the one where an integer accumulator is less (or greater). Sides are
// told apart by that integer, so their order does not matter, and of two equal sides either is
// both.
//
//   %better = gt %b, %a   %equal = eq %b, %a   %sooner = lt %j, %i
//   %instead = and %equal, %sooner   %takes = or %better, %instead
//   yield (select %takes, %b, %a), (select %takes, %j, %i)
bool IsExtremeByIndex(const ir::Block& combine);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_COMBINES_H_
