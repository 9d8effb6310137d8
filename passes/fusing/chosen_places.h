#ifndef PARAKEET_PASSES_FUSING_CHOSEN_PLACES_H_
#define PARAKEET_PASSES_FUSING_CHOSEN_PLACES_H_

#include <unordered_set>

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// True for a comparison of indexes, or what is made of such as `places` holds, where it then is.
bool IsConditionOfPlaces(const ir::Binding& b, ir::VarSet& places);

// What of a nest's element only chooses where it reads, by conditions of its index: an `if`, with
// what is in it, a select or a clip. Nests are split where such a condition changes
// (find_borders.h), and of what lies between the borders nothing of it is left.
std::unordered_set<const ir::Binding*> ChosenPlaces(const ir::Block& element);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_CHOSEN_PLACES_H_
