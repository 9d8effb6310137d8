#ifndef PARAKEET_PASSES_LOWERING_LANE_COUNTS_H_
#define PARAKEET_PASSES_LOWERING_LANE_COUNTS_H_

#include "ir/builder.h"
#include "ir/node.h"

namespace parakeet::passes {

// As many lanes as the widest element that the body moves or computes has room for in one wide
// register.
int LanesFor(const ir::Block& body);

// How many registers of lanes an iteration takes at once. More than one where it carries a value
// through a loop of its own: their chains do not wait for one another, and each trip reads that
// much more of a row. Fewer where it carries several values, all of which need them, and where
// lanes leave the loop one by one, since all wait for the last.
int RegistersFor(const ir::Block& body);

// True for code that is not to be written once more than it must be.
bool IsLong(const ir::Block& body);

// True for short code of bytes, half words and nothing wider but indexes, none of them floats: what
// is made of these is the same one by one.
bool IsOfBytes(const ir::Block& body);

// Whether it is a check, or a branch with one.
bool HasCheckOfLanes(const ir::Binding* binding);

// True where a library has vectors of it, which it leaves for lanes that hold what it takes apart.
bool IsOfLibrary(const ir::Binding& scalar);

// Which lanes of those from `start` on are below `hi`. Of elements of four bytes, numbers as wide
// say it, of which a register holds a mask as it is.
ir::Operand MaskOfTail(ir::Builder& builder, const ir::Operand& start, const ir::Operand& hi,
                       int lanes, int64_t bytes = 8);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_LOWERING_LANE_COUNTS_H_
