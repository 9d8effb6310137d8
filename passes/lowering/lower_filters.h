#ifndef PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_

#include <vector>

#include "passes/lowering/lower_scans.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes filters.
//
// In blocks: how many elements each block keeps, where its first one goes, and then each block
// writes its own part of results that are just as large as needed. Where an element is dear, or may
// raise, it is computed once, into a buffer for all, and the kept ones are copied.
class FilterLowering : public ScanLowering {
 public:
  using ScanLowering::ScanLowering;

 protected:
  void LowerFilter(const ir::Binding& b);

 private:
  // A filter being written in blocks of elements in C order.
  struct Filter {
    const ir::Binding& binding;
    Operands extents;
    ir::Operand size;                 // of the index space
    ir::Operand blocks;               // how many
    const ir::Var* starts = nullptr;  // by block: its count, then where it starts; last the total
  };
  using Arrays = std::vector<const ir::Var*>;

  void CountThenWrite(const Filter& filter);
  void WriteThenCopy(const Filter& filter);

  // Whether element `i` is kept, then its values.
  Operands ElementAt(const Filter& filter, const ir::Operand& i);
  ir::Operand CountKept(const Filter& filter, const ir::Operand& lo, const ir::Operand& hi);
  // Counts become places; gives the total.
  ir::Operand PlaceBlocks(const Filter& filter);
  // Buffers of `size` elements for what is kept.
  Arrays Allocate(const Filter& filter, const ir::Operand& size);
  void GiveResults(const Filter& filter, const ir::Operand& total, const Arrays& kept);
  void EachBlock(const Filter& filter, int64_t cost,
                 const std::function<void(const ir::Operand& block, const ir::Operand& lo,
                                          const ir::Operand& hi)>& body);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
