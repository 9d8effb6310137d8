#ifndef PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_

#include <functional>
#include <vector>

#include "passes/lowering/lower_contractions.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes reductions of columns (a sum along the first axis, a
// vector times a matrix): nests whose lanes take an index that memory follows, around a reduction
// in order along one that it does not.
//
// Rows pass by a few at a time, each read from one end of a stretch to the other, and the totals of
// the stretch stay in the first cache. Every total is made in index order, so its bits depend
// neither on the stretch nor on the threads.
class ColumnLowering : public ContractionLowering {
 public:
  using ContractionLowering::ContractionLowering;

 protected:
  // What an element of the nest is once its reduction is known.
  using Finish = std::function<void(const Operands& index, const Operands& values)>;

  // The reduction of columns that an imap or foreach is; null for any other.
  const ir::Binding* ColumnsOf(const ir::Binding& nest);
  void WriteColumns(const ir::Binding& nest, const ir::Binding& reduction, const Finish& finish);

  // The one reduction of a nest that is scalar code but for it, with little before it; or null.
  static const ir::Binding* ReductionIn(const ir::Binding& nest);
  // Of the nest's reduction, the initial values, where it has any, and an element; what the nest
  // yields of its totals. Each writes a copy.
  Operands InitsOf(const ir::Binding& nest, const ir::Binding& reduction, const Operands& index);
  Operands ElementOf(const ir::Binding& nest, const ir::Binding& reduction, Operands index,
                     const ir::Operand& at);
  Operands FinishOf(const ir::Binding& nest, const ir::Binding& reduction, Operands index,
                    const Operands& totals);

 private:
  // Some columns side by side, with their totals.
  struct Stretch {
    const ir::Binding& nest;
    const ir::Binding& reduction;
    size_t axis;
    Operands index;  // around them
    ir::Operand lo;
    ir::Operand hi;
    std::vector<const ir::Var*> totals;
  };

  bool IsInOrder(const ir::Binding& reduction, const ir::VarSet& inside);
  bool ReadsRows(const ir::Binding& reduction, const ir::Var* column,
                 const ir::VarSet& inside) const;
  ir::Operand LengthOf(const ir::Binding& reduction, const ir::Operand& columns,
                       const ir::Operand& depth);
  void WriteStretch(Stretch stretch, const ir::Operand& length, const ir::Operand& depth,
                    const Finish& finish);
  // A loop in lanes over the columns; `body` gets an index of the nest and the place of its totals.
  void EachColumn(const Stretch& stretch,
                  const std::function<void(const Operands& index, const ir::Operand& place)>& body);
  void AddRows(const Stretch& stretch, const ir::Operand& first, int rows);
  void WriteFinish(const Stretch& stretch, const Finish& finish);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_COLUMNS_H_
