#ifndef PARAKEET_FRONTEND_ELEMENT_BLOCK_H_
#define PARAKEET_FRONTEND_ELEMENT_BLOCK_H_

#include <vector>

#include "frontend/context.h"
#include "ir/builder.h"

namespace parakeet::frontend {

// A block under construction that gives the elements of arrays at `indexes`, below `extents`. Its
// checks stand inside the operator numbered `number`; `next_check` is the first number that is free
// there.
struct ElementBlock {
  std::vector<ir::Operand> extents;
  std::vector<const ir::Var*> indexes;
  ir::Builder block;
  std::vector<ir::Operand> yielded;
  int64_t number = 0;
  int64_t next_check = 0;
};

// The sizes of the arrays that the block yields, made known outside it (design.md, Sizes). Where a
// size follows from values outside by arithmetic alone, the arithmetic moves out. Where not, the
// first iteration's is taken, 0 when there is none; every iteration is then checked to have it
// (ValueError). Gives the sizes to use outside, in the order of what is yielded and of its axes.
// The open block is the one outside. Where `may_repeat` is false, because the block has effects,
// the first iteration cannot be tried: a Limitation.
std::vector<std::vector<ir::Operand>> LiftSizes(Context* context, ElementBlock* element,
                                                bool may_repeat);

// The arrays made one element after the other by nested loops: for a block that stores to what it
// did not make, which no data-parallel operator may. `types` are the arrays'.
std::vector<ir::Operand> EmitAsLoops(Context* context, ElementBlock* element,
                                     const std::vector<ir::Type>& types);

}  // namespace parakeet::frontend

#endif  // PARAKEET_FRONTEND_ELEMENT_BLOCK_H_
