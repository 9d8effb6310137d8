#ifndef PARAKEET_PASSES_LOWERING_LOWER_ROW_GROUPS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_ROW_GROUPS_H_

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "passes/analyses/reduction_lanes.h"
#include "passes/lowering/lower_block_rows.h"

namespace parakeet::passes {

// The part of lower_to_loops that gives each element of a nest a group of a GPU's threads: an
// element that is made by reductions along rows which are short enough for registers.
//
//   foreach (%i) in (%n) {
//     %t = ireduce (%j) in (%m) max { ... load %x[%i, %j] ... }
//     foreach (%j) in (%m) { ... load %x[%i, %j] ... store %y[%i, %j] ... } }
//
// is a kernel whose blocks of 256 threads make 256 / g elements each, where g, a power of two, is
// as many threads as %m needs at eight places a thread, or sixteen of four bytes. A thread takes
// some neighbours at a time, as many as the lanes of the reductions take, which are read and
// written as one, and keeps what several operators go through. What stands beside the operators is
// done by every thread alike. Sums are combined in registers, then among the warps of a group,
// where there are several, then in each warp: the threads of a block wait for one another once a
// reduction at most.
class RowGroupLowering : public BlockRowLowering {
 public:
  using BlockRowLowering::BlockRowLowering;

 protected:
  using Finish = std::function<void(const Operands& index, const Operands& values)>;

  // Whether groups are worth it, as a bool of sizes; nothing where they cannot be.
  std::optional<ir::Operand> WorthGroups(const ir::Binding& nest);
  // The kernel; `finish` takes what an element yields.
  void WriteGroups(const ir::Binding& nest, const Operands& extents, const Finish& finish);

  // While an element is written for a group: accesses to rows that its threads keep, and stores.
  // False for what is the same there as elsewhere.
  bool VisitInGroup(const ir::Binding& b);

 private:
  static constexpr int64_t kWarpLanes = 32;

  // What an element does up to a reduction, which is the last of it, or behind the last one.
  using Phase = std::vector<const ir::Binding*>;

  // The nest that is written, with a copy of its block, and the groups that make its elements.
  struct Group {
    ir::Binding nest;
    Radix place = {};          // of an element
    int64_t width = 1;         // of neighbours,
    int64_t places = 1;        // of a thread
    ir::Operand threads = {};  // of a group: a power of two, and its logarithm
    ir::Operand bits = {};
    ir::Operand elements = {};
    CachedRows rows = {};
  };
  // Whether what is brought is an element's alone, or all elements bring the same, which comes from
  // a cache, and would only take registers if it came early.
  enum class Whose { kElement, kAll };
  // An access of an operator to a row in memory, or to one that threads keep, by way of an array of
  // the thread's own that has an element for each place.
  struct Staged {
    const ir::Binding* access;
    const ir::Var* own;
    bool in_memory;
    Whose whose;
  };
  // By the place of the access in the operator's block.
  using StagedAccesses = std::unordered_map<size_t, Staged>;
  // A reduction's accumulators: two of a thread, the second the next level's, of which the last one
  // is the total; and what the block shares.
  struct Totals {
    std::vector<const ir::Var*> own = {}, next = {}, block = {};
  };
  // A phase's scalars that later ones read, each with the array of the threads' own for it.
  using KeptScalars = std::vector<std::pair<const ir::Var*, const ir::Var*>>;

  ir::Operand LongestRow(const ir::Binding& nest);
  CachedRows KeptRows(const ir::Binding& nest);
  bool FitsRegisters(const ir::Binding& nest, const CachedRows& rows);
  Group GroupOf(const ir::Binding& nest, const Operands& extents);

  const ir::Var* AllocateOwn(ir::DType dtype, int64_t each);
  void AllocateAll();
  StagedAccesses Stage(const ir::Binding& b, size_t number);
  const CachedRow* KeptOf(const ir::Var* array) const;
  bool IsOfRow(const ir::Binding& access, const ir::Block& body) const;
  KeptScalars AllocateScalars(const std::vector<Phase>& phases, size_t phase);

  // The element of each group, from the number of the block's first on.
  void WriteGroup(const ir::Operand& first, const Finish& finish);
  void Begin(const ir::Operand& first, const ir::Operand& thread);
  void WriteInPhase(const ir::Binding& b);
  void ByFirst(const std::function<void()>& write);

  // Neighbours of one thread: the first of its places for them, and where they lie in the operator.
  struct Neighbours {
    int64_t place;
    ir::Operand first;
    ir::Operand size;
  };
  void EachNeighbours(const Operands& extents, const std::function<void(const Neighbours&)>& write);
  ir::Operand IsInside(const Neighbours& at, int64_t k);
  void BringOwn(const ir::Binding& b, const Operands& extents);
  void Move(ir::OpCode op, const ir::Binding& b, const Neighbours& at, Whose whose);
  void MoveStaged(const Staged& staged, const ir::Block& body, const Neighbours& at);
  void MoveAsOne(const Staged& staged, const Neighbours& at);
  void MoveOne(const Staged& staged, const Neighbours& at, int64_t k);
  Operands PlaceInMemory(const ir::Binding& access, const ir::Operand& last);
  Operands WriteNeighbour(const ir::Binding& b, const Operands& extents, const Neighbours& at,
                          int64_t k, bool is_inside);
  // What the elements of a reduction yield at some places; of each, by its number and whether it is
  // surely inside.
  using Values = std::function<Operands(int64_t k, bool is_inside)>;
  std::vector<Operands> WriteAll(const ir::Binding& reduction, const Reduction& r,
                                 const Neighbours& at);
  void FoldPlaces(const ir::Binding& reduction);
  void MapPlaces(const ir::Binding& b);

  void CombineThreads(const ir::Binding& reduction);
  void CombineWarps(const Reduction& r, const Totals& totals, const ir::Operand& thread);
  void CombineLanes(const Reduction& r, const Totals& totals, bool is_whole);
  Operands FromLane(const std::vector<const ir::Var*>& arrays, const ir::Operand& thread,
                    const ir::Operand& lane);
  ir::Operand LaneOfWarp(const ir::Operand& thread);
  void TakeTotal(const ir::Binding& reduction);

  std::optional<Group> group_;
  std::vector<const ir::Var*> kept_rows_;  // By buffer of the group's rows.
  std::unordered_map<const ir::Binding*, StagedAccesses> staged_;
  std::unordered_map<const ir::Binding*, Totals> totals_;
  KeptScalars kept_scalars_;
  // Of the phase that is written: the thread, its number in the group, its element, and whether
  // what it makes at the place at hand is the nest's.
  ir::Operand thread_;
  ir::Operand lane_;
  Operands element_;
  ir::Operand is_element_;
  ir::Operand stores_;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_ROW_GROUPS_H_
