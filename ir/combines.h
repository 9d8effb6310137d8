#ifndef PARAKEET_IR_COMBINES_H_
#define PARAKEET_IR_COMBINES_H_

#include <vector>

#include "ir/node.h"

namespace parakeet::ir {

// What is known of a reduction's combine. An accumulator is combined by one operation of its own;
// or it belongs to accumulators of which all are taken from one side: the one where some of them is
// greater (or less), of equals the one where an integer among them is less (or greater). Sides are
// told apart by that integer, so their order does not matter, and of two equal sides either is
// both.
//
//   %better = gt %b, %a   %equal = eq %b, %a   %sooner = lt %j, %i
//   %instead = and %equal, %sooner   %takes = or %better, %instead
//   yield (select %takes, %b, %a), (select %takes, %j, %i)
struct CombineTraits {
  bool commutes = true;              // sides may change places
  bool is_idempotent = true;         // x combined with x is x
  std::vector<Constant> identities;  // of all accumulators; empty where one has none
};

CombineTraits TraitsOf(const Block& combine);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_COMBINES_H_
