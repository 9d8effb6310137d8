#ifndef PARAKEET_PASSES_ANALYSES_FIND_UPDATES_H_
#define PARAKEET_PASSES_ANALYSES_FIND_UPDATES_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "passes/analyses/find_effects.h"
#include "passes/analyses/ranges.h"

namespace parakeet::passes {

// What an iteration of a loop does where, behind scalars, it combines every element of an array, or
// of a part of one, with a value.
struct Update {
  const ir::Binding* nest = nullptr;  // a foreach, or the imap that makes the next step's array
  std::vector<const ir::Binding*> place = {};  // what the nest's block makes the element's place of
  const ir::Binding* load = nullptr;           // of the element, in the nest's block
  const ir::Binding* store = nullptr;          // of a foreach
  const ir::Binding* branch = nullptr;         // around the store, if there is one
  ir::Operand value;                           // what is stored or yielded
  bool may_not_run = false;                    // The loop, and then nothing is known of the place.
};

// The update that each iteration of `loop` is. Nothing where it does anything else; where elements
// are combined by what is neither associative nor a choice of the less or the greater, or with the
// same float in every iteration; where others read them, or they are not known to be there if no
// iteration is. `may_overlap`: arguments may.
std::optional<Update> FindUpdate(const ir::Binding& loop, const Roots& roots, bool may_overlap,
                                 const Ranges& ranges);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_FIND_UPDATES_H_
