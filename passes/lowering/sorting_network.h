#ifndef PARAKEET_PASSES_LOWERING_SORTING_NETWORK_H_
#define PARAKEET_PASSES_LOWERING_SORTING_NETWORK_H_

#include <vector>

#include "ir/builder.h"

namespace parakeet::passes {

// The most elements that a network sorts: of twice as many it has more than twice as many pairs,
// which no register holds.
inline constexpr int64_t kMostInNetwork = 16;

// Whether values of the dtype are sorted by a network: all but complex numbers.
bool HasSortingNetwork(ir::DType dtype);

// What the elements are in order: -0 before 0, nan behind the rest, as runtime/sort_kernels.h has
// it. Pairs are exchanged without branches, at places that depend on how many elements there are
// alone, so that lanes and threads sort as many rows side by side. The network is Batcher's (Knuth,
// The Art of Computer Programming 3, algorithm 5.2.2M).
std::vector<ir::Operand> SortByNetwork(ir::Builder& builder,
                                       const std::vector<ir::Operand>& elements);

// The places, from 0 on, that sort the elements; equal ones keep their order, zeros are equal.
std::vector<ir::Operand> OrderByNetwork(ir::Builder& builder,
                                        const std::vector<ir::Operand>& elements);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_SORTING_NETWORK_H_
