#ifndef PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_

#include <functional>
#include <unordered_set>
#include <vector>

#include "passes/lowering/lower_contractions.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes reductions of columns (a sum along the first axis, a
// vector times a matrix): nests whose lanes take an index that memory follows, around a reduction
// in order along one that it does not.
//
// Rows pass by a few at a time, each read from one end of a stretch to the other, and the totals of
// the stretch stay in the first cache. Every total is made in index order, a run of rows behind the
// other, so its bits depend neither on the stretch nor on the threads: where columns are few, those
// share the runs. Of columns that fit a register, runs pass by side by side, and totals stay there.
class ColumnLowering : public ContractionLowering {
 public:
  using ContractionLowering::ContractionLowering;

 protected:
  // What an element of the nest is once its reduction is known.
  using Finish = std::function<void(const Operands& index, const Operands& values)>;

  // The reduction of columns that an imap or foreach is; null for any other.
  const ir::Binding* ColumnsOf(const ir::Binding& nest);
  // True where so few rows are reduced that what they come to stays in registers.
  ir::Operand HasFewRows(const ir::Binding& reduction);
  void WriteColumns(const ir::Binding& nest, const ir::Binding& reduction, const Finish& finish);

  // The one reduction of a nest that is scalar code but for it, with little before it; or null.
  static const ir::Binding* ReductionIn(const ir::Binding& nest);
  // Of the nest's reduction, the initial values, where it has any, and an element; what the nest
  // yields of its totals. Each writes a copy.
  Operands InitsOf(const ir::Binding& nest, const ir::Binding& reduction, const Operands& index);
  Operands ElementOf(const ir::Binding& nest, const ir::Binding& reduction, Operands index,
                     const ir::Operand& at) {
    return ElementOf(nest, reduction, *reduction.blocks[0], std::move(index), at);
  }
  Operands FinishOf(const ir::Binding& nest, const ir::Binding& reduction, Operands index,
                    const Operands& totals);

  const ir::Block* VisitBlock(const ir::Block* block) override;
  // Blocks that few values come to: there is one way to write columns in them, row by row.
  std::unordered_set<const ir::Block*> rare_;

 private:
  Operands ElementOf(const ir::Binding& nest, const ir::Binding& reduction,
                     const ir::Block& element, Operands index, const ir::Operand& at);

  struct Columns {
    const ir::Binding& nest;
    const ir::Binding& reduction;
    const Finish& finish;
    Reduction described;
    size_t axis;  // of the nest, that lanes take
    Operands extents;
    ir::Operand depth;
    ir::Operand threads;
    bool is_parallel;
    // The reduction where rows come in order: an extreme that is kept with its place need not ask
    // which of equals came first.
    const ir::Binding* in_order;
  };
  const ir::Binding* InOrder(const ir::Binding& nest, const ir::Binding& reduction) const;
  // `so_far` with the next row of a run.
  Operands AddRow(const Columns& columns, const Operands& index, const ir::Operand& row,
                  const Operands& so_far);
  // Some columns side by side, with their totals: of one row of an array of them, where there are
  // rows, from the column `base` on.
  struct Stretch {
    const Columns& columns;
    Operands index;  // around them
    ir::Operand lo;
    ir::Operand hi;
    std::vector<const ir::Var*> totals;
    Operands row;
    ir::Operand base;
    int64_t lanes = 0;  // that a step takes; 0 leaves it to vectorize_loops
  };

  bool IsInOrder(const ir::Binding& reduction, const ir::VarSet& inside);
  bool ReadsRows(const ir::Binding& reduction, const ir::Var* column, ir::VarSet inside) const;
  // How long stretches of so many rows are, where as many are wanted as `shares`, and so many
  // elements are worth a share; the most.
  ir::Operand LengthOf(const ir::Binding& reduction, const ir::Operand& columns,
                       const ir::Operand& depth, const ir::Operand& shares, int64_t elements);
  static int64_t MostOf(const ir::Binding& reduction);
  static int64_t BytesOf(const ir::Binding& reduction);
  Operands Around(const Columns& columns, const ir::Operand& length);
  Stretch StretchOf(const Columns& columns, const ir::Operand& place, const ir::Operand& length,
                    const Operands& around);
  void ShareTasks(const ir::Operand& tasks, const ir::Operand& elements,
                  const std::function<void(const ir::Operand& task)>& write);
  void WriteStretches(const Columns& columns);
  void WriteRuns(const Columns& columns, const ir::Operand& runs, const ir::Operand& shares);
  std::vector<const ir::Var*> AllocateTotals(const Columns& columns, const Operands& dims);
  void WriteStretch(const Stretch& stretch);
  ir::Operand AreNarrow(const Columns& columns, int64_t lanes);
  void WriteWide(const Columns& columns, const ir::Operand& runs);
  void WriteNarrow(const Columns& columns, const ir::Operand& runs, int64_t lanes);
  void WriteSideBySide(const Stretch& stretch, const ir::Operand& from, const ir::Operand& runs,
                       int64_t count);
  // A loop in lanes over the columns; `body` gets an index of the nest and the place of its totals.
  void EachColumn(const Stretch& stretch,
                  const std::function<void(const Operands& index, const ir::Operand& place)>& body);
  void WriteRun(const Stretch& stretch, const ir::Operand& first, const ir::Operand& last);
  bool GainsByRows(const Columns& columns) const;
  Operands StartsOf(const Columns& columns, const Operands& index, const ir::Operand& first);
  void AddRows(const Stretch& stretch, const ir::Operand& first, int rows);
  void AddTotals(const Stretch& stretch, const std::vector<const ir::Var*>& later,
                 const Operands& row);
  static Operands PlaceInTotals(const Stretch& stretch, const ir::Operand& place);
  void WriteFinish(const Stretch& stretch);

  bool is_rare_ = false;
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_
