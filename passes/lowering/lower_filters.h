#ifndef PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_

#include <vector>

#include "passes/lowering/lower_device_filters.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes filters.
//
// In blocks: how many elements each block keeps, where its first one goes, and then each block
// writes its own part of results that are just as large as needed. Where an element is dear, or may
// raise, it is computed once, into a buffer for all, and the kept ones are copied.
class FilterLowering : public DeviceFilterLowering {
 public:
  using DeviceFilterLowering::DeviceFilterLowering;

 protected:
  void LowerFilter(const ir::Binding& b);

 private:
  void CountThenWrite(const Filter& filter);
  void WriteThenCopy(const Filter& filter);

  ir::Operand CountKept(const Filter& filter, const ir::Operand& lo, const ir::Operand& hi);
  // Counts become places; gives the total.
  ir::Operand PlaceBlocks(const Filter& filter);
  void EachBlock(const Filter& filter, int64_t cost,
                 const std::function<void(const ir::Operand& block, const ir::Operand& lo,
                                          const ir::Operand& hi)>& body);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
