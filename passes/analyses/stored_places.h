#ifndef PARAKEET_PASSES_ANALYSES_STORED_PLACES_H_
#define PARAKEET_PASSES_ANALYSES_STORED_PLACES_H_

#include <optional>
#include <vector>

#include "ir/node.h"
#include "ir/uses.h"
#include "passes/analyses/find_effects.h"

namespace parakeet::passes {

// An array that a block stores to, and was there before it, with all that the block reads and
// stores of it, in order.
struct StoredArray {
  const ir::Var* array;
  std::vector<const ir::Binding*> accesses;

  bool IsRead() const;
  // What all accesses have for their index on the axis; nothing where they differ.
  std::optional<ir::Operand> IndexOn(int axis) const;
};

// What a block does to the array whose memory is that root's; nothing where that is more than to
// load and store elements by one name that was there before the block, or has no axis.
std::optional<StoredArray> AccessesOf(const ir::Block& block, const Roots& roots,
                                      const ir::Var* root);

// All of them, in the order of `arrays`, which are the function's; none where the block does more
// to one than to load and store elements by one name, or one is in `overlapping`.
std::vector<StoredArray> StoredArraysOf(const ir::Block& block, const Roots& roots,
                                        const std::vector<const ir::Var*>& arrays,
                                        const ir::VarSet& overlapping);

// What is computed from the value in the block, the value itself among it.
ir::VarSet MadeFrom(const ir::Block& block, const ir::Var* value);

// Whether iterations along the index never meet at a place of any of the arrays, nor tell by it
// which other place they touch: it is the index of one axis, and no other follows it.
bool IsApartAlong(const ir::Block& block, const std::vector<StoredArray>& stored,
                  const ir::Var* index);

// Where iterations meet: by equal values of these, which are computed before any element of an
// array that is stored to is read.
struct MeetingPlaces {
  std::vector<ir::Operand> index;
  std::vector<ir::Operand> extents;  // Of the axes that they are on.
};

// The places at which iterations over `indexes` meet, where those of all arrays are the same ones;
// nothing where they are not, or all iterations meet.
std::optional<MeetingPlaces> MeetingPlacesOf(const ir::Block& block,
                                             const std::vector<StoredArray>& stored,
                                             const std::vector<const ir::Var*>& indexes);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_STORED_PLACES_H_
