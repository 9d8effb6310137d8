#ifndef PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_
#define PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_

#include <vector>

#include "passes/lowering/last_stores.h"

namespace parakeet::passes {

// A nest whose iterations read and store elements at places that are computed, grouped by place:
// the iterations are sorted by where they meet, those of one place as they come, and one thread
// does all of a group in order. What each element goes through is what the loop does to it.
class GroupedIterations : public LastStores {
 public:
  using LastStores::LastStores;

 protected:
  struct Groups {
    std::vector<const ir::Var*> ordered;  // Indexes of the nest, whose iterations are sorted.
    Operands extents;
    Operands places;       // How many there are, on each axis on which iterations meet.
    const ir::Block* key;  // From the ordered indexes to where an iteration meets others.
  };

  // The indexes along which iterations never meet: threads share them.
  static ir::VarSet ApartByPlace(const LoopNest& nest, const std::vector<StoredArray>& stored);
  // Nothing where places are not known before iterations run, or are not the same for all arrays.
  std::optional<Groups> FindGroups(const LoopNest& nest, const std::vector<StoredArray>& stored,
                                   const ir::VarSet& apart);
  void WriteGroups(const LoopNest& nest, const Groups& groups, const ir::VarSet& apart);

 private:
  const ir::Block* KeyBlock(const ir::Block& body, const std::vector<StoredArray>& stored,
                            const ir::VarSet& apart, const MeetingPlaces& places);
  bool WriteKey(const ir::Block& block, const MeetingPlaces& places, ir::VarSet& left_out,
                ir::Operand& key);
  void WriteGroup(const LoopNest& nest, const Groups& groups, const ir::VarSet& apart,
                  const ir::Var* keys, const ir::Var* order);
};

// True for a sequential loop by 1 that carries nothing, calls nothing and makes no arrays.
bool IsScatterLoop(const ir::Binding& b);

// Whether share-scatters can group the loop's iterations, once nothing raises; `arrays` and
// `overlapping` as for StoredArraysOf.
bool CanBeGrouped(ir::Arena* arena, const ir::Binding& loop, const Roots& roots,
                  const std::vector<const ir::Var*>& arrays, const ir::VarSet& overlapping);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_
