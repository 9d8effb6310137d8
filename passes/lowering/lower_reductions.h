#ifndef PARAKEET_PASSES_LOWERING_LOWER_REDUCTIONS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_REDUCTIONS_H_

#include <functional>
#include <optional>

#include "passes/lowering/index_writer.h"
#include "passes/pass.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes reductions, in exactly the order that ir/reduction_tree.h
// says.
class ReductionLowering : public IndexWriter {
 public:
  using IndexWriter::IndexWriter;

 protected:
  void LowerReduce(const ir::Binding& b);
  // What its results are.
  Operands Reduced(const ir::Binding& b);
  // The same of few elements, of which each is made behind what `beside` writes for its index.
  Operands ReducedInOrder(const ir::Binding& b,
                          const std::function<void(const ir::Operand& index)>& beside);

  // A reduction being written: the values of an element at an index (each call writes a copy of
  // its code).
  struct Reduction {
    const ir::Binding& binding;
    Operands extents;
    Operands inits;   // the user's, or empty
    Operands starts;  // the identities of the combines, or empty
    int64_t lanes;
    bool has_arrays;
  };

  Reduction Describe(const ir::Binding& b);
  Operands Element(const Reduction& r, const Operands& index);
  Operands Combine(const Reduction& r, const Operands& left, const Operands& right);

  std::vector<const ir::Var*> AllocateParts(const ir::Binding& b, const ir::Operand& count);
  Operands LoadAll(const std::vector<const ir::Var*>& arrays, const Operands& index);
  Operands LoadAll(const std::vector<const ir::Var*>& arrays, const ir::Operand& index) {
    return LoadAll(arrays, Operands{index});
  }
  void StoreAll(const std::vector<const ir::Var*>& arrays, const Operands& index,
                const Operands& values);
  void StoreAll(const std::vector<const ir::Var*>& arrays, const ir::Operand& index,
                const Operands& values) {
    StoreAll(arrays, Operands{index}, values);
  }

  // True where an element is scalar code, of which there may be several copies.
  static bool IsScalarCode(const Reduction& r, bool may_check = false);
  Operands AfterInits(const Reduction& r, const Operands& total);
  // Of a power of two of sums, each with the one half as far again from the first, to the end.
  Operands CombineHalves(const Reduction& r, std::vector<Operands> sums);
  // In a kernel, of what its threads have left in shared memory; the first is the whole.
  void CombineLanes(const Reduction& r, const std::vector<const ir::Var*>& lanes);

  // A scalar is stored at `index`; an array is copied to the slice there.
  void StoreElement(const ir::Operand& array, const Operands& index, const ir::Operand& value);

  bool in_lanes_ = false;             // Whether a loop around takes the lanes.
  int repeats_ = 0;                   // Loops around that go in order.
  const Options* options_ = nullptr;  // of the pass
  bool HasForm(std::string_view form) const { return !options_ || options_->HasForm(form); }
  // Whether a size is known to be so small.
  virtual bool IsAtMost(const ir::Operand& size, int64_t most) const {
    return size.IsConstant() && size.constant().integer <= most;
  }
  // Of a GPU's thread: every so many elements from `first` on, in order.
  Operands FoldElements(const Reduction& r, const ir::Operand& first, const ir::Operand& hi,
                        const Operands& start);
  bool for_kernels_ = false;  // Whether each thread of a parallel loop takes one trip, on a GPU.

 private:
  using PartArrays = std::vector<const ir::Var*>;  // One for each result.
  using ElementAt = std::function<Operands(const ir::Operand& index)>;

  Operands FoldAll(const Reduction& r);
  Operands FoldInRuns(const Reduction& r);
  Operands FoldSideBySide(const Reduction& r);
  Operands FoldTree(const Reduction& r, int64_t block, bool parallel);
  Operands FoldInOrder(const Reduction& r, const Operands& outer, const Operands& so_far,
                       bool peeled);
  ir::Operand Owned(const ir::Operand& value);
  void CopySlice(const ir::Operand& array, const Operands& index, const ir::Operand& value,
                 const Operands& inner);

