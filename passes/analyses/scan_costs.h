#ifndef PARAKEET_PASSES_ANALYSES_SCAN_COSTS_H_
#define PARAKEET_PASSES_ANALYSES_SCAN_COSTS_H_

#include <cstdint>

#include "ir/node.h"

namespace parakeet::passes {

// What decides how a scan is written (lowering/lower_scans.h, lower_device_scans.h). A host's
// cycles, as CostOf has them, of one element and its combine.
int64_t StepCost(const ir::Binding& scan);

// Whether the combine can be that of a block in each lane, for any values; whether the elements
// can.
bool CombinesInLanes(const ir::Binding& scan);
bool HasElementsInLanes(const ir::Binding& scan);

// Whether the combine is rather computed once, and prefixes inside blocks stored, than twice.
bool IsDearToCombine(const ir::Binding& scan);
// Whether elements are rather stored where their prefixes are to be than computed twice.
bool StoresElementsFirst(const ir::Binding& scan);
// Whether it goes through arrays of its prefixes for either of these.
bool NeedsItsArrays(const ir::Binding& scan);

// Whether the combine gives the same bits in any grouping, and is done as soon as memory is there.
bool MayGoInOrder(const ir::Binding& scan);

// Whether the elements of a chunk stand in shared memory, where a GPU's threads scan.
bool HasElementsInShared(const ir::Binding& scan);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_SCAN_COSTS_H_
