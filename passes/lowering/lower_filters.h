#ifndef PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "passes/analyses/find_filter_copies.h"
#include "passes/lowering/lower_device_filters.h"

namespace parakeet::passes {

// The part of lower_to_loops that writes filters.
//
// In blocks: how many elements each block keeps, where its first one goes, and then each block
// writes its own part of results that are just as large as needed, or straight to where they are
// copied. Where an element is dear, or may
// raise, it is computed once, into a buffer for all, and the kept ones are copied.
class FilterLowering : public DeviceFilterLowering {
 public:
  FilterLowering(ir::Arena* arena, const ir::Function& function);

 protected:
  void LowerFilter(const ir::Binding& b);
  // Writes what is kept where a foreach would store it; false for another foreach.
  bool WriteCopied(const ir::Binding& foreach);

 private:
  // Stores at a place what an element yields behind whether it is kept.
  using Store = std::function<void(const ir::Operand& place, const Operands& values)>;

  void CountThenWrite(const Filter& filter);
  void WriteKept(const Filter& filter, const Store& store);
  void WriteThenCopy(const Filter& filter);

  ir::Operand CountKept(const Filter& filter, const ir::Operand& lo, const ir::Operand& hi);
  // Notes how many elements each block keeps.
  void CountBlocks(const Filter& filter);
  // Counts become places; gives the total.
  ir::Operand PlaceBlocks(const Filter& filter);
  void EachBlock(const Filter& filter, int64_t cost,
                 const std::function<void(const ir::Operand& block, const ir::Operand& lo,
                                          const ir::Operand& hi)>& body);

  // What is kept of a filter is only stored by a foreach behind it: it is counted where the filter
  // stands, and written where the foreach does.
  const std::unordered_map<const ir::Binding*, const ir::Binding*> copies_;
  std::unordered_map<const ir::Binding*, Filter> counted_;  // by foreach
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_FILTERS_H_
