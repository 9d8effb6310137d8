#ifndef PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_
#define PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_

#include <vector>

#include "passes/lowering/last_stores.h"

namespace parakeet::passes {

// A nest whose iterations read and store elements at places that are computed, grouped by place:
// the iterations are sorted by where they meet, those of one place as they come, and one thread
// does all of a group in order. What each element goes through is what the loop does to it. What
// iterations read and compute without those elements, as many threads as there are iterations do
// before, and leave it in the order of the groups: then nothing that a group's thread waits for
// lies anywhere.
class GroupedIterations : public LastStores {
 public:
  using LastStores::LastStores;

 protected:
  struct Groups {
    std::vector<const ir::Var*> ordered;  // Indexes of the nest, whose iterations are sorted.
    Operands extents;
    Operands places;       // How many there are, on each axis on which iterations meet.
    const ir::Block* key;  // From the ordered indexes to where an iteration meets others.
    std::vector<ir::Operand> meeting;  // What all iterations of a group have in common.
  };

  // The indexes along which iterations never meet: threads share them.
  static ir::VarSet ApartByPlace(const LoopNest& nest, const std::vector<StoredArray>& stored);
  // Nothing where places are not known before iterations run, or are not the same for all arrays.
  std::optional<Groups> FindGroups(const LoopNest& nest, const std::vector<StoredArray>& stored,
                                   const ir::VarSet& apart);
  void WriteGroups(const LoopNest& nest, const std::vector<StoredArray>& stored,
                   const Groups& groups, const ir::VarSet& apart);

 private:
  const ir::Block* KeyBlock(const ir::Block& body, const std::vector<StoredArray>& stored,
                            const ir::VarSet& apart, const MeetingPlaces& places);
  bool WriteKey(const ir::Block& block, const MeetingPlaces& places, ir::VarSet& left_out,
                ir::Operand& key);
  // A nest's body in two: what of it is known before any iteration runs, without the indexes along
  // which iterations never meet, and what is done in order.
  struct Halves {
    std::vector<const ir::Binding*> before, ordered;
    std::vector<const ir::Var*> handed;  // From the first to the second.
  };
  static Halves HalvesOf(const ir::Block& body, const std::vector<StoredArray>& stored,
                         const ir::VarSet& apart, const Groups& groups);
  static bool IsKey(const Groups& groups, const ir::Var* value);
  static bool IsCommon(const Groups& groups, const ir::Var* value);
  // All that is known of iterations before they run, in the order of their groups.
  struct Sorted {
    Halves halves;
    const ir::Var* order;
    const ir::Var* keys;
    std::vector<const ir::Var*> handed;
    ir::Operand total;
  };
  Sorted Sort(const LoopNest& nest, const std::vector<StoredArray>& stored, const Groups& groups,
              const ir::VarSet& apart);
  void WriteGroup(const LoopNest& nest, const Groups& groups, const ir::VarSet& apart,
                  const Sorted& sorted);
  // Up to `end`, or to that of the group.
  void DoGroup(const Groups& groups, const Sorted& sorted, const ir::Operand& first,
               const ir::Operand& key, const ir::Operand& end, ir::Substitution places);
  // Of all trips of a group, whatever was known of the first.
  ir::Substitution PlacesOf(const Groups& groups, const Sorted& sorted, const ir::Operand& first,
                            const ir::Operand& key);

  // --- Groups that keep an extreme (grouped_extremes.cc) ---

  struct Extreme {
    const ir::Binding* load;
    const ir::Binding* compare;
    ir::Operand value;
    ir::Constant start;  // What is kept of nothing.
  };
  static std::optional<Extreme> FindExtreme(const std::vector<const ir::Binding*>& ordered);
  ir::Operand Keep(const Extreme& extreme, const ir::Operand& so_far, const ir::Operand& value);
  ir::Operand ValueAt(const Extreme& extreme, const Groups& groups, const Sorted& sorted,
                      const ir::Operand& key, const ir::Operand& at);
  const ir::Var* AllocateSegments(const Extreme& extreme, const Sorted& sorted);
  ir::Operand IsSegmentsFirst(const ir::Operand& at);
  ir::Operand SegmentEnd(const Sorted& sorted, const ir::Operand& at);
  void FoldSegment(const Extreme& extreme, const Groups& groups, const Sorted& sorted,
                   const ir::Operand& key, const ir::Operand& first, const ir::Var* parts);
  void JoinSegments(const Extreme& extreme, const Groups& groups, const Sorted& sorted,
                    const ir::Var* parts);
};

// True for a sequential loop by 1 that carries nothing, calls nothing and makes no arrays.
bool IsScatterLoop(const ir::Binding& b);

// Whether share-scatters can group the loop's iterations, once nothing raises; `arrays` and
// `overlapping` as for StoredArraysOf.
bool CanBeGrouped(ir::Arena* arena, const ir::Binding& loop, const Roots& roots,
                  const std::vector<const ir::Var*>& arrays, const ir::VarSet& overlapping);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_GROUPED_ITERATIONS_H_
