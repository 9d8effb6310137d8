#ifndef PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_
#define PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "ir/node.h"

namespace parakeet::passes {

// What an integer lies between, both included: not far from 0, where it is known.
struct IntegerInterval {
  int64_t lo;
  int64_t hi;

  void Include(const IntegerInterval& other);
  bool Fits(ir::DType dtype) const;
};

// Of all values of a bool, or of an integer of up to 32 bits.
IntegerInterval IntervalOf(ir::DType dtype);
std::optional<IntegerInterval> IntervalOf(const ir::Constant& constant);

// Of what a scalar operation on integers makes of operands that lie in what `of` says, where it
// does not wrap around.
std::optional<IntegerInterval> IntervalOf(
    const ir::Binding& b,
    const std::function<std::optional<IntegerInterval>(const ir::Operand&)>& of);

// Of an integer that a block of scalar code and loads makes.
std::optional<IntegerInterval> IntervalIn(const ir::Block& block, const ir::Operand& made);

}  // namespace parakeet::passes

#endif  // PARAKEET_PASSES_ANALYSES_INTEGER_INTERVALS_H_
