#ifndef PARAKEET_PASSES_ANALYSES_HOLDS_OP_H_
#define PARAKEET_PASSES_ANALYSES_HOLDS_OP_H_

#include "ir/node.h"
#include "ir/uses.h"

namespace parakeet::passes {

// True where the operation stands in the block or in blocks inside: passes about one look first,
// since most functions are short and have none.
inline bool HoldsOp(const ir::Block& block, ir::OpCode op) {
  bool holds = false;
  ir::ForEachBinding(block, [&](const ir::Binding& b) { holds |= b.op == op; });
  return holds;
}

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_HOLDS_OP_H_
