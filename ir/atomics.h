// What an atomic may combine, and of what.
#ifndef PARAKEET_IR_ATOMICS_H_
#define PARAKEET_IR_ATOMICS_H_

#include <optional>

#include "ir/node.h"

namespace parakeet::ir {

// True for integers of 4 or 8 bytes.
bool IsAtomicDType(DType dtype);
// True for the operations that any processor does undivided, and whose order does not show.
bool IsAtomicCombine(OpCode op);
// The operation that an atomic names, where it is one of those.
std::optional<OpCode> AtomicCombine(const Binding& atomic);

}  // namespace parakeet::ir

#endif  // PARAKEET_IR_ATOMICS_H_
