// Which parts of a long function become functions of their own.
#ifndef PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_
#define PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_

#include <unordered_set>
#include <vector>

#include "ir/node.h"

namespace parakeet::backends {

struct PartLimits {
  int apart_above;   // CompileOptions'
  int cold_above;    // CompileOptions'
  bool may_be_cold;  // whether the function runs once a call
  bool forked;       // whether loops of kind "parallel" become functions anyway
};

struct ChosenParts {
  std::unordered_set<const ir::Binding*> nests;
  // Functions that hold no others: parts, and forked loops that no such part holds; in order.
  std::vector<const ir::Binding*> leaves;
  // Whether all loops are in parts, so that what is left runs once a call.
  bool rest_is_cold = false;
};

// Loop nests, outermost first, that are neither trifles nor long themselves; of a long one, those
// inside. None where the function is no longer than `apart_above`. Where much more than that is
// left, every loop is in a part, in one with parts of its own if it is long. Where loops of
// kind "parallel" are `forked`, the body of each is a function: of a long one, only long loops side
// by side are chosen.
ChosenParts ChooseApart(const ir::Function& function, const PartLimits& limits);

}  // namespace parakeet::backends

#endif  // PARAKEET_BACKENDS_LLVM_CHOOSE_APART_H_
