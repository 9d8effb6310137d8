#ifndef PARAKEET_PASSES_LOWERING_LOWER_ROWS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_ROWS_H_

#include <vector>

#include "passes/lowering/lower_columns.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes reductions of rows by what all rows share (a matrix times
// a vector): nests around a reduction that takes the lanes. Several rows run side by side, each in
// lanes of its own and in the same order as alone, so that what they share is read once for all.
class RowLowering : public ColumnLowering {
 public:
  using ColumnLowering::ColumnLowering;

 protected:
  static constexpr int kRowsAtOnce = 4;

  // The reduction of which several elements of the nest, neighbours along its last index, are made
  // at once; null where they are not.
  const ir::Binding* SharedBy(const ir::Binding& nest);
  // Those from `index` on.
  void WriteRows(const ir::Binding& nest, const ir::Binding& reduction, const Operands& index,
                 const Finish& finish);

 private:
  const ir::Block* CombinesOf(const ir::Binding& reduction);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_ROWS_H_
