#ifndef PARAKEET_PASSES_LOWERING_LOWER_PRODUCT_CALLS_H_
#define PARAKEET_PASSES_LOWERING_LOWER_PRODUCT_CALLS_H_

#include <functional>
#include <vector>

#include "passes/analyses/find_products.h"
#include "passes/lowering/lower_contraction_blocks.h"

namespace parakeet::passes {

// The part of lower_to_loops that lets the device's library make matrix products, where there is
// one and it takes them: both are found when the program runs. What follows the sums is a kernel
// behind it, element by element.
class ProductCallLowering : public ContractionBlockLowering {
 public:
  using ContractionBlockLowering::ContractionBlockLowering;

 protected:
  // Writes the product's call, with what follows the sums. A bool: whether all was done; the
  // constant false where no library is to be asked (call_libraries.cc).
  ir::Operand CallLibrary(const ir::Binding& contract, const Results& results);

 private:
  // The whole of `array` seen along some of the contraction's indices, in that order: `at` says
  // where each of its axes is, as a load does.
  const ir::Var* ViewAlong(const ir::Binding& contract, const std::vector<size_t>& indices,
                           const ir::Operand& array, const Operands& at);
  // The factor seen along the indices: its array, or one that a kernel makes now.
  const ir::Var* ViewOfFactor(const ir::Binding& contract, const Factor& factor,
                              const std::vector<size_t>& indices);
  const ir::Var* MakeFactor(const ir::Binding& contract, const Factor& factor);
  // The body for each index of that space: a thread each.
  void ForEachThread(const Operands& extents,
                     const std::function<void(const Operands& index)>& body);
  // True where the sums were made.
  ir::Operand MakeSums(const ir::Binding& contract, const MatrixProduct& product,
                       const ir::Var* sums);
  const ir::Var* PlaceOfSums(const ir::Binding& contract, const Results& results);
  void FollowSums(const ir::Binding& contract, const ir::Var* sums, const Results& results);
};

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LOWER_PRODUCT_CALLS_H_
