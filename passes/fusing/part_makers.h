#ifndef PARAKEET_PASSES_FUSING_PART_MAKERS_H_
#define PARAKEET_PASSES_FUSING_PART_MAKERS_H_

#include <vector>

#include "ir/builder.h"
#include "ir/node.h"
#include "passes/analyses/find_parts_read.h"

namespace parakeet::passes {

// How a part of what an operator makes is made alone.
struct PartMaker {
  ir::OpCode op;
  // Whether it can be, by the axes read and the operator.
  bool (*can_make)(const ir::Binding& maker, const PartRead& read);
  // Writes it. The axes that are read at an index are gone; a scalar where all are.
  ir::Operand (*make)(ir::Builder& builder, const ir::Binding& maker,
                      const std::vector<AxisPart>& parts);
};

// Null where parts of what the operator makes cannot be made alone.
const PartMaker* FindPartMaker(ir::OpCode op);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_FUSING_PART_MAKERS_H_
