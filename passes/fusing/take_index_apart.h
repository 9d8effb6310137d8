#ifndef PARAKEET_PASSES_FUSING_TAKE_INDEX_APART_H_
#define PARAKEET_PASSES_FUSING_TAKE_INDEX_APART_H_

#include <vector>

#include "ir/mutator.h"
#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// An index space, and a block whose first parameters are its indexes.
struct IndexedBlock {
  std::vector<ir::Operand> extents;
  const ir::Block* block = nullptr;
};

// The space over the axes that a block takes its first parameter apart into, by divisions and
// remainders: row-major places of an array of several axes, whose sizes make up the extent as a
// product. The space itself, and the same block, where the block does anything else with the index.
IndexedBlock TakeIndexApart(ir::Arena* arena, IndexedBlock space,
                            const ir::DefinitionMap& definitions);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_TAKE_INDEX_APART_H_