  // The elements of one row from lo to hi, not empty unless there are identities.
  Operands FoldRun(const Reduction& r, const Operands& row, const ir::Operand& lo,
                   const ir::Operand& hi);
  Operands RunLanes(const Reduction& r, const ElementAt& element, const ir::Operand& lo,
                    const ir::Operand& hi);
  Operands RunScalars(const Reduction& r, const ElementAt& element, const ir::Operand& lo,
                      const ir::Operand& hi);
  // What Combine makes, without joining a product and a sum.
  Operands CombineApart(const Reduction& r, const Operands& left, const Operands& right);
  // Of integers that are known to be small, sums that fit fewer bits than the whole, some elements
  // at a time: more of them fit a register.
  struct Narrow {
    ir::DType dtype;
    int64_t most;   // elements that are summed in it
    int64_t lanes;  // Integers may be added in any order.
  };
  std::optional<Narrow> NarrowSum(const Reduction& r) const;
  Operands RunNarrow(const Reduction& r, const Narrow& narrow, const ElementAt& element,
                     const ir::Operand& lo, const ir::Operand& hi);
  // The rows from first to last, each from lo to hi.
  Operands FoldRows(const Reduction& r, const ir::Operand& first, const ir::Operand& last,
                    const ir::Operand& lo, const ir::Operand& hi);
  Operands FoldBlocks(const Reduction& r, bool parallel);
  Operands FoldInParts(const Reduction& r, bool parallel);
  // What the whole is as soon as a part of it is: true of `or`, false of `and`. None of others, and
  // where what is left out might fail.
  std::optional<bool> Deciding(const Reduction& r) const;
  // Parts until one decides; parts that other threads make meanwhile change nothing.
  Operands FoldUntil(const Reduction& r, bool deciding, const ir::Operand& count,
                     const ir::Attributes& kind, const ElementAt& fold);
  // The same by a GPU: a block of threads for each part, then one that combines the parts.
  Operands FoldOnDevice(const Reduction& r);
  ir::Operand GrownBlock(const Reduction& r);
  PartArrays FoldLanes(const Reduction& r, const ElementAt& fold);
  Operands FoldParts(const Reduction& r, const PartArrays& parts, const ir::Operand& first,
                     const ir::Operand& count);
  PartArrays AllocateTotals(const PartArrays& parts);
  void StoreTotal(const Reduction& r, const PartArrays& combined, const ir::Operand& count,
                  const PartArrays& totals);

  // The same of a reduction without lanes, in ordered_reductions.cc: a thread for each part, whose
  // elements a block brings to shared memory, and which blocks combine as neighbours.
  struct Ordered {
    const Reduction& r;
    int64_t run;        // elements of a part
    int64_t tile;       // of them, as many as are in shared memory at a time
    ir::Operand parts;  // how many there are
    PartArrays elements = {}, own = {}, shared = {};
  };
  // How many elements of a part shared memory holds at a time; 0 where it is not to be done so.
  int64_t TileOf(const Reduction& r, bool parallel) const;
  Operands FoldOrdered(const Reduction& r, int64_t tile);
  void FoldOrderedBlock(Ordered ordered, const ir::Operand& block, const PartArrays& totals);
  void BringTile(const Ordered& ordered, const ir::Operand& block, const ir::Operand& tile);
  void FoldTile(const Ordered& ordered, const ir::Operand& part, const ir::Operand& thread,
                const ir::Operand& tile);
  void CombineNeighbours(const Reduction& r, const PartArrays& parts, const ir::Operand& count,
                         const ir::Operand& levels, bool is_whole);
  // Combines neighbours, then neighbours of neighbours, in place; the first part is the whole.
  void CombineParts(const Reduction& r, const std::vector<const ir::Var*>& parts,
                    const ir::Operand& count);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_REDUCTIONS_H_
